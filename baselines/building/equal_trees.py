"""A forest out of trees that carry equal parts, such that equal-cost paths get equal shares.

Problem: a peer says which trees there are; multiply them so that the trees of each logical link
         can be dealt out evenly over its paths.
Input:   each tree as the parent of every rank, and how often it is there.
Output:  a forest whose weights are the trees per root.
Cost:    linear in the edges of the trees.
Source:  none; equal-cost multipath, see ``switch_paths``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np

from baselines.networks.switch_paths import Router, build_forest
from forestcoll.schedule.forest import Forest

__all__ = ["forest_of"]


def forest_of(router: Router, method: str, copies: Mapping[tuple[int, ...], int]) -> Forest:
    """Put trees together.

    Parameters
    ----------
    router : Router
        Of the network whose shortest ways the edges take.
    method : str
    copies : mapping
        By the parent of each rank, -1 at the root, how many such trees there are.
    """
    edges: Counter[tuple[int, int]] = Counter()
    rooted: Counter[int] = Counter()
    for row, count in copies.items():
        rooted[row.index(-1)] += count
        for rank, parent in enumerate(row):
            if parent >= 0:
                edges[parent, rank] += count
    times = _times_to_share(router, edges)
    k = math.gcd(*rooted.values())
    return build_forest(
        router.topology,
        method,
        root=np.array([row.index(-1) for row in copies], dtype=np.int32),
        multiplicity=times * np.array(list(copies.values()), dtype=np.int64),
        parent=np.array(list(copies), dtype=np.int32),
        paths=router.carry({link: times * count for link, count in edges.items()}),
        weights=tuple(rooted[rank] // k for rank in range(router.topology.num_compute)),
    )


def _times_to_share(router: Router, edges: Mapping[tuple[int, int], int]) -> int:
    """The least multiple of the trees that can be dealt out evenly over all equal-cost paths."""
    gpus = router.topology.compute
    ways = (len(router.paths(gpus[tail], gpus[head])) for tail, head in edges)
    return math.lcm(
        *(n // math.gcd(n, count) for n, count in zip(ways, edges.values(), strict=True))
    )
