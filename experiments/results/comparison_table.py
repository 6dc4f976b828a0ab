"""A comparison of results as a table, as a summary, and as data."""

from __future__ import annotations

from collections import Counter
from typing import Any

from experiments.measures.declared import COMPARED, MEASURES
from experiments.measures.measure import duration
from experiments.results.comparison import Comparison, Pair
from experiments.results.grid import Grid

__all__ = ["document", "remarks", "table"]


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
    """Describe the change of status and algbw."""
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
