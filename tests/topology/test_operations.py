"""Line graphs, Cartesian products and expansions by degree, against networkx."""

from fractions import Fraction
from functools import partial

import networkx as nx
import pytest

from forestcoll.errors import InvalidTopologyError, UnsupportedError
from forestcoll.topology import (
    Topology,
    both_ways,
    cartesian_power,
    cartesian_product,
    degree_expansion,
    line_graph,
    load_topology,
)
from tests.random_topologies import random_topology


def plain(topology: Topology) -> nx.DiGraph:
    return nx.DiGraph([(link.tail, link.head) for link in topology.links])


@pytest.mark.parametrize("spec", ["complete:nodes=4", "diamond", "ring:nodes=5"])
def test_line_graph_is_that_of_networkx(spec):
    base = load_topology(spec)
    once = line_graph(base)
    assert nx.is_isomorphic(plain(once), nx.line_graph(plain(base)))
    twice = line_graph(base, 2)
    assert nx.is_isomorphic(plain(twice), nx.line_graph(nx.line_graph(plain(base))))
    assert twice.links == line_graph(once).links


def test_line_graph_keeps_the_degree():
    """d-regular and N nodes make d N nodes, each with the bandwidth it had."""
    made = line_graph(load_topology("complete_bipartite:degree=4,bandwidth=25/2"), 2)
    assert made.num_compute == 4 * 4 * 8
    assert set(made.egress_gb_s) == set(made.ingress_gb_s) == {Fraction(50)}
    assert made.name == "L^2(complete_bipartite:degree=4,bandwidth=12.5)"


def test_kautz_graphs_are_line_graphs_of_complete_ones():
    kautz = load_topology("generalized_kautz:degree=2,nodes=12")
    assert nx.is_isomorphic(plain(line_graph(load_topology("complete:nodes=3"), 2)), plain(kautz))


def test_line_graph_counts_parallel_links():
    """Three GPUs, two links of 1 GB/s from each to the next: six, each linked to two."""
    ring = load_topology("ring:nodes=3,bandwidth=2,bidirectional=false")
    made = line_graph(ring, unit_gb_s=1)
    assert (made.num_compute, len(made.links)) == (6, 12)
    assert set(made.egress_gb_s) == {Fraction(2)}
    assert line_graph(ring).num_compute == 3  # one link of 2 GB/s


def test_line_graph_of_mixed_bandwidths_has_their_common_unit():
    """1 and 3/2 GB/s are 2 and 3 links of 1/2."""
    ring = Topology("ring", load_topology("ring:nodes=2").nodes, ())
    links = load_topology("ring:nodes=2").links
    mixed = Topology(
        ring.name, ring.nodes, (links[0], links[1].__class__(1, 0, Fraction(3, 2), Fraction(4)))
    )
    made = line_graph(mixed)
    assert made.num_compute == 5
    assert {e.bandwidth_gb_s for e in made.links} == {Fraction(1, 2)}
    assert {e.latency_us for e in made.links} == {Fraction(4)}


def test_product_of_rings_is_a_torus():
    ring = {n: load_topology(f"ring:nodes={n}") for n in (3, 4, 5)}
    assert cartesian_product(*ring.values()).links == load_topology("torus:dims=3x4x5").links
    assert cartesian_power(ring[4], 2).links == load_topology("torus:dims=4x4").links


def test_power_of_two_gpus_is_a_hypercube():
    made = cartesian_power(load_topology("complete:nodes=2"), 4)
    assert made.links == load_topology("hypercube:dimension=4").links


def test_product_of_different_graphs_is_that_of_networkx():
    first, second = load_topology("diamond"), load_topology("ring:nodes=3,bidirectional=false")
    made = cartesian_product(first, second)
    assert nx.is_isomorphic(plain(made), nx.cartesian_product(plain(first), plain(second)))
    assert made.name == "diamond [] ring:nodes=3,bidirectional=false"


@pytest.mark.parametrize("spec", ["diamond", "complete:nodes=4", "circulant:nodes=9"])
def test_gpus_of_a_line_graph_are_the_links_in_their_order(spec):
    """GPU i is link i, and is linked to j where link j leaves what link i enters."""
    base = load_topology(spec)
    made = line_graph(base)
    names = [f"gpu{link.tail}>gpu{link.head}" for link in base.links]
    assert [node.name for node in made.nodes] == names
    numbered = list(enumerate(base.links))
    assert set(plain(made).edges) == {
        (i, j) for i, one in numbered for j, other in numbered if one.head == other.tail
    }


def test_parallel_links_stand_one_after_the_other_in_a_line_graph():
    """2 links from 0 to 1, 1 from 1 to 0."""
    pair = load_topology("ring:nodes=2")
    there, back = pair.links
    double = Topology("double", pair.nodes, (there, there, back))
    assert [n.name for n in line_graph(double).nodes] == ["gpu0>gpu1#0", "gpu0>gpu1#1", "gpu1>gpu0"]


