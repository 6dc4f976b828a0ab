"""Sources of results: folders and files, and the experiments of their rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from experiments.config.document import title_of
from experiments.results.row_groups import grouped
from experiments.results.rows import MOST_BYTES, Row, Status
from experiments.results.selection import ROWS, load_results, select
from forestcoll.bounded_read import contains, open_regular
from forestcoll.errors import InvalidExperimentError

__all__ = ["Source", "narrowed", "read_sources"]

_LINE_END = re.compile(rb"\n")


@dataclass(frozen=True, slots=True)
class Source:
    """The rows of one experiment in one place."""

    place: str  # the folder or file
    experiment: str
    title: str  # as its file says, if it is the toolkit's; else the experiment's name
    rows: tuple[Row, ...]


def read_sources(places: Sequence[Path]) -> tuple[list[Source], list[str]]:
    """Return every experiment in some folders or files, and remarks on skipped folders.

    A folder without rows stands for the folders inside it; those without rows are skipped.

    Raises
    ------
    InvalidExperimentError
        If there are no rows at all, or some cannot be read.
    """
    sources, skipped = [], []
    for place in dict.fromkeys(places):
        inside = _inside(place)
        for folder in inside or [place]:
            if inside and not _begun(folder / ROWS):
                skipped.append(f"{folder}: there are no rows in it yet")
                continue
            sources += _by_experiment(folder, load_results(folder))
    if not sources:
        raise InvalidExperimentError(
            f"{', '.join(map(str, places))}: there are no rows in it yet; run an experiment first"
        )
    return sources, skipped


def _inside(place: Path) -> list[Path]:
    if not place.is_dir() or (place / ROWS).is_file():
        return []
    return sorted(path.parent for path in place.glob(f"*/{ROWS}"))


def _begun(file: Path) -> bool:
    """Whether a file has a whole line, or cannot be read, which the reader then reports."""
    try:
        with open_regular(file, MOST_BYTES, InvalidExperimentError) as opened:
            return contains(opened, _LINE_END, MOST_BYTES)
    except InvalidExperimentError:
        return True


def _by_experiment(place: Path, rows: Iterable[Row]) -> list[Source]:
    return [
        Source(str(place), name, title_of(name) or name, tuple(its))
        for name, its in grouped(rows, "experiment").items()
    ]


def narrowed(
    sources: Sequence[Source],
    methods: Sequence[str] = (),
    topologies: Sequence[str] = (),
    statuses: Sequence[Status] = (),
) -> list[Source]:
    """Return the sources with the rows asked for, as :func:`experiments.results.selection.select`.

    Raises
    ------
    InvalidExperimentError
        If a word matches no row of any, or nothing is left.
    """
    every = [row for source in sources for row in source.rows]
    kept = {id(row) for row in select(every, methods, topologies, statuses)}
    left = [
        replace(source, rows=tuple(row for row in source.rows if id(row) in kept))
        for source in sources
    ]
    left = [source for source in left if source.rows]
    if not left:
        raise InvalidExperimentError(
            f"none of the {len(every)} rows is left; leave out --status, --method or --topology"
        )
    return left
