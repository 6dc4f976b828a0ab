"""Forests from trees of equal parts, with equal shares on equal-cost paths.

Problem: a baseline defines trees; multiply them so that the trees of each logical link divide
         evenly over its paths.
Output:  a forest whose weights are the trees per root.
Source:  none; equal-cost multipath, see ``switch_paths``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from baselines.networks.switch_paths import Router, build_forest, dealt
from forestcoll.errors import VerificationError
from forestcoll.schedule.exact_sums import exact
from forestcoll.schedule.forest import Forest

__all__ = ["edges_of", "forest_of"]


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
    edges = edges_of(parent, counts)
    rooted: Counter[int] = Counter()
    for row, count in zip((parent < 0).argmax(axis=1).tolist(), counts, strict=True):
        rooted[row] += count
    ways = tuple(router.ways(edges))
    times = _times_to_share(ways, edges)
    k = math.gcd(*rooted.values())
    return build_forest(
        router.topology,
        method,
        root=(parent < 0).argmax(axis=1).astype(np.int32),
        multiplicity=times * np.array(counts, dtype=np.int64),
        parent=parent,
        paths=dealt({link: times * count for link, count in edges.items()}, ways),
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


def edges_of(parent: npt.NDArray[np.int32], counts: Sequence[int]) -> dict[tuple[int, int], int]:
    """Number of trees with each edge (parent, rank), in order of first occurrence."""
    size = parent.shape[1]
    tree, rank = np.nonzero(parent >= 0)
    key = parent[tree, rank].astype(np.int64) * size + rank
    amounts = exact(np.array(counts, dtype=np.int64), len(parent))[tree]
    if size**2 <= 4 * len(key):  # a table of all pairs is faster than sorting
        place = np.full(size**2, -1)
        place[key[::-1]] = np.arange(len(key))[::-1]
        first = np.flatnonzero(place[key] == np.arange(len(key)))
        total = np.zeros(size**2, dtype=amounts.dtype)
        np.add.at(total, key, amounts)
        links, total = key[first], total[key[first]]
    else:
        links, first, which = np.unique(key, return_index=True, return_inverse=True)
        total = np.zeros(len(links), dtype=amounts.dtype)
        np.add.at(total, which, amounts)
        order = np.argsort(first)
        links, total = links[order], total[order]
    ends = (divmod(link, size) for link in links.tolist())
    return dict(zip(ends, total.tolist(), strict=True))


def _times_to_share(ways: Iterable[Sequence[object]], edges: Mapping[tuple[int, int], int]) -> int:
    """The least multiple of the trees that divides evenly over all equal-cost paths."""
    shares = {(len(paths), count) for paths, count in zip(ways, edges.values(), strict=True)}
    return math.lcm(*(n // math.gcd(n, count) for n, count in shares))
