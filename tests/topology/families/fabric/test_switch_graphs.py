"""Graphs of switches, counted by hand."""

from collections import Counter

import networkx as nx
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.families.fabric.switch_graphs import (
    global_pairs,
    hyperx_pairs,
    slim_fly_pairs,
    torus_pairs,
)


@pytest.mark.parametrize(
    ("q", "delta"), [(3, -1), (4, 0), (5, 1), (7, -1), (8, 0), (9, 1), (11, -1), (13, 1)]
)
def test_slim_fly_has_the_degree_and_diameter_of_the_paper(q, delta):
    """2 q^2 nodes, each of degree (3 q - delta) / 2; every two within two hops."""
    pairs = list(slim_fly_pairs(q))
    graph = nx.Graph(pairs)
    assert len(graph) == 2 * q * q
    assert len(pairs) == len(graph.edges) == q * q * (3 * q - delta) // 2
    assert {degree for _, degree in graph.degree()} == {(3 * q - delta) // 2}
    assert nx.diameter(graph) == 2


def test_slim_fly_of_five_is_the_hoffman_singleton_graph():
    """50 nodes of degree 7 with no cycle below 5: there is only one such graph."""
    graph = nx.Graph(list(slim_fly_pairs(5)))
    assert nx.girth(graph) == 5
    assert nx.is_isomorphic(graph, nx.hoffman_singleton_graph())


@pytest.mark.parametrize("q", [2, 6, 12])
def test_slim_fly_needs_a_prime_power(q):
    with pytest.raises(InvalidTopologyError, match=f"q is {q}; it must be a prime power"):
        list(slim_fly_pairs(q))


@pytest.mark.parametrize(
    ("groups", "routers", "links"), [(3, 2, 1), (9, 4, 2), (4, 3, 2), (2, 4, 3)]
)
def test_every_two_groups_have_equally_many_links(groups, routers, links):
    """As many rounds as the ports allow: 4 groups of 6 ports have two links a pair."""
    pairs = list(global_pairs(groups, routers, links))
    each = routers * links // (groups - 1)
    between = Counter((one[0], other[0]) for one, other in pairs)
    assert set(between.values()) == {each}
    assert len(between) == groups * (groups - 1) // 2
    ports = Counter(end for pair in pairs for end in pair)
    assert max(ports.values()) <= links
    assert sum(ports.values()) == groups * each * (groups - 1)


def test_a_dragonfly_without_ports_to_spare_uses_them_all():
    """9 groups of 4 routers with 2 global links each: the 72 ends of Kim et al.'s figure 5."""
    ports = Counter(end for pair in global_pairs(9, 4, 2) for end in pair)
    assert set(ports.values()) == {2}
    assert len(ports) == 36


def test_too_few_ports_are_refused():
    with pytest.raises(InvalidTopologyError, match="reach 2 other groups, not 3"):
        list(global_pairs(4, 2, 1))


def test_hyperx_is_a_product_of_complete_graphs():
    graph = nx.Graph(list(hyperx_pairs((2, 3, 4))))
    parts = [nx.complete_graph(n) for n in (2, 3, 4)]
    product = nx.cartesian_product(nx.cartesian_product(parts[0], parts[1]), parts[2])
    assert nx.is_isomorphic(graph, product)
    assert {degree for _, degree in graph.degree()} == {1 + 2 + 3}


@pytest.mark.parametrize("dims", [(4, 4), (3, 4, 5), (2, 4), (1, 5)])
def test_torus_is_a_product_of_rings(dims):
    """A dimension of 2 has one link."""
    pairs = list(torus_pairs(dims))
    assert len(pairs) == len({frozenset(pair) for pair in pairs})
    expected = nx.grid_graph(dims[::-1], periodic=[n > 2 for n in reversed(dims)])
    assert nx.is_isomorphic(nx.Graph(pairs), expected)


def test_wrap_for_each_dimension():
    """3 x 3, the second dimension open: 3 rings of 3 and 3 lines of 2 links."""
    assert len(list(torus_pairs((3, 3), (True, False)))) == 9 + 6
    assert len(list(torus_pairs((3, 3), False))) == 12
    with pytest.raises(InvalidTopologyError, match="wrap is for 3 dimensions and dims for 2"):
        list(torus_pairs((3, 3), (True, True, False)))
