"""Path recovery: physical paths of logical links.

Problem: find a path through the switches for every tree on every logical link.
Input:   the topology, the splits that made the logical links, the trees packed into them.
Output:  for each logical link in use, its physical paths with the trees each carries.
Cost:    linear in the splits and the length of the paths.
Source:  ForestColl appendix E.2 (path recovery).
"""

from __future__ import annotations

import numpy as np

from forestcoll.core.edge_splitting import LogicalTopology
from forestcoll.core.problem import Problem
from forestcoll.native import _core
from forestcoll.schedule.factored import Links
from forestcoll.schedule.forest import Routes

__all__ = ["find_routes"]


def find_routes(
    problem: Problem,
    logical: LogicalTopology,
    loads: Links,
) -> Routes:
    """Find physical paths for every logical link that the trees use.

    Parameters
    ----------
    problem : Problem
        The problem from which the splits were made.
    loads : Links
        The trees packed into them.
    """
    tail, head = loads.tail, loads.head
    topology = problem.topology
    links, splits = topology.integer_capacities, logical.splits
    gpus = np.array(topology.compute, dtype=np.int32)
    first_path, multiplicity, first_hop, hop = _core.route_loads(
        len(topology.nodes),
        links.tail,
        links.head,
        problem.capacity,
        splits.via,
        splits.from_node,
        splits.to_node,
        splits.amount,
        gpus.take(tail),  # much faster than gpus[tail], and there are many
        gpus.take(head),
        loads.load,
    )
    return Routes(tail, head, first_path, multiplicity, first_hop, hop)
