"""Selection of results: folders, files, and rows by method, topology and status."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from pathlib import Path

from experiments.config.document import nearest
from experiments.results.rows import Row, Status, latest, read_rows
from forestcoll.errors import InvalidExperimentError

__all__ = ["ROWS", "grouped", "load_results", "select"]

ROWS = "rows.jsonl"
"""The file in a results folder."""


def load_results(place: Path) -> list[Row]:
    """Return the rows of a results folder or a rows file (.jsonl, .parquet), one for each point.

    Rows are grouped by topology, in the order of their experiment, not of their completion.

    Raises
    ------
    InvalidExperimentError
        If there are no rows, or they cannot be read.
    """
    file = _rows_file(place)
    if file.suffix == ".parquet":
        from experiments.results.frames import read_parquet

        rows = read_parquet(file)
    else:
        rows = read_rows(file)
    if not rows:
        raise InvalidExperimentError(f"{file}: there are no rows in it yet")
    return grouped(list(latest(rows).values()))


def grouped(rows: Sequence[Row]) -> list[Row]:
    """Group the rows by topology, in the order of their experiment.

    Rows of an earlier version have no position: their place in the file counts.
    """
    places = [
        number if row.position is None else row.position for number, row in enumerate(rows, 1)
    ]
    first: dict[tuple[str, str], int] = {}
    for row, place in zip(rows, places, strict=True):
        group = (row.experiment, row.topology)
        first[group] = min(place, first.get(group, place))
    begins = dict.fromkeys(row.experiment for row in rows)  # several only if files were joined
    order = {name: number for number, name in enumerate(begins)}

    def key(number: int) -> tuple[int, int, str, int, int]:
        row = rows[number]
        begin = first[row.experiment, row.topology]
        return order[row.experiment], begin, row.topology, places[number], number

    return [rows[number] for number in sorted(range(len(rows)), key=key)]


def _rows_file(place: Path) -> Path:
    if not place.exists():
        raise InvalidExperimentError(
            f"{place}: there is no such folder or file; give the results' folder, "
            f"such as results/quickstart, or a rows file"
        )
    if place.is_file():
        return place
    if (place / ROWS).is_file():
        return place / ROWS
    inside = sorted(path.parent.name for path in place.glob(f"*/{ROWS}"))
    hint = f"; give one of those inside it: {', '.join(inside)}" if inside else ""
    raise InvalidExperimentError(f"{place}: there is no {ROWS} in this folder{hint}")


def select(
    rows: Sequence[Row],
    methods: Sequence[str] = (),
    topologies: Sequence[str] = (),
    statuses: Sequence[Status] = (),
) -> list[Row]:
    """Return the rows that match one word of each kind; an empty kind matches all.

    Parameters
    ----------
    methods : sequence of str
        Names, with or without parameters; ``*`` stands for anything.
    topologies : sequence of str
        Topologies or clusters; ``*`` stands for anything.

    Raises
    ------
    InvalidExperimentError
        If a word matches no row.
    """
    for word in methods:
        _expect(word, {name for row in rows for name in (row.method, row.series)}, "method")
    for word in topologies:
        _expect(word, {name for row in rows for name in (row.cluster, row.topology)}, "topology")
    return [
        row
        for row in rows
        if _matches(methods, row.method, row.series)
        and _matches(topologies, row.cluster, row.topology)
        and (not statuses or row.status in statuses)
    ]


def _matches(words: Sequence[str], *names: str) -> bool:
    return not words or any(fnmatch.filter(names, word) for word in words)


def _expect(word: str, known: set[str], what: str) -> None:
    if not fnmatch.filter(known, word):
        raise InvalidExperimentError(f"no row has the {what} {word!r}; {nearest(word, known)}")
