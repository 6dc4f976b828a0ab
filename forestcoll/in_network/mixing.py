"""Mixture of several multicast forests as one forest.

Problem: some trees pass the multicast switches, others do not; each kind carries its part of the
         data over its part of every link.
Input:   forests on one network, and the part of the data that each carries.
Output:  one forest with the trees of all.
Cost:    linear in the trees and their walks.
Source:  ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.errors import CapacityOverflowError
from forestcoll.in_network.numbering import distinct, distinct_rows
from forestcoll.schedule.multicast import MulticastForest, Walks

__all__ = ["mirrored", "mixed", "one_of_each", "with_used_walks"]


def mixed(forests: Sequence[MulticastForest], parts: Sequence[Fraction]) -> MulticastForest:
    """Return all trees as one forest.

    Raises CapacityOverflowError if there are more trees than 63 bits count.

    Parameters
    ----------
    forests : sequence of MulticastForest
        On one topology, all for reductions or none.
    parts : sequence of Fraction
        Part of the data of each forest; positive, with sum 1.

    Returns
    -------
    MulticastForest
        Its congestion is that of the sum of the loads.
    """
    first = forests[0]
    each = [part / (sum(f.weights) * f.k) for f, part in zip(forests, parts, strict=True)]
    under = math.lcm(*(one.denominator for one in each))
    whole = [int(one * under) for one in each]
    # As few trees as carry the parts in whole numbers.
    unit = math.gcd(*whole)
    times = [one // unit for one in whole]
    if under // unit >= 2**62:
        raise CapacityOverflowError(
            f"{first.topology.name}: a mixture of {under // unit:.3g} trees is beyond exact 64-bit "
            f"arithmetic"
        )
    rooted = [
        sum(n * f.k * f.weights[rank] for n, f in zip(times, forests, strict=True))
        for rank in range(first.topology.num_compute)
    ]
    k = math.gcd(*rooted)
    starts = np.cumsum([0, *(len(forest.walks) for forest in forests)])
    walk = [forest.walk + np.int32(at) for forest, at in zip(forests, starts, strict=False)]
    counts = [np.diff(forest.first_walk) for forest in forests]
    made = replace(
        first,
        k=k,
        weights=tuple(trees // k for trees in rooted),
        root=np.concatenate([forest.root for forest in forests]).astype(np.int32),
        multiplicity=np.concatenate(
            [forest.multiplicity * n for n, forest in zip(times, forests, strict=True)]
        ),
        first_walk=np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64),
        walk=np.concatenate(walk),
        walks=_joined([forest.walks for forest in forests]),
        optimum=None,
    )
    return with_used_walks(made).measured()


def mirrored(gather: MulticastForest) -> MulticastForest:
    """Return the reduction over the same trees, where every link has an equal reverse."""
    return replace(gather, walks=gather.walks.backwards(), reduction=True, optimum=None)


def with_used_walks(forest: MulticastForest) -> MulticastForest:
    """Return the same forest with each walk once, and without walks that no tree takes."""
    used, walk = distinct(forest.walk)
    walks, number = one_of_each(forest.walks.taken(used))
    return replace(forest, walk=number.astype(np.int32)[walk], walks=walks)


def _joined(several: Sequence[Walks]) -> Walks:
    ends = np.cumsum(np.concatenate([np.diff(walks.first_node) for walks in several]))
    first = np.concatenate([np.zeros(1, dtype=np.int64), ends])
    return Walks(first, np.concatenate([walks.node for walks in several]))


def one_of_each(walks: Walks) -> tuple[Walks, npt.NDArray[np.int64]]:
    """Return the distinct walks, and the index of each walk among them."""
    first, node, length = walks.first_node, walks.node, np.diff(walks.first_node)
    number = np.zeros(len(length), dtype=np.int64)
    rows: list[npt.NDArray[np.int32]] = []
    lengths: list[npt.NDArray[np.int64]] = []
    count = 0
    for size in np.flatnonzero(np.bincount(length)).tolist():
        which = np.flatnonzero(length == size)
        table = node[first[which][:, None] + np.arange(size)]
        found, place = distinct_rows(table)
        number[which] = place + count
        rows.append(found.ravel().astype(np.int32, copy=False))
        lengths.append(np.full(len(found), size))
        count += len(found)
    ends = np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *lengths]))
    return Walks(ends, np.concatenate([np.zeros(0, dtype=np.int32), *rows])), number
