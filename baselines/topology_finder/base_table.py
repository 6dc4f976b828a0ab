"""Stored times and distances of base networks, so that a search of many sizes takes seconds.

Problem: a breadth-first broadcast of a generalized Kautz graph of 2000 nodes takes about a second
         to balance; a search over all sizes needs 16,000 of them.
Input:   degrees and a largest number of nodes.
Output:  a CSV file of times and all-to-all rates as exact fractions, with the sums of distances
         that the bound on the rate follows from, and the seconds that the times took.
Cost:    about an hour for degrees 2, 4, 8 and 16 up to 2000 nodes, of which the sums of distances
         take half a minute; reading it takes 0.2 s.
Source:  none; the times are those of :func:`~baselines.topology_finder.base_networks.measured`,
         the sums those of :func:`~baselines.topology_finder.base_distances.distances_of`.

To continue an interrupted computation, or to add degrees:
``python -m baselines.topology_finder.base_table --degree 4 --nodes 2000``. Rows that the file has
are not computed again. Tests compute a sample of them.
"""

from __future__ import annotations

import csv
import time
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from baselines.topology_finder.base_distances import distances_of, has_closed_form
from baselines.topology_finder.base_networks import Base, Times, bases, measured
from baselines.topology_finder.distances import Distances

__all__ = ["BaseTable", "extend"]

_FILE = Path(__file__).parent / "base_table.csv"
_TIMES = ("hops", "time", "reverse_hops", "reverse_time")
_DISTANCES = ("distance_sum", "back_sum", "all_to_all_bound", "all_to_all_rate")
_COLUMNS = ("network", *_TIMES, *_DISTANCES, "seconds")


class BaseTable:
    """Times and distances of base networks: closed forms, stored ones, or a new computation.

    Parameters
    ----------
    file : Path
        The stored table; the one of this package by default.
    """

    def __init__(self, file: Path = _FILE) -> None:
        self._times: dict[str, Times] = {}
        self._distances: dict[str, Distances] = {}
        with file.open(newline="", encoding="utf-8") as lines:
            rows = csv.reader(lines)
            self._columns = next(rows)
            network = self._columns.index("network")
            # Numbers are read when they are asked for: a search looks at a few of 16,000 rows.
            self._rows = {row[network]: row for row in rows if row}

    def __len__(self) -> int:
        """Return the number of stored networks."""
        return len(self._rows.keys() | self._times.keys())

    def __contains__(self, base: Base) -> bool:
        """Whether the table has a row for a base network."""
        return base.spec in self._rows or base.spec in self._times

    def stored(self, base: Base) -> Times | None:
        """Return the times of a base network if they are known without a computation."""
        if base.times:
            return base.times
        if base.spec not in self._times and (row := self._cells(base)):
            self._times[base.spec] = Times(
                int(row["hops"]),
                Fraction(row["time"]),
                int(row["reverse_hops"]),
                Fraction(row["reverse_time"]),
            )
        return self._times.get(base.spec)

    def times_of(self, base: Base) -> Times:
        """Return the times of a base network; compute and remember unknown ones."""
        known = self.stored(base)
        if known is None:
            known = self._times[base.spec] = measured(base)
        return known

    def distances_of(self, base: Base) -> Distances:
        """Return the sums of distances of a base network; compute and remember unknown ones."""
        if base.spec not in self._distances:
            row = self._cells(base)
            self._distances[base.spec] = _distances(row) if row else distances_of(base)
        return self._distances[base.spec]

    def _cells(self, base: Base) -> dict[str, str]:
        """Return the cells of a base network by column, none if it has no row."""
        return dict(zip(self._columns, self._rows.get(base.spec, ()), strict=False))


def _distances(row: dict[str, str]) -> Distances:
    rate = row["all_to_all_rate"]
    return Distances(
        int(row["distance_sum"]),
        int(row["back_sum"]),
        Fraction(row["all_to_all_bound"]),
        Fraction(rate) if rate else None,
    )


def extend(degree: int, nodes: int, file: Path = _FILE) -> int:
    """Compute what the table lacks, and write each row as soon as it is known.

    Rings and complete networks have no rows: closed forms give all that a row holds.

    Returns
    -------
    int
        The number of rows that were added.
    """
    if not file.exists():
        file.write_text(",".join(_COLUMNS) + "\n", encoding="utf-8")
    table = BaseTable(file)
    added = 0
    with file.open("a", newline="", encoding="utf-8") as rows:
        writer = csv.writer(rows, lineterminator="\n")
        for size in range(2, nodes + 1):
            for base in bases(size, degree):
                if base not in table and not has_closed_form(base):
                    writer.writerow(_row(base))
                    rows.flush()
                    added += 1
    return added


def _row(base: Base) -> tuple[object, ...]:
    start = time.perf_counter()
    found = base.times or measured(base)
    took = f"{time.perf_counter() - start:.3f}"
    far = distances_of(base)
    times = (found.hops, found.time, found.reverse_hops, found.reverse_time)
    return (base.spec, *times, far.total, far.back, far.bound, far.rate or "", took)


def _main(
    degree: Annotated[list[int], typer.Option(help="Degrees to compute.")],
    nodes: Annotated[int, typer.Option(help="Largest number of nodes.")] = 2000,
) -> None:
    """Add base networks to the stored table."""
    for each in degree:
        typer.echo(f"degree {each}: {extend(each, nodes)} rows added")


if __name__ == "__main__":
    typer.run(_main)
