"""Least-cost paths through switches and GPUs."""

from fractions import Fraction
from itertools import pairwise, permutations

import networkx as nx
import pytest
from hypothesis import given

from baselines import METHODS
from baselines.networks import forwarding
from baselines.networks.forwarding import forwarded
from baselines.networks.switch_paths import MAX_PATHS, Router
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import StepSchedule, cost, verify
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.strategies import topologies


def named(topology: Topology, tail: str, head: str) -> list[list[str]]:
    """The paths between two GPUs by the names of their nodes."""
    pair = tuple(topology.rank_of[topology.position_of[name]] for name in (tail, head))
    ((_, paths),) = forwarded(topology, [(pair[0], pair[1])]).paths().items()
    assert {path.multiplicity for path in paths} == {1}
    return [[topology.nodes[v].name for v in path.nodes] for path in paths]


def time(topology: Topology, nodes: tuple[int, ...]) -> Fraction:
    """The sum of 1 / bandwidth over the links of a path."""
    links = topology.link_between
    return sum((1 / links[hop].bandwidth_gb_s for hop in pairwise(nodes)), Fraction(0))


def test_two_ways_round_a_corner_of_a_torus() -> None:
    """First the row and then the column, or first the column."""
    assert named(load_topology("torus:dims=3x3"), "gpu0.0", "gpu1.1") == [
        ["gpu0.0", "gpu0.1", "gpu1.1"],
        ["gpu0.0", "gpu1.0", "gpu1.1"],
    ]


def test_gpus_of_an_mi250_box_stay_on_xgmi() -> None:
    """At most 3/50 s per GB within a box, which is less than InfiniBand's 2/16 by two hops."""
    topology = load_topology("mi250:boxes=2")
    paths = forwarded(topology, permutations(range(topology.num_compute), 2)).paths()
    nodes, compute = topology.nodes, topology.compute
    for (tail, head), ways in paths.items():
        together = nodes[compute[tail]].box == nodes[compute[head]].box
        for way in ways:
            assert together == all(nodes[v].is_gpu for v in way.nodes)
            took = time(topology, way.nodes)
            assert took <= Fraction(3, 50) if together else took == Fraction(2, 16)


def test_a_rail_is_reached_over_nvlink_on_either_side() -> None:
    """No spine: change the rail first or last, alike."""
    assert named(load_topology("rail_optimized:boxes=2"), "b0.gpu0", "b1.gpu1") == [
        ["b0.gpu0", "b0.nvswitch", "b0.gpu1", "rail1", "b1.gpu1"],
        ["b0.gpu0", "rail0", "b1.gpu0", "b1.nvswitch", "b1.gpu1"],
    ]


def test_bandwidth_comes_before_hops() -> None:
    """1 + 1 hops of 3 GB/s cost 2/3, a link of 1 GB/s costs 1; a link of 3/2 GB/s ties."""
    for width, paths in ((Fraction(1), 1), (Fraction(3, 2), 2), (Fraction(2), 1)):
        net = network_of("a b c", f"b - a c: 3, a - c: {width}", "triangle")
        found = named(net, "a", "c")
        assert len(found) == paths
        assert (["a", "c"] in found) == (width > 1)


@pytest.mark.parametrize(
    "spec",
    [
        "dgx_a100:boxes=2",
        "dgx_a100:boxes=2,nics=nodes",
        "dgx_h100:boxes=4",
        "paper_example",
        "fat_tree:leaves=4,hosts=4,spines=3,oversubscription=2",
    ],
)
def test_boxes_and_trees_are_routed_as_by_hops(spec: str) -> None:
    """Where switches join all GPUs by ports of one kind, the paths are those of the router."""
    topology = load_topology(spec)
    router, compute = Router(topology), topology.compute
    for (tail, head), ways in (
        forwarded(topology, permutations(range(topology.num_compute), 2)).paths().items()
    ):
        assert {way.nodes for way in ways} == set(router.paths(compute[tail], compute[head]))


def test_many_ties_are_cut_evenly() -> None:
    """Opposite corners of an 8 x 8 torus: 4 x 70 paths, of which 16 begin with each first hop."""
    found = named(load_topology("torus:dims=8x8"), "gpu0.0", "gpu4.4")
    assert len({tuple(path) for path in found}) == MAX_PATHS
    first = [path[1] for path in found]
    assert sorted(map(first.count, set(first))) == [16] * 4


