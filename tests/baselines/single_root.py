"""What the tests of single-root packings have in common: max-flows, proofs of both phases."""

from fractions import Fraction

import networkx as nx

from forestcoll.schedule import Allreduce, Forest, verify
from forestcoll.topology import Topology


def least_max_flow(topology: Topology, root: int) -> Fraction:
    """The best rate of a broadcast: the least max-flow from a rank to another, by networkx."""
    links = topology.integer_capacities
    graph: nx.DiGraph[int] = nx.DiGraph()
    for tail, head, capacity in zip(
        links.tail.tolist(), links.head.tolist(), links.capacity.tolist(), strict=True
    ):
        graph.add_edge(tail, head, capacity=capacity)
    start = topology.compute[root]
    flows = (nx.maximum_flow_value(graph, start, v) for v in topology.compute if v != start)
    return Fraction(min(flows), links.denominator)


def phases(schedule: Forest | Allreduce[Forest]) -> tuple[Forest, ...]:
    return schedule.phases if isinstance(schedule, Allreduce) else (schedule,)


def verified(schedule: object, method: str) -> Forest | Allreduce[Forest]:
    """Check that a schedule does what it says, by that method, at the congestion of its loads."""
    assert isinstance(schedule, Forest | Allreduce)
    verify(schedule)
    for phase in phases(schedule):
        assert phase.method == method
        assert phase.optimum is None
        assert phase.congestion == verify(phase).congestion
    return schedule
