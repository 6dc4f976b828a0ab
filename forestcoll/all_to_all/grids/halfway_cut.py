"""The cuts halfway between neighbours, which bound all-to-alls on grids.

Problem: a good bound on the rate without a program.
Input:   a multicommodity flow problem.
Output:  0 or 1 as the price of every link, of the cut that proves the least rate.
Cost:    one search from every node; then links times nodes and links.
Source:  ours. The set of a link u to v has the nodes nearer to u than to v, in hops. On meshes,
         rings of even length, hypercubes and their products these sets are halves of a dimension
         (D. Z. Djokovic, Distance-preserving subgraphs of hypercubes, 1973). Any set proves a
         bound, so a dead link cannot make it wrong.
"""

from __future__ import annotations

import numpy as np

from forestcoll.all_to_all.flow_problem import FlowProblem
from forestcoll.solver.linear_program import Vector
from forestcoll.topology.shortest_paths import distances

__all__ = ["halfway_cut"]


def halfway_cut(demands: FlowProblem) -> Vector:
    """Return the price of each link, and then of each shared capacity: 1 on the binding cut.

    All 0 if no such cut has anything to carry.
    """
    nodes = np.arange(len(demands.topology.nodes))
    one = np.ones(len(demands.tail))
    hops = distances(len(nodes), demands.tail, demands.head, one, nodes)
    near = hops[demands.tail] < hops[demands.head]  # a row for each link, a column for each node
    amount = near[:, demands.sources].astype(np.float64) @ demands.amount
    wanted = (amount * ~near).sum(axis=1)
    crossing = near[:, demands.tail] & ~near[:, demands.head]
    most = np.divide(
        crossing @ demands.bandwidth, wanted, out=np.full(len(near), np.inf), where=wanted > 0
    )
    best = int(most.argmin())
    price = crossing[best] & np.isfinite(most[best])
    return np.append(price.astype(np.float64), np.zeros(len(demands.limit)))
