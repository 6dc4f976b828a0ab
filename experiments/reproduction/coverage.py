"""Reproduction coverage of the papers, and checks that its evidence exists.

An item counts only if its experiments have a row for every point, none of them failed, and its
tests and files exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from experiments.config.experiment import ParsedExperiment, read_experiment
from experiments.reproduction.difference import Difference
from experiments.reproduction.inventory import Item, read_items
from experiments.reproduction.printed_numbers import (
    bfb_numbers,
    bfb_ratios,
    forestcoll_numbers,
    teccl_comparisons,
    teccl_numbers,
)
from experiments.results.rows import Row, Status, latest, read_rows
from forestcoll.bounded_read import read_at_most
from forestcoll.errors import ForestCollError, InvalidExperimentError

__all__ = ["MOST_BYTES", "Coverage", "Share", "Shown"]

MOST_BYTES = 4_000_000
"""Size limit of a page, an experiment or a file of tests in a clone."""

_NUMBERS = (forestcoll_numbers, bfb_numbers, bfb_ratios, teccl_numbers, teccl_comparisons)


@dataclass(frozen=True)
class Shown:
    """An item and its evidence."""

    item: Item
    files: tuple[Path, ...]  # files of its experiments
    seconds: float  # total time of its rows
    differences: tuple[Difference, ...]
    faults: tuple[str, ...]  # why it does not count, although its status is reproduced

    @property
    def counts(self) -> bool:
        """Whether it is reproduced, and nothing is missing."""
        return self.item.reproduced and not self.faults


@dataclass(frozen=True)
class Share:
    """Numbers of reproduced items; each count includes the one before."""

    whole: int
    to_the_limit: int  # as far as possible from public inputs without the machine, or whole
    at_all: int  # at least in part
    public: int  # all items except those whose inputs are not public
    of: int  # all items


@dataclass(frozen=True)
class Coverage:
    """All items, compared with a clone of this repository."""

    root: Path  # with ``experiments``, ``results`` and ``tests``

    @cached_property
    def experiments(self) -> Mapping[str, Path]:
        """The experiment files by the name of their experiment; one without by its own."""
        found = {}
        folder = self.root / "experiments"
        for path in (*sorted(folder.glob("*/*.yaml")), *sorted(folder.glob("*.yaml"))):
            text = _text(path)
            if "methods:" in text:
                name = re.search(r"^name: *(\S+)", text, re.MULTILINE)
                found[name[1] if name else f"{path.parent.name}/{path.name}"] = path
        return found

    @cached_property
    def rows(self) -> Mapping[str, list[Row]]:
        """The stored rows by experiment; the last one of a point that was run again."""
        return {name: rows for name, rows in self._read[0].items() if rows}

    @property
    def broken(self) -> Mapping[str, str]:
        """Reasons for excluded experiments (unreadable files or rows), by experiment."""
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[dict[str, list[Row]], dict[str, str]]:
        rows, broken = {}, {}
        for name in self.experiments:
            try:
                self.parsed(name)
                rows[name] = self.rows_of(name)
            except ForestCollError as error:
                broken[name] = str(error)
        return rows, broken

    def rows_of(self, name: str) -> list[Row]:
        """Return the rows of one experiment; none if there are none."""
        file = self.root / "results" / name / "rows.jsonl"
        return list(latest(read_rows(file)).values()) if file.is_file() else []

    @cached_property
    def shown(self) -> tuple[Shown, ...]:
        """Every item with its evidence."""
        differences = self.differences
        return tuple(
            Shown(
                item,
                tuple(self.experiments[name] for name in item.rows if name in self.experiments),
                sum(row.wall_s or 0.0 for name in item.rows for row in self.rows.get(name, ())),
                tuple(one for one in differences if one.item == item.item),
                tuple(self._faults(item)) if item.reproduced else (),
            )
            for item in read_items()
        )

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Every printed number for which there are rows."""
        return tuple(one for numbers in _NUMBERS for one in numbers.differences(self.rows))

    @property
    def otherwise(self) -> tuple[Difference, ...]:
        """The printed numbers of theory that differ from ours."""
        return tuple(one for one in self.differences if one.kind == "theory" and not one.equal)

    @property
    def unexplained(self) -> tuple[Difference, ...]:
        """Those of them that no item explains, or that differ by more than it states."""
        known = {one.item.item: one.item.otherwise for one in self.shown}
        return tuple(
            one
            for one in self.otherwise
            if not any(reason.covers(one) for reason in known.get(one.item, ()))
        )

    def share(self, *, by_theory: bool) -> Share:
        """Count the items that theory can reproduce, or those that need software."""
        its = [
            one for one in self.shown if (one.item.by_theory if by_theory else one.item.by_software)
        ]
        counted = [one.item for one in its if one.counts]
        return Share(
            whole=sum(item.status == "done" for item in counted),
            to_the_limit=sum(item.to_the_limit for item in counted),
            at_all=len(counted),
            public=sum(one.item.status != "proprietary" for one in its),
            of=len(its),
        )

    def parsed(self, name: str) -> ParsedExperiment:
        """Return an experiment.

        Raises
        ------
        InvalidExperimentError
            If there is none of that name.
        """
        if name not in self.experiments:
            raise InvalidExperimentError(f"there is no experiment {name!r} in {self.root}")
        if name not in self._parsed:  # several items may share an experiment
            self._parsed[name] = read_experiment(self.experiments[name])
        return self._parsed[name]

    @cached_property
    def _parsed(self) -> dict[str, ParsedExperiment]:
        return {}

    def _faults(self, item: Item) -> Iterable[str]:
        for name in item.rows:
            if name not in self.experiments:
                yield f"there is no experiment {name}"
            elif name in self.broken:
                yield f"{name} is broken"
            else:
                yield from self._unfinished(name)
        for test in item.tests:
            file, _, function = test.partition("::")
            path = self.root / file
            if not path.is_file() or f"def {function}(" not in _text(path):
                yield f"there is no test {test}"
        for other in item.others:
            if other.startswith("results/") and not (self.root / other).exists():
                yield f"there is no {other}"
        if not (item.rows or item.tests or item.others):
            yield "nothing shows it"

    def _unfinished(self, name: str) -> Iterable[str]:
        known: Mapping[str, Row] = {row.point: row for row in self.rows.get(name, ())}
        points = [point.identity for point in self.parsed(name).points]
        found: Sequence[Row] = [known[point] for point in points if point in known]
        if len(found) < len(points):
            yield f"{len(points) - len(found)} of {len(points)} points of {name} have no row"
        failed = [row for row in found if row.status is Status.FAILED]
        if failed:
            yield f"{failed[0].series} on {failed[0].topology} failed in {name}"


def _text(path: Path) -> str:
    """Return the text of a file of the clone; undecodable bytes raise no error."""
    return read_at_most(path, MOST_BYTES, InvalidExperimentError).decode(errors="replace")
