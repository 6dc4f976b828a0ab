"""Random regular graphs: regular, connected, the same for a seed, and expanding."""

import re
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology
from forestcoll.topology.families.expanders import random_regular
from forestcoll.topology.families.fabrics import complete
from tests.topology.families.graphs import degrees, digraph, pairs


@pytest.mark.parametrize(
    ("nodes", "degree"), [(4, 3), (6, 3), (7, 4), (20, 9), (20, 10), (64, 60), (500, 4)]
)
@pytest.mark.parametrize("seed", range(3))
def test_random_regular_graphs_are_simple_regular_and_connected(nodes, degree, seed):
    topology = random_regular(nodes, degree, seed)
    links = pairs(topology)
    assert degrees(topology) == {Fraction(degree)}
    assert len(links) == nodes * degree
    assert {(v, u) for u, v in links} == links
    assert nx.is_strongly_connected(digraph(topology))


def test_a_seed_is_one_graph_everywhere():
    """Pinned, so that a networkx that draws otherwise is noticed."""
    topology = load_topology("random_regular:nodes=10,degree=3,seed=1")
    assert sorted((u, v) for u, v in pairs(topology) if u < v) == [
        *((0, 4), (0, 6), (0, 8), (1, 2), (1, 6), (1, 7), (2, 6), (2, 8)),
        *((3, 4), (3, 5), (3, 9), (4, 8), (5, 7), (5, 9), (7, 9)),
    ]
    assert topology == random_regular(10, 3, 1)
    assert topology.links != random_regular(10, 3, 2).links
    assert random_regular(10, 3).links == random_regular(10, 3, 0).links


def test_only_connected_graphs_are_taken(monkeypatch):
    """The first draw falls apart into two complete networks of four; the second is taken."""
    whole = nx.random_regular_graph(3, 8, 5)
    drawn = iter([nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(4)), whole])
    monkeypatch.setattr(nx, "random_regular_graph", lambda *_: next(drawn))
    assert nx.utils.graphs_equal(digraph(random_regular(8, 3)).to_undirected(), whole)


def test_all_other_gpus_as_neighbours_is_complete():
    assert random_regular(9, 8, 3).links == complete(9).links


@pytest.mark.parametrize("seed", range(4))
def test_random_regular_graphs_expand(seed):
    """Friedman: the second eigenvalue is about 2 sqrt(d - 1) = 3.46; a 15 x 20 torus has 3.9."""
    matrix = nx.to_numpy_array(digraph(random_regular(300, 4, seed)))
    values = np.linalg.eigvalsh(matrix)
    assert max(values[-2], -values[0]) < 3.6


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("random_regular:nodes=5,degree=5", "degree is 5; it must be less than the nodes, 5"),
        ("random_regular:nodes=7,degree=3", "half a link left over; make one of the two even"),
        ("random_regular:nodes=8,degree=2", "degree is '2'; it must be a whole number from 3"),
        ("random_regular:nodes=8,degree=3,seed=-1", "seed is '-1'; it must be a whole number"),
    ],
)
def test_impossible_networks_are_refused(spec, fault):
    with pytest.raises(InvalidTopologyError, match=re.escape(fault)):
        load_topology(spec)
