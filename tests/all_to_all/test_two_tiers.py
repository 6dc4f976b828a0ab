"""Boxes and hubs: what is recognised, whatever nodes are called, and what is not."""

from fractions import Fraction

import pytest

from forestcoll.all_to_all.two_tiers import Port, two_tiers
from forestcoll.topology import Topology, group, load_topology
from forestcoll.topology.symmetry.parallel_planes import merged_planes
from tests.hand_networks import network_of

TWO_BOXES = network_of(
    "g0..3 [v] [w] [hub]", "g0 g1 - v: 9, g2 g3 - w: 9, g0 g1 g2 - hub: 2, w - hub: 5", "two boxes"
)
"""GPUs 0 to 3, v is 4, w is 5, the hub is 6; w has an uplink, and g3 no NIC."""


def test_two_boxes_by_hand() -> None:
    found = two_tiers(TWO_BOXES)
    assert found is not None
    assert found.box == (0, 0, 1, 1)
    assert found.switch == (4, 5)
    two, five = Fraction(2), Fraction(5)
    assert found.ports == (
        (Port(0, 6, two, two), Port(1, 6, two, two)),
        (Port(2, 6, two, two), Port(5, 6, five, five)),
    )
    assert [found.nodes_of(box) for box in (0, 1)] == [[0, 1, 4], [2, 3, 5]]


def test_gpus_at_one_switch_are_boxes_of_their_own() -> None:
    found = two_tiers(network_of("g0..2 [s]", "g0 g1 - s, g2 > s: 3", "star"))
    assert found is not None
    assert (found.box, found.switch) == ((0, 1, 2), (-1, -1, -1))
    assert found.ports[2] == (Port(2, 3, Fraction(3), Fraction(0)),)


def test_idle_gpus_are_ports_of_their_box() -> None:
    """Of each box g1 and g3 only forward; they belong to the cuts, and bring their NIC."""
    found = two_tiers(group(TWO_BOXES, ["g0", "g2"]))
    assert found is not None
    assert (found.box, found.switch) == ((0, 1), (4, 5))
    assert [port.node for port in found.ports[0]] == [0, 1]
    assert [found.nodes_of(box) for box in (0, 1)] == [[0, 1, 4], [2, 3, 5]]


def test_a_box_without_a_gpu_of_the_group_is_none() -> None:
    whole = load_topology("dgx_a100:boxes=3")
    names = [f"b{box}.gpu{i}" for box in (0, 2) for i in range(8)]
    found = two_tiers(merged_planes(group(whole, names)).merged)
    assert found is not None
    assert found.box == (0,) * 8 + (1,) * 8
    assert len(found.ports) == 2


def test_nics_between_a_box_and_a_hub_are_its_ports() -> None:
    network = network_of(
        "g0..3 [v] [w] [n] [m] [hub]",
        "g0 g1 - v: 9, g2 g3 - w: 9, v - n: 4, w - m: 4, n m - hub: 2",
        "NICs",
    )
    found = two_tiers(network)
    assert found is not None
    assert [[port.node for port in ports] for ports in found.ports] == [[6], [7]]
    assert found.nodes_of(0) == [0, 1, 4, 6]


def test_a_hub_that_only_one_box_reaches_is_inside_it() -> None:
    """Rail 1 of two boxes, one of whose NICs at it is dead."""
    whole = load_topology("rail_optimized:boxes=2,gpus_per_box=2")
    found = two_tiers(merged_planes(whole.without("b0.gpu1 - rail1")).merged)
    assert found is not None
    assert [len(ports) for ports in found.ports] == [1, 1]


OTHERS = {
    "no switch": load_topology("ring:nodes=4"),
    "links between GPUs": TWO_BOXES.with_links({"g0 - g1": 3}),
    "hubs in a row": load_topology("fat_tree:leaves=2,hosts=2,spines=1").with_links(
        {"spine0 - leaf0": 1}
    ).without("leaf1 - spine0").with_links({"leaf1 - leaf0": 2}),
    "a shared capacity": TWO_BOXES.with_shared("bus", ["g0 - v"], 3),
    "a GPU without a NIC that cannot send to its switch": TWO_BOXES.without("g3 -> w"),
    "a NIC that cannot hear its switch": network_of(
        "g0..3 [v] [w] [n] [hub]",
        "g0 g1 - v: 9, g2 g3 - w: 9, v > n: 4, n - hub: 2, w - hub: 2",
        "half a NIC",
    ),
    "PCIe switches": load_topology("dgx_a100:boxes=2,nics=nodes"),
    "boxes linked to each other": TWO_BOXES.with_links({"v - w": 1}),
}  # fmt: skip


def test_gpus_with_ports_may_lack_one_way_to_their_switch() -> None:
    """Rank 0 cannot send to v, rank 3 cannot receive from w; both have a port to the hub."""
    network = network_of(
        "g0..3 [v] [w] [hub]", "g0 g1 - v: 9, g2 g3 - w: 9, g0 g1 g2 g3 - hub: 2", "one way"
    )
    found = two_tiers(network.without("g0 -> v", "w -> g3"))
    assert found is not None
    assert (found.no_uplink, found.no_downlink) == ({0}, {3})
    assert found.box == (0, 0, 1, 1)
    whole = two_tiers(network)
    assert whole is not None
    assert (whole.no_uplink, whole.no_downlink) == (set(), set())


@pytest.mark.parametrize("name", OTHERS)
def test_other_networks_are_left_to_the_program(name: str) -> None:
    assert two_tiers(merged_planes(OTHERS[name]).merged) is None


def test_the_order_of_nodes_does_not_matter() -> None:
    back = Topology(
        "reversed",
        TWO_BOXES.nodes[::-1],
        tuple(
            type(link)(6 - link.tail, 6 - link.head, link.bandwidth_gb_s, link.latency_us)
            for link in TWO_BOXES.links
        ),
    )
    found = two_tiers(back)
    assert found is not None
    assert found.box == (0, 0, 1, 1)
    assert sorted(map(len, found.ports)) == [2, 2]
    assert {frozenset(back.nodes[v].name for v in found.nodes_of(box)) for box in (0, 1)} == {
        frozenset({"g0", "g1", "v"}),
        frozenset({"g2", "g3", "w"}),
    }
