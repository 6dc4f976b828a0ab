"""Values from the papers, for figures and tests to compare with; see README.md beside this."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

__all__ = ["Breakdown", "Mark", "generation_breakdowns", "generation_times", "optima"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A published value: where it belongs in a figure, and what to call it."""

    cluster: str
    gpus: int
    value: float
    label: str


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Published generation times by stage, in seconds."""

    cluster: str
    gpus: int
    implementation: str
    optimality_s: float
    switch_removal_s: float
    tree_packing_s: float
    total_s: float


def optima() -> list[Mark]:
    """Return optimal allgather algbw, in GB/s."""
    rows = _read("forestcoll_optima.csv")
    return [_mark(row, row["algbw_gb_s"], "published optimum") for row in rows]


def generation_times() -> list[Mark]:
    """Return generation times, in seconds."""
    rows = _read("forestcoll_generation.csv")
    return [_mark(row, row["total_s"], f"ForestColl, {row['implementation']}") for row in rows]


def generation_breakdowns() -> list[Breakdown]:
    """Return generation times by stage: the paper's table 3, and its public code's."""
    return [
        Breakdown(
            row["cluster"],
            int(row["gpus"]),
            row["implementation"],
            float(row["optimality_s"]),
            float(row["switch_removal_s"]),
            float(row["tree_packing_s"]),
            float(row["total_s"]),
        )
        for row in _read("forestcoll_generation.csv")
        if row["optimality_s"]
    ]


def _read(name: str) -> Iterator[dict[str, str]]:
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    return csv.DictReader(text.splitlines())


def _mark(row: dict[str, str], value: str, label: str) -> Mark:
    return Mark(row["cluster"], int(row["gpus"]), float(value), label)
