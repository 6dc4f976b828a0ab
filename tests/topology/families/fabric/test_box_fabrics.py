"""Networks between boxes, counted by hand: 8 boxes of 2 NICs of 10 GB/s unless said otherwise."""

from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Topology, TopologyBuilder, load_topology, validate
from forestcoll.topology.families.fabric import join_boxes


def joined(fabric: str, boxes: int = 8, rates: tuple[object, ...] = (10, 10)) -> Topology:
    builder = TopologyBuilder()
    ports = []
    for box in range(boxes):
        gpus = [builder.gpu(f"b{box}.gpu{i}", box, i) for i in range(len(rates))]
        for gpu in gpus[1:]:
            builder.link(gpus[0], gpu, 100)
        ports.append([(gpu, Fraction(str(rate))) for gpu, rate in zip(gpus, rates, strict=True)])
    join_boxes(builder, ports, fabric)
    topology = builder.build(fabric)
    if boxes > 1:
        validate(topology, "allgather", None)
    return topology


def width(topology: Topology, tail: str, head: str) -> Fraction | None:
    place = topology.position_of
    link = topology.link_between.get((place[tail], place[head]))
    return link.bandwidth_gb_s if link else None


def switches(topology: Topology) -> list[str]:
    return [topology.nodes[v].name for v in topology.switches]


def up(topology: Topology, switch: str, *above: str) -> Fraction:
    return sum((width(topology, switch, one) or Fraction(0) for one in above), Fraction(0))


def test_single():
    """One switch; 8 x 2 NICs on it. One box has no network."""
    topology = joined("single")
    assert switches(topology) == ["ib"]
    assert topology.ingress_gb_s[topology.position_of["ib"]] == 160
    assert switches(joined("single", boxes=1)) == []


def test_planes_deal_out_nics_in_turn():
    """NICs 0 and 2 in plane 0, 1 and 3 in plane 1."""
    topology = joined("single:planes=2", rates=(10, 10, 10, 10))
    assert switches(topology) == ["ib0", "ib1"]
    assert width(topology, "b3.gpu2", "ib0") == width(topology, "b3.gpu3", "ib1") == 10
    assert width(topology, "b3.gpu2", "ib1") is None
    leaves = joined("leaf-spine:leaves=2,spines=1,planes=2")
    assert switches(leaves)[:3] == ["plane0.leaf0", "plane0.leaf1", "plane0.spine0"]
    assert len(switches(leaves)) == 6
    with pytest.raises(InvalidTopologyError, match="3 planes, but a box with 2 NICs"):
        joined("single:planes=3")


def test_rails():
    """Rail i has 8 NICs, 80 GB/s; two spines take 40 GB/s each from it."""
    topology = joined("rails:spines=2")
    assert switches(topology) == ["rail0", "rail1", "spine0", "spine1"]
    assert width(topology, "b7.gpu1", "rail1") == 10
    assert width(topology, "b7.gpu1", "rail0") is None
    assert width(topology, "rail1", "spine0") == 40
    assert switches(joined("rails")) == ["rail0", "rail1"]
    with pytest.raises(InvalidTopologyError, match="without spines rails have no uplinks"):
        joined("rails:oversubscription=2")


def test_rails_are_those_of_rail_optimized():
    """The older family by other words: same nodes, same links."""
    words = load_topology("dgx_h100:boxes=4,fabric=rails:spines=2")
    family = load_topology("rail_optimized:boxes=4,spines=2")
    assert {n.name for n in words.nodes} == {n.name for n in family.nodes}
    for link in family.links:
        tail, head = (family.nodes[v].name for v in (link.tail, link.head))
        assert width(words, tail, head) == link.bandwidth_gb_s
    assert len(words.links) == len(family.links)


def test_leaf_spine_by_oversubscription():
    """4 leaves of 2 boxes: 40 GB/s down, 20 up at 2, 10 to each of 2 spines."""
    topology = joined("leaf-spine:leaves=4,spines=2,oversubscription=2")
    assert width(topology, "b0.gpu0", "leaf0") == width(topology, "b1.gpu0", "leaf0") == 10
    assert width(topology, "b2.gpu0", "leaf1") == width(topology, "b7.gpu1", "leaf3") == 10
    assert width(topology, "leaf2", "spine1") == 10
    assert switches(joined("leaf-spine:leaves=1,spines=2")) == ["leaf0"]


def test_leaf_spine_by_uplinks():
    """3 cables of a NIC's 10 GB/s to each spine; or of what is said."""
    assert width(joined("leaf-spine:leaves=4,spines=2,uplinks=3"), "leaf0", "spine1") == 30
    words = "leaf-spine:leaves=4,spines=2,uplinks=3,uplink_bandwidth=12.5"
    assert width(joined(words), "leaf0", "spine1") == Fraction("37.5")
    same = "leaf-spine:leaves=4,spines=2,uplinks=1,oversubscription=2"  # 40 down, 2 x 10 up
    assert width(joined(same), "leaf0", "spine1") == 10


