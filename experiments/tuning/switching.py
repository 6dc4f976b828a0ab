"""Between which sizes the best schedule changes.

Problem: a library switches by size: it needs ranges, not a list of sizes.
Input:   who is best at some sizes; a way to ask about one more.
Output:  more sizes around each change, by bisection; ranges in which one candidate is best.
Cost:    of each change about log2(log(ratio) / log(precision)) more sizes.
Source:  ours. A candidate that is best only between two sizes at which another one is, both times
         the same, is not found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.tuning.race import AtSize

__all__ = ["PRECISION", "Range", "ranges", "refined"]

PRECISION = 1.1
"""Two sizes on both sides of a change are no farther apart than by this factor."""

_BITS = 6  # of the sizes in between: 724KB rather than 741455


@dataclass(frozen=True, slots=True)
class Range:
    """Sizes at which one candidate is best.

    Parameters
    ----------
    first_bytes, last_bytes : int
        The smallest and largest size at which it was the best; between this range's last and the
        next one's first is where the two change places.
    name : str
        Of the candidate.
    least_share : float
        The least share of the bound that it reaches in this range.
    pieces : (int, int)
        The least and the largest number of pieces that it is cut into.
    """

    first_bytes: int
    last_bytes: int
    name: str
    least_share: float
    pieces: tuple[int, int]


def middle(low: int, high: int) -> int:
    """Return a size in the geometric middle of two, of few digits in binary.

    Examples
    --------
    >>> middle(1024, 2048), middle(2**20, 2**21)
    (1440, 1474560)
    """
    exact = math.isqrt(low * high)
    shift = max(0, exact.bit_length() - _BITS)
    return (exact + (1 << shift >> 1)) >> shift << shift


def refined(
    found: Sequence[AtSize], ask: Callable[[int], AtSize], precision: float = PRECISION
) -> list[AtSize]:
    """Ask about more sizes wherever the best one changes.

    Parameters
    ----------
    found : sequence of AtSize
        By size; at least one.
    ask : callable
        Of a size.
    precision : float
        Above 1.

    Returns
    -------
    list of AtSize
        By size, with those found.
    """
    more = [found[0]]
    for then in found[1:]:
        more += [*_between(more[-1], then, ask, precision), then]
    return more


def _between(
    low: AtSize, high: AtSize, ask: Callable[[int], AtSize], precision: float
) -> list[AtSize]:
    size = middle(low.size_bytes, high.size_bytes)
    near = high.size_bytes <= precision * low.size_bytes
    if low.best.name == high.best.name or near or not low.size_bytes < size < high.size_bytes:
        return []
    at = ask(size)
    return [*_between(low, at, ask, precision), at, *_between(at, high, ask, precision)]


def ranges(found: Sequence[AtSize]) -> tuple[Range, ...]:
    """Return the ranges of neighbouring sizes with the same best candidate."""
    runs: list[list[AtSize]] = []
    for at in found:
        if runs and runs[-1][-1].best.name == at.best.name:
            runs[-1].append(at)
        else:
            runs.append([at])
    return tuple(
        Range(
            first_bytes=run[0].size_bytes,
            last_bytes=run[-1].size_bytes,
            name=run[0].best.name,
            least_share=min(at.share for at in run),
            pieces=(min(at.pieces for at in run), max(at.pieces for at in run)),
        )
        for run in runs
    )
