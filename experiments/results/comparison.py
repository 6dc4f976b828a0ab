"""Comparison of two result sets of one experiment, such as two commits, point by point.

Points are matched by identity, which covers the run and not its outcome. Times are compared by the
ratio of their medians over the repetitions. The noise is the range of the ratios of single runs; it
is unknown with one run a side. Bandwidths are compared exactly, by each measure of both sides.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from experiments.measures.declared import COMPARED, MEASURES
from experiments.measures.measure import duration
from experiments.results.grid import Grid
from experiments.results.rows import Row, Status

__all__ = ["Comparison", "Pair", "Ratio", "compare", "document", "remarks", "table"]

_Described = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Generation time in B over that in A."""

    median: float  # ratio of the medians over the repetitions
    # least and greatest ratio of a single run of B to one of A; None for one run a side
    noise: tuple[float, float] | None

    @property
    def verdict(self) -> str:
        """Whether all runs of B were faster, or slower, than all of A."""
        if self.noise is None:
            return "single run"
        if self.noise[0] <= 1 <= self.noise[1]:
            return "within noise"
        return "faster" if self.median < 1 else "slower"


@dataclass(frozen=True, slots=True)
class Pair:
    """The rows of two sets for one method on one topology; a side may have no repetitions."""

    topology: str  # the method with its parameters
    method: str  # the method with its parameters
    a: tuple[Row, ...]  # the repetitions
    b: tuple[Row, ...]  # the repetitions

    @property
    def seconds(self) -> tuple[float | None, float | None]:
        """Median generation time on either side."""
        before, after = (
            statistics.median(t) if (t := _times(side)) else None for side in self.sides
        )
        return before, after

    @property
    def sides(self) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        """A and B."""
        return self.a, self.b

    @property
    def time(self) -> Ratio | None:
        """The ratio of the generation times, if both sides have one."""
        before, after = _times(self.a), _times(self.b)
        if not before or not after or not statistics.median(before):
            return None
        single = len(before) == len(after) == 1
        return Ratio(
            statistics.median(after) / statistics.median(before),
            None if single else (min(after) / max(before), max(after) / min(before)),
        )

    @property
    def algbw(self) -> tuple[str, str]:
        """Exact algbw on either side; several values if the repetitions differ."""
        return self.exact("algbw")

    def exact(self, column: str) -> tuple[str, str]:
        """Return an exact column on either side; several values if the repetitions differ."""
        return _exact(self.a, column), _exact(self.b, column)

    @property
    def measures_changed(self) -> tuple[str, ...]:
        """The compared columns that differ; a column that one side lacks counts only for algbw."""
        both = {column: self.exact(column) for column in COMPARED}
        # Old rows lack newer measures, which is no change; a lost algbw is one.
        lost = ("algbw",) if both["algbw"][0] != both["algbw"][1] else ()
        known = (column for column, (a, b) in both.items() if a and b and a != b)
        return tuple(dict.fromkeys([*lost, *known]))

    @property
    def status(self) -> tuple[str, str]:
        """The status on either side; "missing" without rows."""
        return _status(self.a), _status(self.b)

    @property
    def changed(self) -> bool:
        """Whether the result differs, apart from times."""
        return self.status[0] != self.status[1] or bool(self.measures_changed)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All pairs, and the provenance of the two sets."""

    pairs: tuple[Pair, ...]
    commits: tuple[str, str]
    hosts: tuple[str, str]

    @property
    def mean_ratio(self) -> float | None:
        """Geometric mean of the ratios of times."""
        ratios = [pair.time.median for pair in self.pairs if pair.time is not None]
        return statistics.geometric_mean(ratios) if ratios else None


def compare(a: Sequence[Row], b: Sequence[Row]) -> Comparison:
    """Match the points of two sets of results."""
    before, after = _grouped(a), _grouped(b)
    pairs = []
    both = list(dict.fromkeys([*before, *after]))
    topologies = list(dict.fromkeys(described[:2] for described in both))
    for described in sorted(both, key=lambda described: topologies.index(described[:2])):
        here, there = before.get(described, ()), after.get(described, ())
        topology, method = described[1], (here or there)[0].series
        if here and there and not _same(here, there):  # another file of the same name
            pairs += [Pair(topology, method, here, ()), Pair(topology, method, (), there)]
        else:
            pairs.append(Pair(topology, method, here, there))
    return Comparison(
        tuple(pairs),
        (_joined(map(_commit, a)), _joined(map(_commit, b))),
        (_joined(map(_host, a)), _joined(map(_host, b))),
    )


def _grouped(rows: Iterable[Row]) -> Mapping[_Described, tuple[Row, ...]]:
    groups: dict[_Described, tuple[Row, ...]] = {}
    for row in rows:
        described = (row.experiment, row.topology, row.collective, row.series)
        groups[described] = (*groups.get(described, ()), row)
    return groups


def _same(a: Sequence[Row], b: Sequence[Row]) -> bool:
    """Whether a common repetition is the same point; True if they have none in common."""
    points = {row.repetition: row.point for row in a}
    shared = [row for row in b if row.repetition in points]
    return not shared or any(points[row.repetition] == row.point for row in shared)


def _times(rows: Iterable[Row]) -> list[float]:
    return [
        row.generation_s for row in rows if row.status is Status.OK and row.generation_s is not None
    ]


def _exact(rows: Iterable[Row], column: str) -> str:
    found = {getattr(row, column) for row in rows} - {None}
    return " or ".join(map(str, sorted(found, key=Fraction)))


def _status(rows: Iterable[Row]) -> str:
    return " or ".join(sorted({str(row.status) for row in rows})) or "missing"


def _commit(row: Row) -> str:
    return row.commit or "unknown"


def _host(row: Row) -> str:
    return str(row.host.get("name", "unknown"))


def _joined(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))


def table(found: Comparison, title: str) -> Grid:
    """Return a comparison as a table for reading."""
    return Grid(
        title=title,
        heads=("topology", "method", "time A", "time B", "B/A", "noise", "result"),
        rows=tuple((pair.topology, pair.method, *_cells(pair)) for pair in found.pairs),
    )


def _cells(pair: Pair) -> list[str]:
    times = [duration(seconds) for seconds in pair.seconds]
    if pair.time is None:
        return [*times, "", "", _result(pair)]
    noise = pair.time.noise
    spread = "single run" if noise is None else f"{noise[0]:.2f}..{noise[1]:.2f}"
    return [*times, f"{pair.time.median:.2f}", spread, _result(pair)]


def _result(pair: Pair) -> str:
    if pair.status[0] != pair.status[1]:
        return f"{pair.status[0]} -> {pair.status[1]}"
    if pair.measures_changed:
        column, *_ = pair.measures_changed
        before, after = pair.exact(column)
        measure = column.removeprefix("algbw").replace("_", " ").lstrip()
        unit = MEASURES[MEASURES[column].exact_of or column].unit
        return f"{measure} {before} -> {after} {unit}".strip()
    return "=" if pair.algbw[0] else pair.status[0]


def remarks(found: Comparison) -> list[str]:
    """Summarise a comparison, with notes on how to read it."""
    counts = Counter(pair.time.verdict for pair in found.pairs if pair.time is not None)
    changed = sum(pair.changed for pair in found.pairs)
    lines = [
        f"commits: A {found.commits[0]}, B {found.commits[1]}",
        f"{len(found.pairs)} points, {changed} with another status or algbw",
    ]
    if found.mean_ratio is not None:
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        lines.append(f"generation time B/A: {found.mean_ratio:.2f} (geometric mean); {verdicts}")
    if found.pairs and all("missing" in pair.status for pair in found.pairs):
        lines.append("no point is in both: these are results of different experiments")
    if counts["single run"]:
        lines.append("single runs say nothing of the noise; set repetitions to 3 or more")
    if found.hosts[0] != found.hosts[1]:
        lines.append(f"times are from different hosts: A {found.hosts[0]}, B {found.hosts[1]}")
    return lines


def document(found: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data."""
    return {
        "commits": found.commits,
        "hosts": found.hosts,
        "mean_time_ratio": found.mean_ratio,
        "points": [
            {
                "topology": pair.topology,
                "method": pair.method,
                "repetitions": [len(side) for side in pair.sides],
                "status": pair.status,
                "time_s": pair.seconds,
                "time_ratio": pair.time and pair.time.median,
                "time_noise": pair.time and pair.time.noise,
                "time_verdict": pair.time and pair.time.verdict,
                **{column: pair.exact(column) for column in COMPARED},
                "changed": pair.changed,
            }
            for pair in found.pairs
        ],
    }
