"""Topologies built by naming things."""

from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Link, Node, NodeKind, TopologyBuilder, load_topology
from forestcoll.topology.builder import expect_size


def test_a_link_is_two_arcs_and_an_arc_is_one():
    """gpu0 <-> switch at 12.5 is two links, switch -> gpu1 one: three in all."""
    builder = TopologyBuilder()
    gpu0, gpu1 = builder.gpu("gpu0", box=1, index=0), builder.gpu("gpu1")
    switch = builder.switch("switch", multicast=True)
    builder.link(gpu0, switch, "12.5", latency="1/3")
    builder.arc(switch, gpu1, 7)
    topology = builder.build("three links")
    assert topology.nodes == (
        Node("gpu0", NodeKind.COMPUTE, 1, 0),
        Node("gpu1", NodeKind.COMPUTE),
        Node("switch", NodeKind.SWITCH, multicast=True),
    )
    assert topology.links == (
        Link(0, 2, Fraction(25, 2), Fraction(1, 3)),
        Link(2, 0, Fraction(25, 2), Fraction(1, 3)),
        Link(2, 1, Fraction(7)),
    )


def test_parallel_links_add_up():
    """Two cables of 25 GB/s between the same switches are one link of 50 GB/s each way."""
    builder = TopologyBuilder()
    for name in ("a", "b"):
        builder.switch(name)
    builder.link("a", "b", 25, latency=1)
    builder.link("b", "a", 25, latency=2)
    links = builder.build("two cables").links
    assert links == (Link(0, 1, Fraction(50), Fraction(2)), Link(1, 0, Fraction(50), Fraction(2)))


def test_an_unknown_name_is_refused_with_the_nearest_one():
    builder = TopologyBuilder()
    builder.gpu("gpu0")
    with pytest.raises(InvalidTopologyError, match=r"'gpu9'; did you mean 'gpu0'\?"):
        builder.link("gpu0", "gpu9", 1)


def test_a_name_given_twice_is_refused():
    builder = TopologyBuilder()
    builder.gpu("gpu0")
    with pytest.raises(InvalidTopologyError, match="two nodes are named 'gpu0'"):
        builder.switch("gpu0")


def test_a_short_float_is_the_decimal_and_others_are_refused_with_a_hint():
    """0.1 is a tenth; the sum of it and 0.2 is no decimal that anybody wrote."""
    builder = TopologyBuilder()
    builder.gpu("a"), builder.gpu("b")
    builder.link("a", "b", 0.1)
    assert builder.build("pair").links[0].bandwidth_gb_s == Fraction(1, 10)
    with pytest.raises(InvalidTopologyError, match=r'a -> b: bandwidth is the float.*"0\.3"'):
        builder.link("a", "b", 0.1 + 0.2)


def test_networks_that_no_memory_holds_are_refused_before_they_are_made() -> None:
    """A hundred million GPUs, and as many links; a million nodes and 20 million links are made."""
    expect_size(10**6, 2 * 10**7, "it")
    with pytest.raises(InvalidTopologyError, match="it: makes over 1000000 nodes; ask for"):
        expect_size(10**6 + 1, 0, "it")
    with pytest.raises(InvalidTopologyError, match="it: makes over 20000000 links; ask for"):
        expect_size(0, 2 * 10**7 + 1, "it")
    for spec in (
        "rail_optimized:boxes=100000,gpus_per_box=1024",
        "fat_tree:leaves=16384,hosts=1024,spines=1",
        "fat_tree:leaves=16384,hosts=1,spines=1024",
        "nvl72:racks=100000,gpus_per_rack=100000",
        "nvl72:racks=1,gpus_per_rack=1000,planes=100000",
    ):
        with pytest.raises(InvalidTopologyError, match="makes over"):
            load_topology(spec)


def test_the_builder_counts_its_nodes_and_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two nodes and a link both ways, where there may be two of each."""
    monkeypatch.setattr("forestcoll.topology.builder.MOST_NODES", 2)
    monkeypatch.setattr("forestcoll.topology.builder.MOST_LINKS", 2)
    builder = TopologyBuilder()
    builder.link(builder.gpu("a"), builder.gpu("b"), 1)
    with pytest.raises(InvalidTopologyError, match="has over 2 nodes"):
        builder.switch("c")
    with pytest.raises(InvalidTopologyError, match="has over 2 links"):
        builder.arc("a", "b", 1)


def test_a_number_is_checked_however_often_it_comes() -> None:
    """A usual number stays usual by identity; an equal one that is inexact is refused."""
    builder, ten = TopologyBuilder(), Fraction(10)
    a, b, c = (builder.gpu(name) for name in "abc")
    builder.link(a, b, ten)
    builder.link(b, c, ten, ten)
    with pytest.raises(InvalidTopologyError, match="about 1e"):
        builder.link(a, c, Fraction(10**100))
    assert {link.bandwidth_gb_s for link in builder.build("three").links} == {ten}


def test_numbers_of_one_identity_are_those_of_that_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are kept, so that none made later takes the identity of another; only a few are."""
    monkeypatch.setattr("forestcoll.topology.builder._MOST_KNOWN", 3)
    builder = TopologyBuilder()
    for i in range(30):
        builder.gpu(f"gpu{i}")
    for i in range(1, 30):
        builder.link("gpu0", f"gpu{i}", Fraction(i % 7 + 1), Fraction(i % 3, 2))
    made = builder.build("star")
    assert [(link.bandwidth_gb_s, link.latency_us) for link in made.links[:29]] == [
        (Fraction(i % 7 + 1), Fraction(i % 3, 2)) for i in range(1, 30)
    ]
    assert len(builder._alive) == len(builder._kind_of) == 3
    assert len(made.columns.kinds) == 21


def test_the_first_wrong_link_is_named_when_all_are_there() -> None:
    """A link both ways is named in its own direction, in the order in which links were added."""
    builder = TopologyBuilder()
    builder.gpu("a"), builder.gpu("b"), builder.gpu("c")
    builder.arc("a", "b", 1)
    builder.link("c", "b", -1)
    builder.arc("a", "a", 1)
    with pytest.raises(InvalidTopologyError, match="link c -> b: bandwidth is -1 GB/s"):
        builder.build("wrong")


def test_a_builder_without_links_makes_a_network() -> None:
    builder = TopologyBuilder()
    builder.gpu("a")
    assert builder.build("one").links == ()
