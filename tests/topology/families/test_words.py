"""Graphs of words, counted by hand or against what defines them."""

import re
from fractions import Fraction

import networkx as nx
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import line_graph, load_topology, validate
from forestcoll.topology.families.fabrics import complete
from forestcoll.topology.families.words import (
    de_bruijn,
    generalized_kautz,
    kautz,
    modified_de_bruijn,
)
from tests.topology.families.graphs import degrees, diameter, digraph, pairs


def test_kautz_by_hand():
    """Words ab of three letters: 01, 02, 10, 12, 20, 21; from 01 to 10 and 12."""
    assert {head for tail, head in pairs(kautz(2, 1)) if tail == 0} == {2, 3}


@pytest.mark.parametrize(("degree", "length"), [(2, 1), (2, 3), (3, 2), (4, 2), (1, 3), (5, 1)])
def test_kautz_has_the_size_and_diameter_of_its_words(degree, length):
    """(d + 1) d^n words, more than the 1 + d + ... + d^n that n hops reach, within n + 1 hops."""
    topology = kautz(degree, length)
    assert topology.num_compute == degree**length * (degree + 1)
    assert degrees(topology) == {Fraction(degree)}
    assert len(topology.links) == degree * topology.num_compute
    assert diameter(topology) == (length + 1 if degree > 1 else 1)


@pytest.mark.parametrize(("degree", "length"), [(2, 1), (2, 3), (3, 2)])
def test_kautz_is_the_line_graph_of_complete_networks_link_for_link(degree, length):
    assert kautz(degree, length).links == line_graph(complete(degree + 1), length).links


@pytest.mark.parametrize(("degree", "length"), [(2, 0), (2, 1), (2, 3), (3, 2), (4, 2)])
def test_generalized_kautz_of_that_size_is_kautz(degree, length):
    """d^(n+1) + d^n nodes, other names."""
    other = generalized_kautz(degree, degree ** (length + 1) + degree**length)
    assert nx.is_isomorphic(digraph(kautz(degree, length)), digraph(other))


def test_kautz_of_one_letter_words_is_complete():
    assert kautz(4, 0).links == complete(5).links


def test_generalized_kautz_by_hand():
    """Degree 2, 5 nodes: 0 to -1 = 4 and -2 = 3, 1 to -3 = 2 and -4 = 1, itself, left out."""
    topology = generalized_kautz(2, 5)
    assert {(0, 4), (0, 3), (1, 2)} <= pairs(topology)
    assert (1, 1) not in pairs(topology)
    assert topology.egress_gb_s[1] == 1


@pytest.mark.parametrize(("nodes", "loops"), [(64, 4), (1024, 4), (65, 0), (1025, 0)])
def test_generalized_kautz_has_self_loops_unless_d_plus_1_divides_its_size(nodes, loops):
    """Each self-loop would be a link more: 5 x = -a (mod nodes) for a from 1 to 4."""
    assert len(generalized_kautz(4, nodes).links) == 4 * nodes - loops


def test_generalized_kautz_has_at_most_one_hop_more_than_the_moore_bound_allows():
    """1 + 4 + 16 + 64 + 256 + 1024 >= 1024 nodes within 5 hops, and the diameter is 5."""
    assert diameter(generalized_kautz(4, 1024)) == 5


@pytest.mark.parametrize(("degree", "length"), [(2, 3), (3, 2), (4, 2)])
def test_de_bruijn_is_the_graph_of_words(degree, length):
    """A word's last letters but one are the first of the next word's."""
    words = range(degree**length)
    arcs = {(x, y) for x in words for y in words if x % degree ** (length - 1) == y // degree}
    assert pairs(de_bruijn(degree, length)) == {(x, y) for x, y in arcs if x != y}


@pytest.mark.parametrize(("degree", "length", "hops"), [(2, 3, 3), (2, 4, 4), (3, 2, 3), (4, 2, 3)])
def test_modified_de_bruijn_is_regular_and_has_no_cycle_of_one_or_two(degree, length, hops):
    topology = modified_de_bruijn(degree, length)
    assert set(topology.egress_gb_s) == set(topology.ingress_gb_s) == {Fraction(degree)}
    assert len(topology.links) == degree ** (length + 1)  # none twice
    rest = pairs(topology) & pairs(de_bruijn(degree, length))
    assert not {(x, y) for x, y in rest if (y, x) in rest}
    assert diameter(topology) == hops


@pytest.mark.parametrize(
    ("degree", "length", "same"), [(2, 3, True), (2, 4, False), (3, 2, False), (4, 2, False)]
)
def test_modified_de_bruijn_is_reverse_symmetric_as_the_paper_states(degree, length, same):
    """Table 9: of the four only the smallest is reverse-symmetric."""
    graph = digraph(modified_de_bruijn(degree, length))
    assert nx.is_isomorphic(graph, graph.reverse()) == same


@pytest.mark.parametrize(
    "spec",
    [
        "kautz:degree=3,length=2",
        "generalized_kautz:degree=4,nodes=64",
        "de_bruijn:degree=4,length=2",
        "modified_de_bruijn:degree=2,length=4",
    ],
)
def test_every_network_allows_an_allgather(spec):
    validate(load_topology(spec))


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("kautz:degree=9,length=5", "kautz: words of 6 out of 10 letters make 590490 GPUs"),
        ("kautz:degree=0,length=2", "degree is '0'; it must be a whole number from 1"),
        ("generalized_kautz:degree=4,nodes=4", "more than the degree, 4"),
        ("de_bruijn:degree=10,length=6", "1000000 GPUs"),
        ("modified_de_bruijn:degree=2,length=1", "from 2 to 16"),
    ],
)
def test_impossible_networks_are_refused(spec, fault):
    with pytest.raises(InvalidTopologyError, match=re.escape(fault)):
        load_topology(spec)
