"""Printed claims of other papers, from ``published/claims.yaml``, and how they are decided.

A rate of theory is compared with the proven optimum of the same network: it is beaten, reached, or
cannot be. A simulated or measured rate has latencies, and can only be shown to be above the bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from importlib import resources
from typing import Literal

import yaml
from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

__all__ = ["Base", "Claim", "Kind", "Paper", "Papers", "Verdict", "read_claims", "verdict"]

Kind = Literal["theory", "formula", "simulated", "measured", "none"]
"""A rate of link loads; a printed formula for one; a simulated or measured rate; no rate."""

Verdict = Literal[
    "reached", "beaten", "cannot be, by this cut", "below the bound", "not comparable"
]
"""How a claim is decided; "below the bound" is of simulated and measured rates."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Paper:
    """A method's source: its title, its venue or arXiv number, and what was read of it."""

    title: str
    number: str
    read: str


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Base:
    """The rate that a claim is a multiple of: a baseline's, our optimum's, or a number."""

    method: str = ""
    network: str = ""  # where the baseline runs
    optimum: str = ""  # network of the optimum
    rate: str = ""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.method and self.network, self.optimum, self.rate))) != 1:
            raise ValueError(f"one of method with network, optimum and rate, not {self}")


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Claim:
    """One printed claim, and the network on which it is decided."""

    source: str
    place: str
    said: str
    printed: str  # the number as printed, with its unit
    kind: Kind
    network: str = ""
    # links by pattern, with the factor of their bandwidth
    scale: Mapping[str, str | int] | None = None
    left_out: tuple[str, ...] = ()  # GPUs that only forward, by pattern
    collective: str = ""
    rate: str = ""  # the printed number as a multiple of ``of``; larger is faster
    by_formula: str = ""  # a printed formula with its argument, instead of a rate
    of: Base | None = None  # GB/s if None
    unit: str = ""
    why: str = ""  # why nothing can be compared, in at most 12 words
    note: str = ""

    def __post_init__(self) -> None:
        if (self.kind == "none") != bool(self.why):
            raise ValueError(f"{self.source}, {self.said}: only kind none needs a reason")
        if (self.kind == "none") == bool(self.rate or self.by_formula):
            raise ValueError(f"{self.source}, {self.said}: kind {self.kind}, rate {self.rate!r}")
        if (self.kind == "formula") != bool(self.by_formula):
            raise ValueError(f"{self.source}, {self.said}: a formula needs by_formula")
        if bool(self.network) != bool(self.collective) or (not self.network and not self.why):
            raise ValueError(f"{self.source}, {self.said}: a network needs its collective")


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Papers:
    """All sources and claims, in the order of the file."""

    sources: dict[str, Paper]
    claims: tuple[Claim, ...]

    def __post_init__(self) -> None:
        strangers = {claim.source for claim in self.claims} ^ set(self.sources)
        if strangers:
            raise ValueError(f"sources without claims, or not listed: {sorted(strangers)}")


def read_claims() -> Papers:
    """Return all claims with their sources."""
    file = resources.files("experiments.published").joinpath("claims.yaml")
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    return TypeAdapter(Papers).validate_python(document)


def verdict(
    kind: Kind, printed: Fraction | None, bound: Fraction | None, reached: Fraction | None
) -> Verdict:
    """Decide a claim.

    Parameters
    ----------
    kind : Kind
        What the printed rate is.
    printed, bound, reached : Fraction, optional
        Rates in one unit, larger is faster: the claim, the proven bound, and a verified schedule.
    """
    if kind == "none" or printed is None or bound is None or reached is None:
        return "not comparable"
    if printed > bound:
        return "cannot be, by this cut"
    if kind in ("simulated", "measured"):
        return "below the bound"
    if printed < reached:
        return "beaten"
    return "reached" if printed == reached else "not comparable"
