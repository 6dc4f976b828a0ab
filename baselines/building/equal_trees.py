"""Forests from trees of equal parts, with equal shares on equal-cost paths.

Problem: a baseline defines trees; multiply them so that the trees of each logical link divide
         evenly over its paths.
Output:  a forest whose weights are the trees per root.
Source:  none; equal-cost multipath, see ``switch_paths``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from baselines.networks.switch_paths import Router, build_forest, dealt
from forestcoll.errors import VerificationError
from forestcoll.schedule.exact_sums import exact
from forestcoll.schedule.forest import Forest

__all__ = ["edges_of", "forest_of"]

_Ints = npt.NDArray[Any]


def forest_of(router: Router, method: str, copies: Mapping[tuple[int, ...], int]) -> Forest:
    """Build a forest from trees.

    Parameters
    ----------
    router : Router
        Router of the network; edges take its shortest paths.
    copies : mapping
        Multiplicity of each tree; a tree is the parent of each rank, -1 at the root.

    Raises
    ------
    VerificationError
        If there are no trees, or one is no list of parents, or has no copy.
    UnsupportedError
        If no path through switches alone leads from a parent to its child.
    """
    _check(router.topology.num_compute, copies)
    parent = np.array(list(copies), dtype=np.int32)
    counts = list(copies.values())
    tail, head, trees = edges_of(parent, counts)
    rooted: Counter[int] = Counter()
    for row, count in zip((parent < 0).argmax(axis=1).tolist(), counts, strict=True):
        rooted[row] += count
    place = np.array(router.topology.compute)
    times = _times_to_share(router.between(place[tail], place[head]).many, trees)
    carried = np.array([times * count for count in trees.tolist()], dtype=np.int64)
    k = math.gcd(*rooted.values())
    return build_forest(
        router.topology,
        method,
        root=(parent < 0).argmax(axis=1).astype(np.int32),
        multiplicity=times * np.array(counts, dtype=np.int64),
        parent=parent,
        paths=dealt(router, tail, head, carried),
        weights=tuple(rooted[rank] // k for rank in range(router.topology.num_compute)),
    )


def _check(size: int, copies: Mapping[tuple[int, ...], int]) -> None:
    """Refuse what is no tree by its form; ``verify`` finds trees that do not span."""
    if not copies:
        raise VerificationError("there are no trees; each root needs one")
    for number, (parents, count) in enumerate(copies.items()):
        if len(parents) != size:
            raise VerificationError(
                f"tree {number} has {len(parents)} parents; it must have {size}, one for each rank"
            )
        if max(parents) >= size or min(parents) != -1:
            raise VerificationError(
                f"tree {number} has parents from {min(parents)} to {max(parents)}; "
                f"they must be ranks from 0 to {size - 1}, and -1 at the root"
            )
        if count < 1 or count != int(count):
            raise VerificationError(
                f"tree {number} has {count} copies; it must have a whole number from 1"
            )


def edges_of(parent: _Ints, counts: Sequence[int]) -> tuple[_Ints, _Ints, _Ints]:
    """Return the edges, parents and ranks, and the number of trees with each."""
    size = parent.shape[1]
    tree, rank = np.nonzero(parent >= 0)
    key = parent[tree, rank].astype(np.int64) * size + rank
    amounts = exact(np.array(counts, dtype=np.int64), len(parent))[tree]
    if size**2 <= 4 * len(key):  # a table of all pairs is faster than sorting
        there = np.zeros(size**2, dtype=bool)
        there[key] = True
        edges, which = np.flatnonzero(there), (np.cumsum(there) - 1)[key]
    else:
        edges, which = np.unique(key, return_inverse=True)
    total = np.zeros(len(edges), dtype=amounts.dtype)
    np.add.at(total, which, amounts)
    return edges // size, edges % size, total


def _times_to_share(many: _Ints, trees: _Ints) -> int:
    """The least multiple of the trees that divides evenly over all equal-cost paths."""
    shares = set(zip(many.tolist(), trees.tolist(), strict=True))
    return math.lcm(*(n // math.gcd(n, count) for n, count in shares))
