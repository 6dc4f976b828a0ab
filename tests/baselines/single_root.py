"""What the tests of single-root packings have in common: a DGX-1, max-flows, spoilt schedules."""

from collections.abc import Callable
from fractions import Fraction

import networkx as nx

from forestcoll.schedule import Allreduce, Forest, verify
from forestcoll.topology import Topology, TopologyBuilder
from tests.schedule.mutations_of import forests as spoil

__all__ = ["ROOTED_MUTATIONS", "dgx1", "least_max_flow", "phases", "verified"]

ROOTED_MUTATIONS: dict[Callable[[Forest], Forest], str] = {
    spoil.dropped_edge: r"^tree 0, rooted at \S+: \S+ has no parent",
    spoil.cycle: r"(\S+) -> \S+ -> \1 is a cycle",
    spoil.own_parent: r"(\S+) -> \1 is a cycle",
    spoil.swapped_parent: r"has no physical path|its paths carry|no tree uses it",
    spoil.parent_of_root: r"^tree 0, rooted at \S+: the root has the parent",
    spoil.wrong_multiplicity: r"rooted at \S+ add up to \d+; they must add up to",
    spoil.no_multiplicity: r"^tree \d+, rooted at \S+: multiplicity is 0",
    spoil.wrong_k: r"rooted at \S+ add up to \d+; they must add up to",
    spoil.doubled_trees: r"^link \S+ -> \S+ is overloaded: \d+ trees over",
    spoil.broken_path: r"^path .* ends at \S+; it must end at",
    spoil.wrong_start: r"^path .* starts at \S+; it must start at",
    spoil.dead_link: r"^path .* hops from \S+ to \S+, but .* has no such link",
    spoil.path_through_gpu: r"^path .* passes through \S+, which is a GPU",
    spoil.wrong_path_multiplicity: r"carries \d+ trees, but its paths carry \d+",
    spoil.no_path_multiplicity: r"^path .*: multiplicity is 0",
    spoil.missing_route: r"^tree \d+, .*: the edge \S+ -> \S+ has no physical path",
}
"""Faults that a broadcast can have, whose trees have one root and claim no optimum."""


def dgx1() -> Topology:
    """DGX-1 with V100s: NVLinks of 25 GB/s, one or two between GPUs, six at each.

    As nvidia-smi shows them (NV1, NV2); the double ones make a ring, 0 3 2 1 5 6 7 4.
    """
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"gpu{i}", box=0, index=i) for i in range(8)]
    for a, b in ((0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (4, 7), (5, 6), (6, 7)):
        builder.link(gpus[a], gpus[b], 50)
    for a, b in ((0, 1), (0, 2), (1, 3), (2, 6), (3, 7), (4, 5), (4, 6), (5, 7)):
        builder.link(gpus[a], gpus[b], 25)
    return builder.build("dgx1")


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