def test_uplinks_and_oversubscription_must_agree():
    with pytest.raises(InvalidTopologyError, match=r"40 GB/s down and 60 GB/s up .* 2/3, not 2"):
        joined("leaf-spine:leaves=4,spines=2,uplinks=3,oversubscription=2")
    with pytest.raises(InvalidTopologyError, match="uplink_bandwidth needs uplinks"):
        joined("leaf-spine:leaves=4,spines=2,uplink_bandwidth=3")
    with pytest.raises(InvalidTopologyError, match="several bandwidths; give uplink_bandwidth"):
        joined("leaf-spine:leaves=4,spines=2,uplinks=3", rates=(10, 20))


def test_blocks_differ_by_one_box_at_most():
    """8 boxes on 3 leaves: 3, 3 and 2; each leaf has as much up as down."""
    topology = joined("leaf-spine:leaves=3,spines=2")
    boxes = [sum(width(topology, f"b{b}.gpu0", f"leaf{i}") is not None for b in range(8))
             for i in range(3)]  # fmt: skip
    assert boxes == [3, 3, 2]
    assert [up(topology, f"leaf{i}", "spine0", "spine1") for i in range(3)] == [60, 60, 40]
    with pytest.raises(InvalidTopologyError, match="9 leaves for 8 boxes"):
        joined("leaf-spine:leaves=9,spines=2")


def test_clos_of_three_layers():
    """2 pods of 2 leaves of 2 boxes: 40 GB/s a leaf, 80 a pod; 80 / 4 to the cores in all.

    A spine has 40 GB/s from its leaves and 10 up, 5 to each of its 2 cores: 0 and 2, or 1 and 3.
    """
    topology = joined("clos:pods=2,leaves=2,spines=2,cores=4,core_oversubscription=4")
    assert len(switches(topology)) == 2 * (2 + 2) + 4
    assert width(topology, "b5.gpu0", "pod1.leaf0") == 10
    assert width(topology, "pod1.leaf0", "pod1.spine0") == 20
    assert width(topology, "pod0.spine1", "core3") == 5
    assert width(topology, "pod0.spine1", "core2") is None
    assert switches(joined("clos:pods=1,leaves=2,spines=1,cores=1"))[-1] == "pod0.spine0"
    with pytest.raises(InvalidTopologyError, match="3 cores for 2 spines"):
        joined("clos:pods=2,leaves=2,spines=2,cores=3")


def test_dragonfly():
    """3 groups of 2 routers, one local link each and one between every two groups."""
    topology = joined("dragonfly:groups=3,routers=2,global_bandwidth=7")
    assert len(switches(topology)) == 6
    between = [e.bandwidth_gb_s for e in topology.links if e.bandwidth_gb_s == 7]
    assert len(between) == 2 * 3
    assert width(topology, "group1.router0", "group1.router1") == 10
    with pytest.raises(InvalidTopologyError, match="reach 2 other groups, not 3"):
        joined("dragonfly:groups=4,routers=2,globals=1")


def test_dragonfly_plus():
    """2 groups of 2 leaves and 2 spines: 40 GB/s a leaf, 20 to each spine; links of spines only."""
    topology = joined("dragonfly-plus:groups=2,leaves=2,spines=2")
    assert width(topology, "group1.leaf0", "group1.spine1") == 20
    assert up(topology, "group0.spine0", "group1.spine0", "group1.spine1") == 10
    assert up(topology, "group0.leaf0", "group1.spine0", "group1.leaf0") == 0


@pytest.mark.parametrize(
    ("words", "routers", "degree"),
    [("hyperx:dims=2x4", 8, 4), ("torus:dims=2x4", 8, 3), ("slim-fly:q=3", 18, 5)],
)
def test_graphs_of_routers(words, routers, degree):
    """Each box on a router of its own; links of a NIC's bandwidth."""
    topology = joined(words)
    assert len(switches(topology)) == routers
    counts = {
        sum(
            e.tail == v and topology.nodes[e.head].name.startswith("router") for e in topology.links
        )
        for v in topology.switches
    }
    assert counts == {degree}
    near = joined(f"{words},link_bandwidth=3")
    assert {e.bandwidth_gb_s for e in near.links} == {3, 10, 100}


def test_sharp_marks_every_switch_between_boxes():
    topology = joined("rails:spines=2,sharp=true")
    assert all(topology.nodes[v].multicast for v in topology.switches)
    assert not any(n.multicast for n in joined("rails:spines=2").nodes)


def test_a_node_with_two_nics_has_both():
    """On one switch they are one link of twice the bandwidth, on rails two links."""
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"gpu{i}", i) for i in range(2)]
    ports = [[(gpu, Fraction(10)), (gpu, Fraction(10))] for gpu in gpus]
    join_boxes(builder, ports, "rails")
    assert width(builder.build("two"), "gpu1", "rail1") == 10
    builder = TopologyBuilder()
    for gpu in range(2):
        builder.gpu(f"gpu{gpu}", gpu)
    join_boxes(builder, ports, "single")
    assert width(builder.build("two"), "gpu1", "ib") == 20


def test_too_large_a_network_is_refused_before_it_is_made():
    with pytest.raises(InvalidTopologyError, match="makes over"):
        joined("hyperx:dims=8192x2")
