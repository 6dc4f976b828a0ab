"""Times as whole numbers of ticks.

To read: ``common_part``, the tick itself, and ``soonest``, when links that work side by side have
brought so many chunks. Source: own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

__all__ = ["common_part", "soonest"]


def common_part(times: Iterable[Fraction]) -> Fraction:
    """Return the largest fraction of which all these, not all zero, are whole multiples."""
    found = list(times)
    whole = math.lcm(*(time.denominator for time in found))
    return Fraction(math.gcd(*(int(time * whole) for time in found)), whole)


def soonest(ways: Sequence[int], count: int) -> int:
    """Return when ways that take so many ticks for a chunk have brought so many together.

    By t a way that takes w has brought floor(t / w), so the time is found by halving.
    """
    early, late = 0, count * min(ways)
    while early < late:
        middle = (early + late) // 2
        if sum(middle // taken for taken in ways) >= count:
            late = middle
        else:
            early = middle + 1
    return late
