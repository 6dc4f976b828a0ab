"""Sizes at which the best schedule changes.

Bisection locates each change with about log2(log(ratio) / log(precision)) more sizes. It misses a
candidate that is best only between two sizes with the same other best candidate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.advice.tuning.schedule_search import AtSize

__all__ = ["PRECISION", "Range", "ranges", "refined", "usable"]

PRECISION = 1.1
"""The two sizes beside a change differ by at most this factor."""

_BITS = 6  # of the sizes in between: 724KB rather than 741455


@dataclass(frozen=True, slots=True)
class Range:
    """Sizes at which one candidate is best, or within a tolerance of the best."""

    # the smallest and largest tried size for this candidate. The change to the next candidate lies
    # between this range's last size and the next range's first
    first_bytes: int
    last_bytes: int
    name: str  # of the candidate
    slower: float  # the greatest share by which it takes longer than the best
    least_share: float  # the least share of the bound that it reaches in this range
    # the least and the largest number of its pipeline chunks; None if it keeps to its plan
    pipeline_chunks: tuple[int, int] | None
    by_plan: bool = False  # whether it keeps to its time plan at some of the sizes


def middle(low: int, high: int) -> int:
    """Return a size near the geometric mean of two, with few binary digits.

    It lies strictly between them if a whole size does.

    Examples
    --------
    >>> middle(1024, 2048), middle(2**20, 2**21), middle(7, 9)
    (1440, 1474560, 8)
    """
    exact = math.isqrt(low * high)
    shift = max(0, exact.bit_length() - _BITS)
    short = (exact + (1 << shift >> 1)) >> shift << shift
    return short if short > low else low + 1


def refined(
    found: Sequence[AtSize],
    ask: Callable[[int], AtSize],
    precision: float = PRECISION,
    within: float = 0.0,
) -> list[AtSize]:
    """Ask about more sizes wherever a range ends, until all ends are within the precision.

    Parameters
    ----------
    found : sequence of AtSize
        By size; at least one.
    ask : callable
        Of a size.
    precision : float
        Above 1.
    within : float
        As of :func:`ranges`.

    Returns
    -------
    list of AtSize
        By size, with those found.
    """
    known = {at.size_bytes: at for at in found}
    while True:
        tried = [known[size] for size in sorted(known)]
        more = _more(ranges(tried, within), precision)
        if not more:
            return tried
        known |= {size: ask(size) for size in more}


def _more(parts: Sequence[Range], precision: float) -> list[int]:
    ends = [(one.last_bytes, then.first_bytes) for one, then in itertools.pairwise(parts)]
    wide = [(low, high, middle(low, high)) for low, high in ends if high > precision * low]
    return [size for low, high, size in wide if low < size < high]


def ranges(found: Sequence[AtSize], within: float = 0.0) -> tuple[Range, ...]:
    """Return the least number of ranges that use one candidate each.

    Parameters
    ----------
    found : sequence of AtSize
        By size.
    within : float
        The candidate of a range may be slower than the best by at most this share; the least slow
        candidate is taken. If 0, only the best one after ties qualifies.
    """
    parts: list[tuple[list[AtSize], set[str]]] = []
    for at in found:
        good = usable(at, within)
        if parts and parts[-1][1] & good:
            parts[-1] = ([*parts[-1][0], at], parts[-1][1] & good)
        else:
            parts.append(([at], good))
    return tuple(_range(run, good) for run, good in parts)


def usable(at: AtSize, within: float = 0.0) -> set[str]:
    """Return the candidates that a range may use at a size, by name."""
    enough = at.time_s * (1 + within) if within else 0.0
    others = (
        trial.name
        for trial in at.trials
        if trial.simulation is not None and trial.simulation.time_s <= enough
    )
    return {at.best.name, *others}


def _range(run: Sequence[AtSize], good: set[str]) -> Range:
    """Return the range of the candidate that is slower by the least share."""
    lost = {name: max(at.simulated(name).time_s / at.time_s for at in run) for name in good}
    places = [trial.name for trial in run[0].trials]
    name = min(good, key=lambda one: (lost[one], places.index(one)))
    used = [at.simulated(name) for at in run]
    chunks = [one.pipeline_chunks for one in used if not one.by_plan]
    return Range(
        first_bytes=run[0].size_bytes,
        last_bytes=run[-1].size_bytes,
        name=name,
        slower=max(0.0, lost[name] - 1),
        least_share=min(at.bound_s / one.time_s for at, one in zip(run, used, strict=True)),
        pipeline_chunks=(min(chunks), max(chunks)) if chunks else None,
        by_plan=len(chunks) < len(used),
    )
