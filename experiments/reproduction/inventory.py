"""Inventory of the papers' evaluations: each item, how to reproduce it, and its status.

The items are in ``published/evaluation.yaml``: figures and tables of the ForestColl paper and
slides, and of the BFB and TE-CCL papers.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from importlib import resources
from typing import Literal

import yaml
from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from experiments.reproduction.difference import Difference

__all__ = ["PAPERS", "Item", "Lack", "Otherwise", "Standing", "read_items"]

PAPERS = {
    "EF": "ForestColl paper",
    "ES": "ForestColl slides",
    "EB": "BFB paper",
    "ET": "TE-CCL paper",
}
"""First letters of an item, and its paper."""

Standing = Literal["done", "part", "waiting", "hardware", "proprietary", "none"]
"""Reproduced; in part; waiting for a part of the toolkit; needs hardware or unpublished inputs;
nothing to reproduce."""

Lack = Literal["machine", "inputs", "ours"]
"""Why an item is reproduced only in part: the rest was measured on a machine, needs inputs that are
not public or not printed, or needs software that we lack."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Otherwise:
    """Printed numbers that are known to differ from ours."""

    of: str  # name of the quantity, as in a difference; ``*`` is anything
    by: float  # largest difference as a share of the printed number; negative if ours is less
    why: str

    def covers(self, one: Difference) -> bool:
        """Return whether a difference is of this quantity, and no larger than known."""
        nearest, farthest = sorted((0.0, self.by))
        return fnmatchcase(one.what, self.of) and nearest <= one.share <= farthest


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Item:
    """One figure, table or claim."""

    item: str  # its number, such as EF5
    of: str  # its place in the paper
    what: str
    # how to obtain it: "T" by theory, "S" by software, "H" on the hardware
    can: tuple[Literal["T", "S", "H"], ...]
    status: Standing  # one of Standing
    # evidence: experiments by name, tests by file and function, other files or words
    rows: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    why: str = ""  # what is missing or differs, in at most 12 words
    note: str = ""  # details, in sentences
    lacks: tuple[Lack, ...] = ()  # Lack of an item in part
    # printed numbers of theory that are known to differ, and why
    otherwise: tuple[Otherwise, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.lacks) != (self.status == "part"):
            raise ValueError(f"{self.item} is {self.status}, and lacks {self.lacks or 'nothing'}")

    @property
    def paper(self) -> str:
        """Its paper."""
        return PAPERS[self.item[:2]]

    @property
    def reproduced(self) -> bool:
        """Whether it is reproduced, at least in part."""
        return self.status in ("done", "part")

    @property
    def to_the_limit(self) -> bool:
        """Whether it is reproduced as far as possible from public inputs without the machine."""
        return self.reproduced and "ours" not in self.lacks

    @property
    def by_theory(self) -> bool:
        """Whether theory suffices for it, or for a part of it."""
        return "T" in self.can and self.status != "none"

    @property
    def by_software(self) -> bool:
        """Whether it needs software, and theory is not enough."""
        return "S" in self.can and not self.by_theory and self.status != "none"


def read_items() -> list[Item]:
    """Return all items, in the order of the file."""
    file = resources.files("experiments.published").joinpath("evaluation.yaml")
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    return TypeAdapter(list[Item]).validate_python(document)
