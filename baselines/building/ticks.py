"""Times as whole numbers of ticks.

Read ``common_part`` (the tick) and ``soonest`` (the time at which parallel links have delivered a
number of chunks). Source: own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

__all__ = ["common_part", "soonest"]


def common_part(times: Iterable[Fraction]) -> Fraction:
    """Return the largest fraction that divides all times, which must not all be zero."""
    found = list(times)
    whole = math.lcm(*(time.denominator for time in found))
    return Fraction(math.gcd(*(int(time * whole) for time in found)), whole)


def soonest(ways: Sequence[int], count: int) -> int:
    """Return the tick at which parallel paths have delivered ``count`` chunks together.

    By tick t a path of w ticks a chunk has delivered floor(t / w), so bisection finds the time.
    """
    early, late = 0, count * min(ways)
    while early < late:
        middle = (early + late) // 2
        if sum(middle // taken for taken in ways) >= count:
            late = middle
        else:
            early = middle + 1
    return late
