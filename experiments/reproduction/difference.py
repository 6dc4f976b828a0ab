"""Difference between a number that a paper prints and ours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from experiments.results.rows import Row

__all__ = ["Difference", "Rows", "come_out", "may_be_stopped", "printed_number"]

_EXACT = 1e-9

Rows = Mapping[str, Sequence[Row]]
"""By the name of the experiment."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A printed number and ours."""

    item: str  # of experiments.reproduction.inventory
    what: str  # the quantity, with its method, network and size
    printed: str  # the printed text, or a value derived from it
    ours: float
    unit: str = ""
    # "theory" if both follow from the model; "derived" if the printed numbers imply theirs; "time"
    # for wall-clock times on different machines; "search" for searches without a proof of
    # optimality; "simulated" if theirs was measured and ours comes from a simulation or model
    kind: str = "theory"

    @property
    def share(self) -> float:
        """Relative difference from the printed number; 0 or infinite if that is 0."""
        value, _ = printed_number(self.printed)
        if not value:
            return 0.0 if self.equal else math.copysign(math.inf, self.ours)
        return self.ours / value - 1

    @property
    def equal(self) -> bool:
        """Whether ours rounds to the printed number, or is below it if that is printed with "<"."""
        value, rounding = printed_number(self.printed)
        if self.printed.startswith("<"):
            return self.ours < value
        return abs(self.ours - value) <= rounding


def come_out(found: Iterable[Difference]) -> tuple[int, int]:
    """Return the number of quantities that agree with the print, and of all.

    A quantity in several tables counts once, and agrees if it does in all of them.
    """
    equal: dict[str, bool] = {}
    for one in found:
        equal[one.what] = one.equal and equal.get(one.what, True)
    return sum(equal.values()), len(equal)


def may_be_stopped(row: Row) -> bool:
    """Whether a search may have ended by its limit, so that its time shows only the limit."""
    if row.search_status in (None, "optimal"):
        return False
    return (row.generation_s or 0.0) > (row.limit_s or math.inf) / 2


def printed_number(text: str) -> tuple[float, float]:
    """Return the printed number, and the possible rounding error.

    Examples
    --------
    >>> printed_number("1.332")
    (1.332, 0.000501)
    >>> printed_number("8/5")
    (1.6, 1e-09)
    """
    value = float(Fraction(text.strip("<>~")))
    if "/" in text:
        return value, _EXACT
    digits = len(text.partition(".")[2])
    return value, float(Fraction(501, 1000) / 10**digits)
