"""Hamming graphs, twisted hypercubes and twisted tori, against networkx and published facts."""

import itertools
import re
from fractions import Fraction

import networkx as nx
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import cartesian_power, load_topology, validate
from forestcoll.topology.families.fabrics import complete, hypercube
from forestcoll.topology.families.grids import hamming, twisted_hypercube, twisted_torus
from tests.topology.families.graphs import degrees, diameter, digraph, pairs


@pytest.mark.parametrize(("dimensions", "letters"), [(1, 5), (2, 3), (3, 3), (2, 4), (3, 2)])
def test_hamming_graph_is_the_power_of_a_complete_network(dimensions, letters):
    """GPU by GPU, so that a schedule of one is one of the other."""
    made = hamming(dimensions, letters)
    assert made.links == cartesian_power(complete(letters), dimensions).links
    assert degrees(made) == {Fraction(dimensions * (letters - 1))}
    assert (made.num_compute, diameter(made)) == (letters**dimensions, dimensions)


def test_hamming_graph_of_two_letters_is_the_hypercube():
    assert hamming(4, 2).links == hypercube(4).links


def test_twisted_hypercube_by_hand():
    """0 is linked to 2, 3 and 4 in place of 1, 2 and 4."""
    assert {head for tail, head in pairs(twisted_hypercube(3)) if tail == 0} == {2, 3, 4}


@pytest.mark.parametrize("dimension", [3, 4, 5, 6, 7])
def test_twisted_hypercube_has_a_diameter_less_by_one(dimension):
    """The theorem of Esfahanian, Ni and Sagan: as many links, diameter n - 1."""
    twisted, straight = twisted_hypercube(dimension), hypercube(dimension)
    assert degrees(twisted) == {Fraction(dimension)}
    assert len(pairs(twisted) - pairs(straight)) == len(pairs(straight) - pairs(twisted)) == 4
    assert (diameter(twisted), diameter(straight)) == (dimension - 1, dimension)


def test_every_square_of_a_hypercube_can_be_twisted_alike():
    """Another square of 4 dimensions, 5, 7, 15, 13, and the other pair of its links."""
    graph = digraph(hypercube(4)).to_undirected()
    graph.remove_edges_from([(7, 15), (13, 5)])
    graph.add_edges_from([(7, 13), (15, 5)])
    assert nx.is_isomorphic(graph, digraph(twisted_hypercube(4)).to_undirected())


def test_twisted_torus_by_hand():
    """4 x 8: up from (3, 1) is (0, 5), not (0, 1); right of (3, 7) is (3, 0), as ever."""
    topology = twisted_torus((4, 8))
    at = topology.position_of
    assert (at["gpu3.1"], at["gpu0.5"]) in pairs(topology)
    assert (at["gpu3.1"], at["gpu0.1"]) not in pairs(topology)
    assert (at["gpu3.7"], at["gpu3.0"]) in pairs(topology)


@pytest.mark.parametrize(
    ("dims", "hops"),
    [
        ((2, 4), 2),
        ((3, 6), 3),
        ((4, 8), 4),
        ((8, 4), 4),
        ((4, 4, 8), 6),
        ((4, 8, 8), 6),
        ((3, 3, 6), 4),
        ((3, 6, 6), 4),
        ((2, 4, 2), 3),
    ],
)
def test_twisted_tori_of_lengths_k_and_2k_have_the_published_diameters(dims, hops):
    """Of 2 dimensions k, of 3 of them 3 k / 2 rounded down; a torus k x 2k has k + k / 2."""
    topology = twisted_torus(dims)
    assert degrees(topology) == {Fraction(2 * len(dims))}
    assert {e.bandwidth_gb_s for e in topology.links} == {Fraction(1)}
    assert diameter(topology) == hops


def folded(vector: tuple[int, ...], dims: tuple[int, ...], twist: int) -> tuple[int, ...]:
    """Return the place at the end of so many steps along each axis from the first GPU.

    As many steps as a shorter axis is long are ``twist`` steps along each longer one.
    """
    longer = max(dims)
    folds = sum(x // n for x, n in zip(vector, dims, strict=True) if n < longer)
    shifted = (x + twist * folds * (n == longer) for x, n in zip(vector, dims, strict=True))
    return tuple(x % n for x, n in zip(shifted, dims, strict=True))


@pytest.mark.parametrize(
    ("dims", "twist"), [((4, 8), 4), ((3, 5), 2), ((2, 2, 3), 1), ((3, 5, 5), 1)]
)
def test_twisted_torus_is_a_lattice_folded_up(dims, twist):
    """Steps along the axes can be taken in any order, so that all GPUs are alike."""
    graph = digraph(twisted_torus(dims, twist))
    number = {p: i for i, p in enumerate(itertools.product(*map(range, dims)))}
    for place, axis in itertools.product(number, range(len(dims))):
        moved = tuple(x + (i == axis) for i, x in enumerate(place))
        assert graph.has_edge(number[place], number[folded(moved, dims, twist)])
    assert graph.number_of_edges() == 2 * len(dims) * len(graph)


@pytest.mark.parametrize("dims", [(2, 4), (4, 8), (2, 2, 4), (4, 4, 8), (2, 4, 4), (3, 6, 6)])
def test_no_axis_of_a_twisted_torus_is_worse_off(dims):
    """Taking a GPU's steps along other axes instead is a symmetry, for any order of the axes."""
    links = pairs(twisted_torus(dims))
    places = list(itertools.product(*map(range, dims)))
    number = {place: i for i, place in enumerate(places)}
    for axes in itertools.permutations(range(len(dims))):
        to = [number[folded(tuple(p[a] for a in axes), dims, max(dims) // 2)] for p in places]
        assert sorted(to) == list(range(len(places)))
        assert {(to[u], to[v]) for u, v in links} == links


@pytest.mark.parametrize(
    "spec",
    [
        "hamming:dimensions=2,letters=4",
        "twisted_hypercube:dimension=3",
        "twisted_torus:dims=2x4",
        "twisted_torus:dims=3x5,twist=2,bandwidth=12.5",
    ],
)
def test_every_network_allows_an_allgather_and_keeps_its_name(spec):
    topology = load_topology(spec)
    validate(topology)
    assert topology.name == spec


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("hamming:dimensions=4,letters=100", "of 4 out of 100 letters make 100000000 GPUs; at"),
        ("hamming:dimensions=2,letters=1", "letters is '1'; it must be a whole number from 2"),
        ("twisted_hypercube:dimension=2", "dimension is '2'; it must be a whole number from 3"),
        ("twisted_torus:dims=4x4", "dims is 4x4; it must have two different lengths from 2"),
        ("twisted_torus:dims=2x4x8", "two different lengths"),
        ("twisted_torus:dims=1x4", "two different lengths"),
        (
            "twisted_torus:dims=3x5",
            "longer dimension, 5, is not a whole number; give twist, such as",
        ),
        ("twisted_torus:dims=3x5,twist=5", "twist is 5; it must be less than the longer"),
        ("twisted_torus:dims=3x5,twist=0", "from 1 to 100000, or half"),
    ],
)
def test_impossible_networks_are_refused(spec, fault):
    with pytest.raises(InvalidTopologyError, match=re.escape(fault)):
        load_topology(spec)