def test_gpus_of_a_product_count_the_last_network_fastest():
    """GPU 1 of 2, 2 of 3 and 0 of 4 are GPU (1 x 3 + 2) x 4 + 0 = 20."""
    made = cartesian_product(*(load_topology(f"ring:nodes={n}") for n in (2, 3, 4)))
    assert made.nodes[20].name == "gpu1,gpu2,gpu0"
    assert [node.index for node in made.nodes] == list(range(24))


@pytest.mark.parametrize("spec", ["diamond", "complete:nodes=3", "de_bruijn:degree=2,length=2"])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_degree_expansion_is_the_lexicographic_product_with_unlinked_gpus(spec, times):
    """Networkx has this product; GPU v times + i is copy i of v, named so."""
    base = load_topology(spec)
    made = degree_expansion(base, times)
    empty = nx.empty_graph(times, create_using=nx.DiGraph)
    product = nx.lexicographic_product(plain(base), empty)
    assert set(plain(made).edges) == {
        (times * u + i, times * v + j) for (u, i), (v, j) in product.edges
    }
    assert made.name == f"{spec}*{times}"
    assert made.nodes[2 * times].name == "gpu2#0"
    assert made.egress_gb_s == tuple(times * b for b in base.egress_gb_s for _ in range(times))


def test_degree_expansion_of_a_triangle_is_the_octahedron():
    """K3 * 2, table 5 of the paper: 6 GPUs of degree 4."""
    made = degree_expansion(load_topology("complete:nodes=3"), 2)
    assert nx.is_isomorphic(plain(made), plain(load_topology("distance_regular:graph=octahedron")))


def test_degree_expansions_can_be_expanded_again():
    """By 2 and then by 3 is by 6, GPU by GPU."""
    base = load_topology("diamond")
    twice = degree_expansion(degree_expansion(base, 2), 3)
    assert (twice.links, twice.name) == (degree_expansion(base, 6).links, "diamond*2*3")


def test_links_made_both_ways_double_the_degree():
    """Kautz, of degree 2: 4 links of one unit, or two where there was one each way."""
    base = load_topology("kautz:degree=2,length=2")
    made = both_ways(base)
    assert made.nodes == base.nodes
    assert set(made.egress_gb_s) == set(made.ingress_gb_s) == {Fraction(4)}
    assert made.links == made.reversed().links == both_ways(base.reversed()).links
    mutual = {(u, v) for u, v in plain(base).edges if plain(base).has_edge(v, u)}
    assert {(e.tail, e.head) for e in made.links if e.bandwidth_gb_s == 2} == mutual
    assert made.name == "both_ways(kautz:degree=2,length=2)"


def test_networks_with_switches_are_refused():
    switched = load_topology("dgx_a100:boxes=1")
    expanded = partial(degree_expansion, times=2)
    for operation in (line_graph, cartesian_product, expanded, both_ways):
        with pytest.raises(UnsupportedError, match="switch"):
            operation(switched)


def test_bad_arguments_are_refused():
    ring = load_topology("ring:nodes=3")
    with pytest.raises(InvalidTopologyError, match="1 time or more"):
        line_graph(ring, 0)
    with pytest.raises(InvalidTopologyError, match="no whole multiple"):
        line_graph(ring, unit_gb_s="2/3")
    with pytest.raises(InvalidTopologyError, match="no link"):
        line_graph(Topology("alone", ring.nodes[:1], ()))
    for unit in (0, -1):
        with pytest.raises(InvalidTopologyError, match="must be positive"):
            line_graph(ring, unit_gb_s=unit)
    for number in (0, 1.5, True, "2"):
        with pytest.raises(InvalidTopologyError, match="exponent"):
            cartesian_power(ring, number)
        for operation in (line_graph, degree_expansion):
            with pytest.raises(InvalidTopologyError, match="1 time or more"):
                operation(ring, number)
    arc = Topology("arc", ring.nodes[:2], ring.links[:1])
    assert line_graph(arc).num_compute == 1
    with pytest.raises(InvalidTopologyError, match=r"no link .*fewer times"):
        line_graph(arc, 2)
    with pytest.raises(UnsupportedError, match="at least one"):
        cartesian_product()


def test_any_network_of_gpus_has_a_line_graph_of_its_units():
    """As many GPUs as units of bandwidth, and as many links as pairs of units that meet."""
    for seed in range(12):
        topology = random_topology(seed, "directed")
        if topology.switches:
            continue
        made = line_graph(topology)
        unit = made.links[0].bandwidth_gb_s
        assert made.num_compute == sum(topology.egress_gb_s) / unit
        meet = zip(topology.ingress_gb_s, topology.egress_gb_s, strict=True)
        assert sum(e.bandwidth_gb_s for e in made.links) == sum(i * o for i, o in meet) / unit
