"""Regular networks, counted by hand."""

from fractions import Fraction

import networkx as nx
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology, validate
from forestcoll.topology.families.fabrics import (
    complete,
    fat_tree,
    hypercube,
    rail_optimized,
    ring,
    torus,
)


def test_ring_by_hand():
    """5 GPUs: 10 arcs of 3 GB/s both ways, 5 one way."""
    both, one = ring(5, 3), ring(5, 3, bidirectional=False)
    assert (len(both.links), len(one.links)) == (10, 5)
    assert set(both.ingress_gb_s) == {Fraction(6)}
    assert set(one.ingress_gb_s) == {Fraction(3)}


def test_a_ring_of_two_has_one_link_each_way():
    for bidirectional in (True, False):
        assert set(ring(2, 3, bidirectional).egress_gb_s) == {Fraction(3)}


def test_torus_by_hand():
    """4 x 3: every GPU has 4 neighbours, 12 x 4 arcs."""
    topology = torus((4, 3), 2)
    assert (topology.num_compute, len(topology.links)) == (12, 48)
    assert set(topology.ingress_gb_s) == {Fraction(8)}
    assert (topology.position_of["gpu0.0"], topology.position_of["gpu3.2"]) == (0, 11)


def test_a_host_limits_all_links_of_its_gpu_each_way():
    """Figure 11 of the BFB paper: on 3 x 3 x 2 five links of 25 Gb/s a GPU, 100 Gb/s a host."""
    network = load_topology("torus:dims=3x3x2,bandwidth=25/8,host_bandwidth=25/2")
    assert len(network.shared) == 2 * 18
    limits = {group.name: group for group in network.shared}
    gpu = network.nodes.index(next(n for n in network.nodes if n.name == "gpu0.0.0"))
    assert [tail for tail, _ in limits["gpu0.0.0 out"].links] == [gpu] * 5
    assert [head for _, head in limits["gpu0.0.0 in"].links] == [gpu] * 5
    assert limits["gpu0.0.0 in"].bandwidth_gb_s == Fraction(25, 2)
    assert load_topology("torus:dims=3x3x2").shared == ()
    assert load_topology("torus:dims=1x1,host_bandwidth=1").shared == ()


def test_a_torus_without_wrap_is_a_mesh():
    """4 x 3 mesh: 3 x 3 + 4 x 2 = 17 edges; the corner has 2."""
    topology = torus((4, 3), wrap=False)
    assert len(topology.links) == 2 * 17
    assert topology.ingress_gb_s[0] == 2


@pytest.mark.parametrize("wrap", [True, False])
def test_a_dimension_of_length_two_has_one_link_and_of_length_one_none(wrap):
    """2 x 2 is a square of unit links, 4 edges; 2 x 1 x 1 is a single pair."""
    square = torus((2, 2), wrap=wrap)
    assert len(square.links) == 8
    assert {e.bandwidth_gb_s for e in square.links} == {Fraction(1)}
    pair = torus((2, 1, 1), wrap=wrap)
    assert [(e.tail, e.head, e.bandwidth_gb_s) for e in pair.links] == [(0, 1, 1), (1, 0, 1)]


def test_torus_is_the_product_of_cycles():
    """Networkx builds the same 3 x 4 x 5 graph by other means."""
    ours = torus((3, 4, 5)).to_networkx().to_undirected()
    assert nx.is_isomorphic(ours, nx.grid_graph((3, 4, 5), periodic=True))


def test_hypercube_by_hand():
    """2^4 GPUs of degree 4, the same graph as a 2 x 2 x 2 x 2 torus."""
    topology = hypercube(4, "12.5")
    assert (topology.num_compute, len(topology.links)) == (16, 64)
    assert set(topology.ingress_gb_s) == {Fraction(50)}
    same = torus((2, 2, 2, 2), "12.5")
    assert [(e.tail, e.head) for e in same.links] == [(e.tail, e.head) for e in topology.links]


def test_complete_by_hand():
    topology = complete(5, "12.5")
    assert len(topology.links) == 20
    assert set(topology.ingress_gb_s) == {Fraction(50)}


def test_fat_tree_by_hand():
    """4 leaves x 6 GPUs at 10 GB/s, 2:1: 30 up from a leaf, 10 to each of 3 spines."""
    topology = fat_tree(4, 6, 3, oversubscription=2, bandwidth=10)
    assert (topology.num_compute, len(topology.switches)) == (24, 7)
    assert len(topology.links) == 2 * (24 + 12)
    leaf, spine = topology.position_of["leaf2"], topology.position_of["spine1"]
    assert topology.link_between[leaf, spine].bandwidth_gb_s == 10
    assert topology.ingress_gb_s[leaf] == 60 + 30
    assert topology.ingress_gb_s[spine] == 40


