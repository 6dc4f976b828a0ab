"""Forests written out from trees with a path for each hop.

Problem: a forest stores the paths of each logical link, which its trees fill in order.
Input:   trees with multiplicities, on a network of merged planes.
Output:  a forest on the network itself, in which every tree has its own paths.
Cost:    linear in the tree edges; planes as :mod:`forestcoll.schedule.transform.plane_routes`.
Source:  ours. Each plane carries a whole part of all loads, so k is multiplied by the least number
         of which every plane's share is whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from forestcoll.forest_over_time.timed_trees import TimedTree
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.schedule.pipelined import loads_of_routes, slowest_of_loads
from forestcoll.schedule.transform.plane_routes import paths_over_planes
from forestcoll.topology.symmetry.parallel_planes import Planes

__all__ = ["written_forest"]


def written_forest(
    planes: Planes, weights: Sequence[int], k: int, trees: Sequence[tuple[TimedTree, int]]
) -> Forest:
    """Return a forest of out-trees.

    Parameters
    ----------
    planes : Planes
        Trees are on ``planes.merged``, the forest on ``planes.topology``.
    trees : sequence of (TimedTree, int)
        With multiplicities, k times its weight at each root.
    """
    whole = math.lcm(*(share.denominator for share in planes.share))
    ordered = sorted(trees, key=lambda one: one[0].root)
    paths: dict[tuple[int, int], list[Path]] = {}
    for tree, count in ordered:
        for rank, above in enumerate(tree.parent):
            if above >= 0:
                of_link = paths.setdefault((above, rank), [])
                nodes, more = tree.paths[rank], count * whole
                if of_link and of_link[-1].nodes == nodes:
                    more += of_link.pop().multiplicity
                of_link.append(Path(nodes, more))
    routes = paths_over_planes(Routes.from_paths(paths), planes)
    congestion, _ = slowest_of_loads(planes.topology, loads_of_routes(planes.topology, routes))
    return Forest(
        topology=planes.topology,
        method="forestcoll",
        k=k * whole,
        congestion=congestion,
        root=np.array([tree.root for tree, _ in ordered], dtype=np.int32),
        multiplicity=np.array([count * whole for _, count in ordered], dtype=np.int64),
        parent=np.array([tree.parent for tree, _ in ordered], dtype=np.int32),
        routes=routes,
        weights=tuple(weights),
    )
