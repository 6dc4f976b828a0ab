"""Shared capacities: what is refused, and that every change of a network carries them over."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError, UnsupportedError
from forestcoll.in_network.multicast_nodes import as_gpus
from forestcoll.topology import (
    SharedCapacity,
    Topology,
    TopologyBuilder,
    cartesian_product,
    group,
    load_topology,
)
from forestcoll.topology.differences import differences
from forestcoll.topology.shared_capacity import kept, moved

RING = load_topology("ring:nodes=4")


def shared(*groups: tuple[str, tuple[tuple[int, int], ...], object], of: Topology = RING):
    return replace(of, shared=tuple(SharedCapacity(*one) for one in groups))  # type: ignore[arg-type]


def bus() -> Topology:
    """Two boxes of two GPUs on a switch; "in" limits what enters box 0, "wire" is half-duplex."""
    builder = TopologyBuilder()
    switch = builder.switch("switch")
    builder.share("in", "switch -> b0.*", 3)
    for box in range(2):
        for i in range(2):
            builder.link(builder.gpu(f"b{box}.gpu{i}", box=box, index=i), switch, 2)
    builder.share("wire", ["b1.gpu0 - switch"], "5/2")
    return builder.build("bus")


def test_groups_are_sorted_without_repeats_and_exact():
    """Of links given twice and out of order one each stays; 0.1 is one tenth exactly."""
    made = shared(("b", ((1, 0), (0, 1), (1, 0)), 2), ("a", ((2, 3),), 0.1))
    assert made.shared == (
        SharedCapacity("a", ((2, 3),), Fraction(1, 10)),
        SharedCapacity("b", ((0, 1), (1, 0)), Fraction(2)),
    )


def test_the_builder_names_links_by_patterns_even_those_that_come_later():
    assert bus().shared == (
        SharedCapacity("in", ((0, 1), (0, 2)), Fraction(3)),
        SharedCapacity("wire", ((0, 3), (3, 0)), Fraction(5, 2)),
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (("", ((0, 1),), 1), "a shared capacity is named ''"),
        ((" a", ((0, 1),), 1), "named ' a'; use printable"),
        (("a\nb", ((0, 1),), 1), "use printable characters"),
        (("gpu0", ((0, 1),), 1), "'gpu0' has the name of a node; rename"),
        (("a", (), 1), "'a' has no links; name at least one"),
        (("a", ((0, 2),), 1), "gpu0 -> gpu2, which is not there; add the link"),
        (("a", ((0, 4),), 1), "names node 4, but the nodes are 0 to 3"),
        (("a", ((0, -1),), 1), "names node -1"),
        (("a", ((0, 1),), 0), "bandwidth is 0 GB/s; it must be positive"),
        (("a", ((0, 1),), -2), "bandwidth is -2 GB/s"),
        (("a", ((0, 1),), "x"), "'a': bandwidth"),
    ],
)
def test_invalid_capacities_are_named_with_the_remedy(entry, message):
    with pytest.raises(InvalidTopologyError, match=message):
        shared(entry)


def test_two_groups_of_one_name_are_refused():
    with pytest.raises(InvalidTopologyError, match="two shared capacities are named 'a'; rename"):
        shared(("a", ((0, 1),), 1), ("a", ((1, 2),), 1))


def test_a_limit_beyond_its_links_stays():
    """Links of 1 + 1 GB/s below a limit of 9 GB/s: no harm, and the file says what it said."""
    assert shared(("a", ((0, 1), (1, 0)), 9)).shared[0].bandwidth_gb_s == 9


def test_a_pattern_without_links_is_refused_with_the_name_of_the_group():
    with pytest.raises(InvalidTopologyError, match="shared capacity 'x': 'gpu0 -> gpu2' names no"):
        RING.with_shared("x", "gpu0 -> gpu2", 1)


def test_a_node_stands_for_all_its_links():
    assert RING.with_shared("x", "gpu0", 1).shared[0].links == ((0, 1), (0, 3), (1, 0), (3, 0))


def test_parallel_links_merge_and_the_group_holds_the_sum():
    builder = TopologyBuilder()
    a, b = builder.gpu("a"), builder.gpu("b")
    builder.arc(a, b, 1)
    builder.arc(a, b, 1)
    builder.share("x", "a -> b", 1)
    made = builder.build("pair")
    assert made.links[0].bandwidth_gb_s == 2
    assert made.shared[0].links == ((0, 1),)


def test_reversed_links_have_reversed_groups():
    """Switch -> GPUs 1 and 2 becomes GPUs -> switch; twice reversed is the network itself."""
    assert bus().reversed().shared[0] == SharedCapacity("in", ((1, 0), (2, 0)), Fraction(3))
    assert bus().reversed().reversed() == bus()
    assert bus().reversed() != bus()


def test_equality_sees_groups():
    assert bus() != replace(bus(), shared=bus().shared[:1])
    assert bus() == replace(bus(), shared=bus().shared[::-1])


def test_relabelling_moves_the_links_of_groups():
    order = [4, 3, 2, 1, 0]
    made = bus().relabelled(order)
    assert made.shared[0].links == ((4, 2), (4, 3))
    assert made.relabelled(order) == bus()


def test_a_dead_node_leaves_groups_of_the_other_links_at_their_capacity():
    """Without b0.gpu0 the group "in" has one link left; without b1.gpu0 the wire is gone."""
    left = bus().without("b0.gpu0")
    assert left.shared == (
        SharedCapacity("in", ((0, 1),), Fraction(3)),
        SharedCapacity("wire", ((0, 2), (2, 0)), Fraction(5, 2)),
    )
    assert [one.name for one in bus().without("b1.gpu0").shared] == ["in"]
    one_way = bus().without("b1.gpu0 -> switch").shared[1]
    assert one_way == SharedCapacity("wire", ((0, 3),), Fraction(5, 2))


def test_a_group_is_left_out_or_scaled_by_its_name():
    assert bus().without("wire").shared == bus().shared[:1]
    assert bus().without("wire").links == bus().links
    faster = bus().scaled("wire", 2)
    assert faster.shared[1].bandwidth_gb_s == 5
    assert (faster.shared[0], faster.links) == (bus().shared[0], bus().links)
    assert faster.name == "bus with wire x 2"


def test_faster_links_leave_the_limit_as_it_is():
    assert bus().scaled("*", 2).shared == bus().shared
    assert bus().scaled("b1.gpu0", 2).shared == bus().shared


def test_more_links_groups_and_switches_that_copy_keep_the_limits():
    assert bus().with_links({"b0.gpu0 - b0.gpu1": 1}).shared == bus().shared
    assert group(bus(), ["b0.gpu0", "b1.gpu0"]).shared == bus().shared
    copying = replace(bus(), nodes=(replace(bus().nodes[0], multicast=True), *bus().nodes[1:]))
    assert as_gpus(copying).shared == bus().shared


def test_networks_made_of_networks_refuse_groups():
    with pytest.raises(UnsupportedError, match="shared capacity, 'x'"):
        cartesian_product(RING.with_shared("x", "gpu0", 1))


def test_networkx_round_trip():
    assert Topology.from_networkx(bus().to_networkx()) == bus()
    assert "shared" not in RING.to_networkx().graph


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (7, "shared is 7; it must be a list"),
        ([3], "shared holds 3; it must be"),
        ([{"name": "x"}], "it must be a list of dicts"),
        ([{"name": "x", "links": [1], "bandwidth_gb_s": 1}], "it must be"),
        (
            [{"name": "x", "links": [("gpu0", "z")], "bandwidth_gb_s": 1}],
            "'z', which is not a node",
        ),
    ],
)
def test_a_graph_with_another_form_of_groups_is_refused(entries, message):
    graph = RING.to_networkx()
    graph.graph["shared"] = entries
    with pytest.raises(InvalidTopologyError, match=message):
        Topology.from_networkx(graph)


def test_groups_without_links_are_dropped():
    group = SharedCapacity("a", ((0, 1), (1, 2)), Fraction(1))
    assert kept([group], {(1, 2)}) == (replace(group, links=((1, 2),)),)
    assert kept([group], set()) == ()
    assert moved([group], {1: 0, 2: 1}) == (replace(group, links=((0, 1),)),)


def test_differences_name_groups():
    other = shared(("a", ((0, 1),), 1), ("b", ((1, 0),), 1), ("c", ((1, 2),), 1))
    mine = shared(("a", ((0, 1),), 2), ("b", ((1, 2),), 1), ("d", ((1, 2),), 1))
    assert list(differences(mine, other)) == [
        "shared capacity a has 1 GB/s, not 2",
        "shared capacity b is of other links",
        "shared capacity d is missing",
        "shared capacity c is new",
    ]


def test_in_brief():
    assert bus().in_a_line() == "bus: 4 GPUs, 1 switch, 8 links, 2 shared capacities"
    assert list(map(str, bus().in_a_table()["shared capacities"])) == [
        "in: 3 GB/s shared by 2 links from switch switch to box 0 (2 GPUs)",
        "wire: 2.5 GB/s shared by 2 links among GPU 0 of box 1 and switch switch",
    ]
    assert RING.in_a_table()["shared capacities"] is None
