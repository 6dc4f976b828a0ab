"""Lower bound on the time of all placements, from what a cut must separate at least.

Problem: how fast can any placement be, without a look at each?
Input:   the cuts of a network with their bandwidths, the kinds.
Output:  microseconds that no placement is below.
Cost:    for each cut, the numbers of groups of every kind that may touch it.
Source:  ours. A set of s GPUs touches T groups of a kind of size k, of which f lie inside and the
         others, with the L = s - k f GPUs that are left, are split. A group of one kind and a group
         of another share one GPU at most, so T T' >= s for every two kinds. The least time over all
         T that fit is a bound for this cut, and so is the largest over all cuts.

Of a split group x GPUs are inside and k - x outside; all split groups have k (T - f) - L outside.
In an all-to-all each exchanges x (k - x) parts, a concave function: least, for given L, if all but
one have x = 1 or x = k - 1. A kind also takes, whatever this cut does to it, the most of what the
other cuts take of it alone.
"""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from lp.placement.cut_times import CutTimes
from lp.placement.parallel_kinds import Kind

__all__ = ["placement_bound_us"]

MOST_CHOICES = 20_000
"""Combinations of numbers of whole groups that are tried for a cut; beyond, kinds count alone."""

_LESS = 1 - 1e-12
"""For what sums in another order may differ by."""


def placement_bound_us(bounds: CutTimes, objective: str) -> float:
    """Return a lower bound on the objective over all placements, in microseconds.

    Parameters
    ----------
    objective : {"sum", "slowest"}

    Examples
    --------
    Pairs of a ring of four that are neighbours exchange 2 MB over one link of 1 GB/s each.

    >>> from forestcoll.topology import load_topology
    >>> ring = load_topology("ring:nodes=4")
    >>> kind = Kind("pairs", 2, "all-to-all", 2 * 10**6)
    >>> round(placement_bound_us(CutTimes(ring, [kind]), "sum"))
    500
    """
    kinds, gpus = bounds.kinds, len(bounds.hops)
    together = sum if objective == "sum" else max
    alone = [_least_hops_us(kind, bounds) for kind in kinds]
    cuts = sorted(
        {
            *zip(
                bounds.sets.sum(axis=1).tolist(),
                bounds.out.tolist(),
                bounds.into.tolist(),
                strict=True,
            )
        }
    )
    rows = [
        (inside, [_times_by_touched(kind, inside, gpus, out, into) for kind in kinds])
        for inside, out, into in cuts
    ]
    for _, times in rows:
        alone = [max(one, min(row.values())) for one, row in zip(alone, times, strict=True)]
    best = float(together(alone))
    for inside, times in rows:
        if math.prod(map(len, times)) <= MOST_CHOICES:
            # Whatever this cut takes, other cuts take what they take of each kind.
            fitting = (
                together(
                    max(row[many], least)
                    for row, many, least in zip(times, touched, alone, strict=True)
                )
                for touched in product(*times)
                if all(one * other >= inside for one, other in combinations(touched, 2))
            )
            best = max(best, min(fitting))
    return best * _LESS


def _times_by_touched(
    kind: Kind, inside: int, gpus: int, out: float, into: float
) -> dict[int, float]:
    """Return the least time of a cut for each number of groups that the set inside may touch."""
    found: dict[int, float] = {}
    for whole in range(inside // kind.size + 1):
        left = inside - kind.size * whole
        for split in range(-(-left // (kind.size - 1)), left + 1):
            touched = whole + split
            if touched <= gpus // kind.size:
                time = _cut_us(kind, left, split, out, into)
                found[touched] = min(time, found.get(touched, math.inf))
    return found


def _cut_us(kind: Kind, left: int, split: int, out: float, into: float) -> float:
    """Return the least time of a cut that splits so many groups, with so many GPUs inside."""
    size = kind.size
    shard = kind.size_bytes / size / 1000
    if kind.collective == "all-to-all":
        return shard * _least_exchanged(size, left, split) / min(out, into)
    beside = size * split - left
    gather = max(left / out, beside / into)
    reduce = max(beside / out, left / into)
    return (
        shard
        * {
            "allgather": gather,
            "reduce-scatter": reduce,
            "allreduce": gather + reduce,
        }[kind.collective]
    )


def _least_exchanged(size: int, left: int, split: int) -> int:
    """Return the fewest parts that leave, if so many split groups have ``left`` GPUs inside."""
    if not split or size == 2:
        return split
    rest = (left - split) % (size - 2)
    if not rest:
        return split * (size - 1)
    return (split - 1) * (size - 1) + (1 + rest) * (size - 1 - rest)


def _least_hops_us(kind: Kind, bounds: CutTimes) -> float:
    """Return the time of an all-to-all if every GPU's partners are those nearest to it."""
    if kind.collective != "all-to-all":
        return 0.0
    hops: npt.NDArray[np.float64] = np.sort(bounds.hops, axis=1)[:, : kind.size]  # itself, too
    return float(hops.sum()) / bounds.total * kind.size_bytes / kind.size / 1000