@given(topologies())
def test_paths_have_the_cost_of_dijkstra(topology: Topology) -> None:
    """Between all pairs; and there are as many as there are (up to ``MAX_PATHS``), each once."""
    graph = nx.DiGraph()
    for link in topology.links:
        graph.add_edge(link.tail, link.head, time=1 / link.bandwidth_gb_s)
    pairs = list(permutations(range(topology.num_compute), 2))
    found = forwarded(topology, pairs).paths()
    assert sorted(found) == pairs
    for (tail, head), ways in found.items():
        ends = topology.compute[tail], topology.compute[head]
        least = list(nx.all_shortest_paths(graph, *ends, weight="time"))
        nodes = [way.nodes for way in ways]
        assert {time(topology, way) for way in nodes} == {time(topology, tuple(least[0]))}
        assert len(set(nodes)) == len(nodes) == min(len(least), MAX_PATHS)


@pytest.mark.slow
@given(topologies())
def test_the_size_of_blocks_changes_no_path(topology: Topology) -> None:
    """One receiver and one path after the other, or all at once; in any order of the pairs."""
    pairs = list(permutations(range(topology.num_compute), 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forwarding, "_CELLS", 1)
        patch.setattr(forwarding, "_AT_ONCE", 1)
        one_by_one = forwarded(topology, pairs[::-1], direct=True)
    assert forwarded(topology, pairs, direct=True) == one_by_one


def test_next_hops_with_fewer_paths_leave_their_turns_to_others() -> None:
    """Of a, b, d and e, each of which has one path to t, s reaches the first three by way of c."""
    joined = "s - c e: 3, c - a b d: 3, t - a b d: 3, t - e: 3/2"
    assert [way[1:-1] for way in named(network_of("s a b c d e t", joined, "fan"), "s", "t")] == [
        ["c", "a"],
        ["e"],
        ["c", "b"],
        ["c", "d"],
    ]


def test_costs_beyond_64_bits_are_exact() -> None:
    """1 + 1 beside 2 and beside 2 + 1e-30."""
    for more, paths in ((Fraction(0), 2), (Fraction(1, 10**30), 1)):
        links = f"a - b: 1, b - c: 1, a - c: {1 / (2 + more)}"
        assert len(named(network_of("a b c", links, "triangle"), "a", "c")) == paths


def test_a_pair_that_a_link_joins_takes_it_alone_if_asked_to() -> None:
    """A ring of three with wide detours: 1 / 1 by the link, 1/2 + 1/2 round."""
    topology = network_of("a b c", "a - b: 2, b - c: 2, a - c", "triangle")
    ways = [forwarded(topology, [(0, 2)], direct=direct).paths() for direct in (False, True)]
    assert [[len(way.nodes) for way in one[0, 2]] for one in ways] == [[3, 2], [2]]


def test_pairs_without_a_path_are_named() -> None:
    topology = network_of("a b", "a > b", "dead end")
    assert named(topology, "a", "b") == [["a", "b"]]
    with pytest.raises(UnsupportedError, match=r"^unsupported: no path from b to a$"):
        forwarded(topology, [(1, 0)])


@pytest.mark.parametrize(
    ("spec", "method", "collective", "algbw_gb_s"),
    [
        # 16 of 32 shards into each GPU over its NIC of 16 GB/s.
        ("mi250:boxes=2", "direct", "allgather", Fraction(32)),
        # 9 shards x (4 GPUs at one hop + 4 at two) over 36 links: 3 of 9 shards over each.
        ("torus:dims=3x3", "direct", "allgather", Fraction(3)),
        # Distances 1, 1, 2 and 2 over one link each way: 3 shards of 5.
        ("ring:nodes=5", "direct", "allgather", Fraction(5, 3)),
        # One shard of 4 over a link; then two, half each way, past those of the other pair.
        ("ring:nodes=4", "recursive-halving-doubling", "allgather", Fraction(4, 3)),
    ],
)
def test_rates_by_hand(spec: str, method: str, collective: str, algbw_gb_s: Fraction) -> None:
    """GPUs that forward are charged for what passes."""
    schedule = METHODS[method].run(load_topology(spec), collective)
    assert isinstance(schedule, StepSchedule)
    verify(schedule)
    assert cost(schedule).algbw_gb_s == algbw_gb_s
