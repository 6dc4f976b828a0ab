"""The optimum of any directed network, as a program of flows that states no cut.

Variables: the rate x, what is used of every link, and for each GPU a flow from all roots to it
within that. Links carry their bandwidth at most, shared capacities their limit, and a switch sends
no more than it receives. Solved by scipy's own HiGHS; floats.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from forestcoll.topology import Topology


def optimal_rate(
    topology: Topology, weights: Sequence[int] | None = None, *, reduction: bool = False
) -> float:
    """Return x*, in GB/s per unit of weight."""
    weights = weights or (1,) * topology.num_compute
    rooted = dict(zip(topology.compute, weights, strict=True))
    ends = [(e.tail, e.head)[:: -1 if reduction else 1] for e in topology.links]
    bandwidth = [float(e.bandwidth_gb_s) for e in topology.links]
    links, nodes, sinks = len(ends), len(topology.nodes), topology.compute
    columns = 1 + links * (1 + len(sinks))
    upper: list[tuple[dict[int, float], float]] = []
    equal: list[tuple[dict[int, float], float]] = []
    for switch in topology.switches:
        row: dict[int, float] = {}
        for number, (tail, head) in enumerate(ends):
            if switch in (tail, head):
                row[1 + number] = row.get(1 + number, 0) + (1 if tail == switch else -1)
        upper.append((row, 0.0))
    place = {(e.tail, e.head): number for number, e in enumerate(topology.links)}
    for group in topology.shared:
        held = {1 + place[one]: 1.0 for one in group.links}
        upper.append((held, float(group.bandwidth_gb_s)))
    for order, sink in enumerate(sinks):
        first = 1 + links * (1 + order)
        upper += [({first + i: 1.0, 1 + i: -1.0}, 0.0) for i in range(links)]
        for node in range(nodes):
            if node == sink:
                continue
            row = {}
            for number, (tail, head) in enumerate(ends):
                if node == tail:
                    row[first + number] = 1.0
                elif node == head:
                    row[first + number] = -1.0
            row[0] = -float(rooted.get(node, 0))
            equal.append((row, 0.0))
    cost = np.zeros(columns)
    cost[0] = -1
    bounds = [(0, None), *((0, most) for most in bandwidth), *[(0, None)] * (links * len(sinks))]
    found = linprog(
        cost,
        A_ub=_matrix([row for row, _ in upper], columns),
        b_ub=[side for _, side in upper],
        A_eq=_matrix([row for row, _ in equal], columns),
        b_eq=[side for _, side in equal],
        bounds=bounds,
        method="highs",
    )
    assert found.status == 0, found.message
    return float(found.x[0])


def _matrix(rows: Sequence[dict[int, float]], columns: int) -> sp.csr_matrix:
    matrix = sp.lil_matrix((len(rows), columns))
    for number, row in enumerate(rows):
        for column, value in row.items():
            matrix[number, column] = value
    return matrix.tocsr()
