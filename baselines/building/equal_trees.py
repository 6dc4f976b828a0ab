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
from forestcoll.schedule.exact_sums import exact, first
from forestcoll.schedule.forest import Forest

__all__ = ["edges_of", "forest_of", "forest_of_rows", "total_of_links"]

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
    size = router.topology.num_compute
    for number, (parents, count) in enumerate(copies.items()):
        if len(parents) != size:
            raise VerificationError(
                f"tree {number} has {len(parents)} parents; it must have {size}, one for each rank"
            )
        if count < 1 or count != int(count):
            raise VerificationError(
                f"tree {number} has {count} copies; it must have a whole number from 1"
            )
    parent = np.array(list(copies), dtype=np.int64).reshape(-1, size)
    return forest_of_rows(router, method, parent, list(copies.values()))


def forest_of_rows(router: Router, method: str, parent: _Ints, counts: Sequence[int]) -> Forest:
    """Build a forest from trees in an array; equal ones become one of higher multiplicity.

    Errors are those of :func:`forest_of`, except for counts, which are not checked.

    Parameters
    ----------
    parent : int array, one row a tree
    counts : sequence of int
        Multiplicity of each.
    """
    topology = router.topology
    _check(topology.num_compute, parent)
    parent, counts = _different(parent.astype(np.int32), counts)
    tail, head, trees = edges_of(parent, counts)
    root = (parent < 0).argmax(axis=1)
    rooted: Counter[int] = Counter()
    for rank, count in zip(root.tolist(), counts, strict=True):
        rooted[rank] += count
    place = np.array(topology.compute)
    times = _times_to_share(router.between(place[tail], place[head]).many, trees)
    carried = (exact(trees, times) * times).astype(np.int64)
    k = math.gcd(*rooted.values())
    return build_forest(
        topology,
        method,
        root=root.astype(np.int32),
        multiplicity=times * np.array(counts, dtype=np.int64),
        parent=parent,
        paths=dealt(router, tail, head, carried),
        weights=tuple(rooted[rank] // k for rank in range(topology.num_compute)),
    )


def _check(size: int, parent: _Ints) -> None:
    """Refuse what is no tree by its form; ``verify`` finds trees that do not span."""
    if not len(parent):
        raise VerificationError("there are no trees; each root needs one")
    least, most = parent.min(axis=1), parent.max(axis=1)
    if (number := first((most >= size) | (least != -1))) is not None:
        raise VerificationError(
            f"tree {number} has parents from {least[number]} to {most[number]}; "
            f"they must be ranks from 0 to {size - 1}, and -1 at the root"
        )


def _different(parent: _Ints, counts: Sequence[int]) -> tuple[_Ints, Sequence[int]]:
    """Return each row once, in the order of their first copies, and the sum of its counts."""
    total: dict[bytes, int] = {}
    for row, count in zip(parent, counts, strict=True):
        key = row.tobytes()
        total[key] = total.get(key, 0) + count
    if len(total) == len(parent):
        return parent, counts
    rows = np.frombuffer(b"".join(total), dtype=parent.dtype)
    return rows.reshape(-1, parent.shape[1]), list(total.values())


def edges_of(parent: _Ints, counts: Sequence[int]) -> tuple[_Ints, _Ints, _Ints]:
    """Return the edges, parents and ranks, and the number of trees with each."""
    size = parent.shape[1]
    is_edge = parent >= 0
    key = (parent * np.int64(size) + np.arange(size))[is_edge]
    amounts = np.repeat(exact(np.array(counts, dtype=np.int64), len(parent)), is_edge.sum(axis=1))
    return total_of_links(key, amounts, size)


def total_of_links(key: _Ints, amounts: _Ints, size: int) -> tuple[_Ints, _Ints, _Ints]:
    """Add up amounts by logical link; return the links, their tails and heads, and the sums.

    Parameters
    ----------
    key : int array
        For each amount, the rank of its link's tail times ``size``, plus that of the head.
    amounts : int array
        Positive.
    size : int
        Number of ranks.
    """
    if size**2 <= 4 * len(key):  # a table of all pairs is faster than sorting
        total = np.zeros(size**2, dtype=amounts.dtype)
        np.add.at(total, key, amounts)
        links = np.flatnonzero(total)
        return links // size, links % size, total[links]
    links, which = np.unique(key, return_inverse=True)
    total = np.zeros(len(links), dtype=amounts.dtype)
    np.add.at(total, which, amounts)
    return links // size, links % size, total


def _times_to_share(many: _Ints, trees: _Ints) -> int:
    """The least multiple of the trees that divides evenly over all equal-cost paths."""
    several = many > 1
    shares = set(zip(many[several].tolist(), trees[several].tolist(), strict=True))
    return math.lcm(*(n // math.gcd(n, count) for n, count in shares))
