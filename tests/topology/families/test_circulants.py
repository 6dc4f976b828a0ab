"""Circulants, counted by hand or against networkx."""

import itertools
import math
import re
from fractions import Fraction

import networkx as nx
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology, validate
from forestcoll.topology.families.circulants import (
    bi_ring,
    circulant,
    directed_circulant,
    uni_ring,
)
from forestcoll.topology.families.fabrics import complete, ring
from tests.topology.families.graphs import degrees, diameter, digraph, pairs


def test_circulant_is_networkx_circulant():
    ours = circulant(16, (3, 4)).to_networkx().to_undirected()
    assert nx.is_isomorphic(ours, nx.circulant_graph(16, [3, 4]))


def test_an_offset_given_twice_doubles_the_bandwidth():
    assert {e.bandwidth_gb_s for e in circulant(5, (1, 1)).links} == {Fraction(2)}
    assert {e.bandwidth_gb_s for e in circulant(5, (1, 4)).links} == {Fraction(2)}


def test_half_the_nodes_is_one_link_of_each_gpu():
    """8 GPUs, one on, one back and one across: degree 3, as networkx has it."""
    topology = circulant(8, (1, 4))
    assert degrees(topology) == {Fraction(3)}
    assert {e.bandwidth_gb_s for e in topology.links} == {Fraction(1)}
    assert nx.is_isomorphic(digraph(topology).to_undirected(), nx.circulant_graph(8, [1, 4]))
    assert degrees(circulant(8, (1, 4, 4))) == {Fraction(4)}


def best_of_two_offsets(nodes: int) -> int:
    """Return the least diameter of all connected circulants of two offsets below half."""
    found = []
    for a, b in itertools.combinations(range(1, (nodes + 1) // 2), 2):
        reached, hops = {0}, 0
        while len(reached) < nodes and hops < nodes:
            reached |= {(i + s) % nodes for i in reached for s in (a, -a, b, -b)}
            hops += 1
        found.append(hops)
    return min(found)


@pytest.mark.parametrize("nodes", range(7, 33))
def test_theorem_22_the_default_offsets_have_the_least_diameter_of_any_two(nodes):
    """It is m, by trying all pairs of offsets."""
    topology = circulant(nodes)
    m = math.ceil((-1 + math.sqrt(2 * nodes - 1)) / 2)
    assert topology.links == circulant(nodes, (m, m + 1)).links
    assert diameter(topology) == m == best_of_two_offsets(nodes)
    assert degrees(topology) == {Fraction(4)}


@pytest.mark.parametrize("hops", [1, 2, 3, 21])
def test_the_default_offsets_grow_when_one_more_gpu_is_out_of_reach(hops):
    """Within m hops are 2 m (m + 1) + 1 GPUs: 1, 4 at one hop, 8 at two and so on."""
    most = 2 * hops * (hops + 1) + 1
    if most > 6:
        assert circulant(most).links == circulant(most, (hops, hops + 1)).links
    if most > 5:
        assert circulant(most + 1).links == circulant(most + 1, (hops + 1, hops + 2)).links


def test_links_one_way_lead_on_by_each_offset():
    """Offsets 1, 2 and 5 of 13 GPUs: degree 3, three hops, and no link has one back."""
    topology = circulant(13, (1, 2, 5), bidirectional=False)
    assert pairs(topology) == {(i, (i + a) % 13) for i in range(13) for a in (1, 2, 5)}
    assert degrees(topology) == {Fraction(3)}
    assert diameter(topology) == 3
    assert load_topology(topology.name) == topology
    assert "bidirectional=false" in topology.name
    assert circulant(4, (1, 2, 3), bidirectional=False).links == complete(4).links


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7])
def test_directed_circulant_lacks_the_link_to_the_gpu_before(degree):
    """There are d + 2 GPUs of degree d, two hops apart at most, and turned round the same."""
    topology = directed_circulant(degree)
    everyone = set(itertools.permutations(range(degree + 2), 2))
    assert everyone - pairs(topology) == {(i, (i - 1) % (degree + 2)) for i in range(degree + 2)}
    assert degrees(topology) == {Fraction(degree)}
    assert diameter(topology) == 2
    graph = digraph(topology)
    assert nx.is_isomorphic(graph, graph.reverse())


def test_one_way_ring_of_parallel_links():
    """3 links of 5/2 GB/s from each of 5 GPUs to the next are one of 15/2: 4 hops."""
    topology = uni_ring(3, 5, "2.5")
    assert topology.links == ring(5, "7.5", bidirectional=False).links
    assert (degrees(topology), diameter(topology)) == ({Fraction(15, 2)}, 4)
    assert uni_ring(3, 2).links == ring(2, 3).links


def test_ring_of_parallel_links():
    """2 links of 5/2 GB/s to the next and 2 to the one before: one of 5 each way; 3 hops of 7."""
    topology = bi_ring(4, 7, "2.5")
    assert topology.links == ring(7, 5).links
    assert (degrees(topology), diameter(topology)) == ({Fraction(10)}, 3)


def test_circulant_is_named_by_a_specification():
    assert circulant(16).name == "circulant:nodes=16"
    topology = circulant(16, (3, 4), "12.5")
    assert topology.name == "circulant:nodes=16,offsets=3+4,bandwidth=12.5"
    assert load_topology(topology.name) == topology


@pytest.mark.parametrize(
    "spec",
    [
        "circulant:nodes=16,offsets=3+4",
        "circulant:nodes=7",
        "directed_circulant:degree=3",
        "uni_ring:degree=2,nodes=4",
        "bi_ring:degree=2,nodes=3",
    ],
)
def test_every_network_allows_an_allgather(spec):
    validate(load_topology(spec))


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("circulant:nodes=4,offsets=4", "to itself; leave it out"),
        ("circulant:nodes=12,offsets=4+10", "2 divides the 12 nodes and every offset"),
        ("circulant:nodes=6,offsets=3", "3 parts without links between them; add an offset"),
        ("circulant:nodes=6", "more than 6 nodes, not 6; give offsets, such as offsets=1+2"),
        ("bi_ring:degree=3,nodes=4", "degree is 3; it must be even"),
        ("bi_ring:degree=2,nodes=2", "nodes is '2'; it must be a whole number from 3"),
        ("uni_ring:degree=0,nodes=2", "degree is '0'"),
        ("circulant:nodes=4,offsets=0", "joined by +"),
        ("circulant:nodes=4,offsets=1x2", "joined by +"),
    ],
)
def test_impossible_networks_are_refused(spec, fault):
    with pytest.raises(InvalidTopologyError, match=re.escape(fault)):
        load_topology(spec)
