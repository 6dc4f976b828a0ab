"""Bounds on all-to-alls, by hand and beside the linear program."""

from fractions import Fraction
from itertools import permutations

import networkx as nx
import pytest

from forestcoll.all_to_all.linear_optimum import all_to_all_rate
from forestcoll.problem.all_to_all_bound import AllToAllBound
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology


def singles(topology: Topology) -> list[list[int]]:
    return [[gpu] for gpu in topology.compute]


def test_a_ring_of_five_by_its_hops() -> None:
    """10 links of 1 GB/s; 20 pairs, half of them 1 hop apart and half 2: 30 hops, so f <= 1/3."""
    ring = load_topology("ring:nodes=5")
    bound = AllToAllBound.of_hops(ring, singles(ring))
    assert bound.algbw_gb_s == Fraction(5, 3)
    assert bound.in_words() == "what all hops between GPUs take, by what their links carry"


def test_a_cut_of_a_line_each_way() -> None:
    """On a - b - c with 3 GB/s one way and 1 back a's 2 pairs out share 3, those in share 1."""
    line = network_of("a b c", "a > b: 3, b > a, b > c: 3, c > b", "line")
    out, into = (AllToAllBound.of_cut(line, [0], into=way) for way in (False, True))
    assert (out.algbw_gb_s, into.algbw_gb_s) == (Fraction(9, 2), Fraction(3, 2))
    assert out.in_words() == "what must leave GPU a over 3 GB/s"
    assert into.in_words() == "what must enter GPU a over 1 GB/s"


def test_hops_over_any_number_of_switches_count_once() -> None:
    """GPU a - s - t - b and c at t: 6 pairs, a hop each; 3 GPUs send 1 and get 1 GB/s: f <= 1/2."""
    topology = network_of("a b c [s] [t]", "a - s, s - t, t - b c", "two switches")
    bound = AllToAllBound.of_hops(topology, singles(topology))
    assert bound.algbw_gb_s == 3 * Fraction(1, 2)


def test_hops_between_boxes_are_those_of_their_links() -> None:
    """Two boxes of two GPUs, a link of 1 GB/s each way between: 8 pairs over 2 GB/s, so 1 GB/s."""
    bound = AllToAllBound.of_hops(
        network_of("a b c d", "a - b: 9, b - c, c - d: 9", "boxes"), [[0, 1], [2, 3]]
    )
    assert bound.algbw_gb_s == 1
    assert "2 sets of GPUs" in bound.in_words()


def priced_anew(topology: Topology) -> Fraction:
    """Add a bound by single GPUs up as the formula has it, with networkx's shortest ways."""
    graph = nx.DiGraph()
    offered = Fraction(0)
    for link in topology.links:
        ends = (link.tail, link.head)
        price = sum(not topology.nodes[end].is_switch for end in ends)
        graph.add_edge(*ends, price=price)
        offered += link.bandwidth_gb_s * Fraction(price, 2)
    due = sum(
        nx.dijkstra_path_length(graph, tail, head, weight="price")
        for tail, head in permutations(topology.compute, 2)
    )
    return topology.num_compute * offered / Fraction(due, 2)


@pytest.mark.parametrize("seed", range(12))
def test_no_bound_is_below_the_rate_of_the_program(seed: int) -> None:
    """Whatever network, set and way; and hops cost what the formula says."""
    topology = random_topology(seed, KINDS[seed % len(KINDS)])
    rate = all_to_all_rate(topology, settings=Settings(seconds=20)).rate_gb_s
    by_hops = AllToAllBound.of_hops(topology, singles(topology))
    assert by_hops.algbw_gb_s == priced_anew(topology)
    cuts = [
        AllToAllBound.of_cut(topology, [gpu], into=into)
        for gpu in topology.compute
        for into in (False, True)
    ]
    for bound in (by_hops, *cuts):
        assert float(bound.algbw_gb_s) >= topology.num_compute * rate * (1 - 1e-6)


@pytest.mark.parametrize("into", [True, False])
def test_a_cut_around_two_gpus_counts_all_pairs_across_it(into: bool) -> None:
    """In a ring of ten: 2 x 8 pairs each way share the 4 links around GPUs 1 and 8: 1/4 a pair."""
    ring = load_topology("ring:nodes=10")
    bound = AllToAllBound.of_cut(ring, [8, 1], into=into)
    assert bound.algbw_gb_s == 10 * Fraction(4, 16)
    assert bound.sets == ((1, 8),)
    assert bound.in_words().endswith("over 4 GB/s")
