"""Values from the papers, for comparison in figures and tests; see README.md in this folder.

Each CSV file is a table. Columns with names of measures appear as marks in figures of these
measures: a new published value is a new line, or a new column for another measure.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Collection
from dataclasses import dataclass
from importlib import resources

__all__ = [
    "Breakdown", "Mark", "TrainingShare", "generation_breakdowns", "marks", "printed",
    "training_shares",
]  # fmt: skip

_TOTAL = "generation_s"

_MEASURED = {"algbw_simulated_gb_s": "algbw_measured_gb_s"}
"""Columns of measured values to show in figures of simulated ones."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A published value of a measure, with its place and label in figures."""

    cluster: str  # the panel
    gpus: int
    value: float  # in the unit of the measure
    label: str
    collectives: frozenset[str]  # what it is a value of
    derived: bool = False  # whether it follows from what is published, and is not itself printed
    size_bytes: int | None = None  # of the data, where the value is of one size
    method: str = ""  # ours that it is of, where there is one
    source: str = ""  # where it is published


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


@dataclass(frozen=True, slots=True)
class TrainingShare:
    """Published shares of an iteration of training with NCCL (ForestColl, figure 13)."""

    model: str  # by its name in ``experiments.training``
    visible: float  # of communication that no computation hides
    saved: float  # with ForestColl
    exact: bool  # or at most


def printed(file: str) -> list[dict[str, str]]:
    """Return the lines of one of the files, as text by column."""
    return list(_tables()[file])


def marks(measure: str, collectives: Collection[str] = ()) -> list[Mark]:
    """Return the published values of a measure.

    Parameters
    ----------
    measure : str
        A column of rows; for a simulated one, measured values are returned.
    collectives : collection of str
        Only values that hold for all of these.
    """
    column = _MEASURED.get(measure, measure)
    found = [
        Mark(
            row["cluster"],
            int(row["gpus"]),
            float(row[column]),
            row["label"],
            frozenset(row["collectives"].split()),
            row.get("derived") == "yes",
            int(row["size_bytes"]) if row.get("size_bytes") else None,
            row.get("method", ""),
            row.get("source", ""),
        )
        for table in _tables().values()
        for row in table
        if row.get(column)
    ]
    return [mark for mark in found if mark.collectives >= set(collectives)]


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
            float(row[_TOTAL]),
        )
        for row in _tables()["forestcoll_generation.csv"]
        if row["optimality_s"]
    ]


def training_shares() -> list[TrainingShare]:
    """Return the published shares of visible communication and of saved time, by model."""
    return [
        TrainingShare(
            row["model"].lower(),
            1 - float(row["compute_share"]),
            float(row["saving"]),
            row["saving_is"] == "exactly",
        )
        for row in printed("forestcoll_training.csv")
    ]


@functools.cache
def _tables() -> dict[str, list[dict[str, str]]]:
    files = sorted(resources.files(__name__).iterdir(), key=lambda file: file.name)
    return {
        file.name: list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
        for file in files
        if file.name.endswith(".csv")
    }
