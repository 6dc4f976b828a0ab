"""Stored times of base networks, so that a search over thousands of sizes takes seconds.

Problem: a breadth-first broadcast of a generalized Kautz graph of 2000 nodes takes about a second
         to balance; a search over all sizes needs 16,000 of them.
Input:   degrees and a largest number of nodes.
Output:  a CSV file of times as exact fractions, with the seconds that each took.
Cost:    about an hour for degrees 2, 4, 8 and 16 up to 2000 nodes; reading it takes 0.1 s.
Source:  none; the times are those of :func:`~baselines.topology_finder.base_networks.measured`.

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

from baselines.topology_finder.base_networks import Base, Times, bases, measured

__all__ = ["BaseTable", "extend"]

_FILE = Path(__file__).parent / "base_table.csv"
_COLUMNS = ("network", "hops", "time", "reverse_hops", "reverse_time", "seconds")


class BaseTable:
    """Times of base networks: from closed forms, the stored table, or a new computation.

    Parameters
    ----------
    file : Path
        The stored table; the one of this package by default.
    """

    def __init__(self, file: Path = _FILE) -> None:
        self._times: dict[str, Times] = {}
        with file.open(newline="", encoding="utf-8") as rows:
            for row in csv.DictReader(rows):
                self._times[row["network"]] = Times(
                    int(row["hops"]),
                    Fraction(row["time"]),
                    int(row["reverse_hops"]),
                    Fraction(row["reverse_time"]),
                )

    def __len__(self) -> int:
        """Return the number of stored networks."""
        return len(self._times)

    def stored(self, base: Base) -> Times | None:
        """Return the times of a base network if they are known without a computation."""
        return base.times or self._times.get(base.spec)

    def times_of(self, base: Base) -> Times:
        """Return the times of a base network; compute and remember unknown ones."""
        known = self.stored(base)
        if known is None:
            known = self._times[base.spec] = measured(base)
        return known


def extend(degree: int, nodes: int, file: Path = _FILE) -> int:
    """Compute what the table lacks, and write each row as soon as it is known.

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
                if table.stored(base) is None:
                    start = time.perf_counter()
                    found = measured(base)
                    took = f"{time.perf_counter() - start:.3f}"
                    times = (found.hops, found.time, found.reverse_hops, found.reverse_time)
                    writer.writerow((base.spec, *times, took))
                    rows.flush()
                    added += 1
    return added


def _main(
    degree: Annotated[list[int], typer.Option(help="Degrees to compute.")],
    nodes: Annotated[int, typer.Option(help="Largest number of nodes.")] = 2000,
) -> None:
    """Add base networks to the stored table."""
    for each in degree:
        typer.echo(f"degree {each}: {extend(each, nodes)} rows added")


if __name__ == "__main__":
    typer.run(_main)
