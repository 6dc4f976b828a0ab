"""Difference between a number that a paper prints and ours."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from experiments.results.rows import Row

__all__ = ["Difference", "come_out", "may_be_stopped", "printed_number"]

_EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class Difference:
    """A printed number and ours.

    Parameters
    ----------
    item : str
        Of :mod:`experiments.reproduction.inventory`.
    what : str
        The quantity, and of what: method, network, size.
    printed : str
        As it stands there, or as it follows from what stands there.
    ours : float
    unit : str
    kind : str
        "theory" if both follow from the model; "derived" if theirs is not printed but follows from
        what is; "time" for wall-clock times on different machines; "search" for what searches find
        that do not prove the least; "simulated" if theirs was measured and ours is simulated, or
        computed by a model.
    """

    item: str
    what: str
    printed: str
    ours: float
    unit: str = ""
    kind: str = "theory"

    @property
    def share(self) -> float:
        """How far ours is off, as a share of what is printed; where that is 0, none or infinite."""
        value, _ = printed_number(self.printed)
        if not value:
            return 0.0 if self.equal else math.copysign(math.inf, self.ours)
        return self.ours / value - 1

    @property
    def equal(self) -> bool:
        """Whether ours rounds to what is printed, or is below it where the least is not printed."""
        value, rounding = printed_number(self.printed)
        if self.printed.startswith("<"):
            return self.ours < value
        return abs(self.ours - value) <= rounding


def come_out(found: Iterable[Difference]) -> tuple[int, int]:
    """Return how many quantities come out as printed, and of how many.

    One that several tables print counts once, and comes out if it does in all of them.
    """
    equal: dict[str, bool] = {}
    for one in found:
        equal[one.what] = one.equal and equal.get(one.what, True)
    return sum(equal.values()), len(equal)


def may_be_stopped(row: Row) -> bool:
    """Say whether a search may have ended by its limit, so that its seconds are none of its own."""
    if row.search_status in (None, "optimal"):
        return False
    return (row.generation_s or 0.0) > (row.limit_s or math.inf) / 2


def printed_number(text: str) -> tuple[float, float]:
    """Return the number that is printed, and how far off the true one may be.

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