def test_fat_tree_uplinks_are_exact():
    """1 x 2 GB/s over 3 spines is 2/3 GB/s each."""
    topology = fat_tree(2, 2, 3)
    spine = topology.position_of["spine0"]
    assert topology.ingress_gb_s[spine] == Fraction(4, 3)


def test_one_leaf_has_no_spines():
    assert len(fat_tree(1, 4, 2).switches) == 1


def test_rail_optimized_by_hand():
    """4 boxes x 8 GPUs: GPU 3 of every box, and no other, is on rail 3 at 50 GB/s."""
    topology = rail_optimized(4)
    assert (topology.num_compute, len(topology.switches)) == (32, 4 + 8)
    rail = topology.position_of["rail3"]
    on_rail = [topology.nodes[e.tail].name for e in topology.links if e.head == rail]
    assert on_rail == ["b0.gpu3", "b1.gpu3", "b2.gpu3", "b3.gpu3"]
    assert {topology.ingress_gb_s[v] for v in topology.compute} == {Fraction(500)}


def test_rails_may_be_joined_by_spines():
    """A rail has 4 x 50 down, hence 100 up to each of 2 spines."""
    topology = rail_optimized(4, spines=2)
    rail, spine = topology.position_of["rail3"], topology.position_of["spine1"]
    assert topology.link_between[rail, spine].bandwidth_gb_s == 100
    assert topology.ingress_gb_s[spine] == 800


def test_rails_are_left_out_with_one_box():
    assert [node.name for node in rail_optimized(1, spines=2).nodes if node.is_switch] == [
        "b0.nvswitch"
    ]


@pytest.mark.parametrize(
    "spec",
    [
        "ring:nodes=7",
        "ring:nodes=2,bidirectional=false",
        "torus:dims=3x2x1x4",
        "torus:dims=5,wrap=false",
        "hypercube:dimension=3",
        "complete:nodes=2",
        "fat_tree:leaves=3,hosts=2,spines=2,oversubscription=3/2",
        "rail_optimized:boxes=3,gpus_per_box=4,spines=1",
    ],
)
def test_fabrics_validate_and_are_named_by_their_specification(spec):
    topology = load_topology(spec)
    validate(topology, "allreduce")
    assert load_topology(topology.name) == topology


def test_values_are_checked_in_python_too():
    with pytest.raises(InvalidTopologyError, match=r"torus: dims is \(4, 0\); it must be"):
        torus((4, 0))
    with pytest.raises(InvalidTopologyError, match=r"complete: bandwidth is 0\.3\d+; it must be"):
        complete(4, 1 / 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidTopologyError, match="ring: nodes is True"):
        ring(True)


def test_a_torus_wraps_in_those_dimensions_that_are_asked() -> None:
    """3 x 4: rows of a mesh have 3 links, columns of a ring 3: 3 * 3 + 4 * 3 = 21 links."""
    half = torus((3, 4), wrap=(True, False))
    assert len(half.links) == 2 * 21
    ends = {(half.nodes[link.tail].name, half.nodes[link.head].name) for link in half.links}
    assert ("gpu0.0", "gpu2.0") in ends
    assert ("gpu0.0", "gpu0.3") not in ends
    other = load_topology("torus:dims=4x3,wrap=false,true")
    assert len(other.links) == 2 * 21
    assert (half.name, other.name) == (
        "torus:dims=3x4,wrap=true,false",
        "torus:dims=4x3,wrap=false,true",
    )


def test_a_wrap_for_each_dimension_is_the_product_of_lines_and_rings() -> None:
    """A link for a link; the same word for all is what the word alone is."""
    half = load_topology("torus:dims=3x4,wrap=true,false")
    product = load_topology("cartesian_product:of=(ring:nodes=3)(torus:dims=4,wrap=false)")
    assert set(half.links) == set(product.links)
    for word in ("true", "false"):
        each, all_of_them = (
            load_topology(f"torus:dims=3x4x2,wrap={text}") for text in (",".join([word] * 3), word)
        )
        assert each.links == all_of_them.links


def test_a_wrap_for_other_dimensions_is_refused() -> None:
    for spec in ("torus:dims=3x4,wrap=true,false,true", "torus:dims=3,wrap=true,false"):
        with pytest.raises(InvalidTopologyError, match=r"torus: wrap is for \d dimensions"):
            load_topology(spec)


def test_h800_rails_by_hand():
    """A rail-optimized network with 200 GB/s to the NVSwitch and 50 to each rail."""
    topology = load_topology("hgx_h800:boxes=4")
    same = load_topology("rail_optimized:boxes=4,nvswitch_bandwidth=200")
    assert (topology.nodes, topology.links) == (same.nodes, same.links)
    assert {topology.ingress_gb_s[v] for v in topology.compute} == {Fraction(250)}
