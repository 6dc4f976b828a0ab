"""The graph of a network: names, order, capacities in whole numbers, directions."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Link, Node, NodeKind, SharedCapacity, Topology, load_topology
from forestcoll.topology.families.machines import mi250
from forestcoll.topology.graph import NetworkGraph
from forestcoll.topology.link_columns import LinkColumns


@pytest.mark.parametrize("name", ["", " a", "a\nb", "a\x00"])
def test_a_name_that_would_break_a_line_is_refused(name):
    with pytest.raises(InvalidTopologyError, match=r"node 0 (is named|has an empty name)"):
        Topology("t", (Node(name, NodeKind.COMPUTE),), ())


def test_a_compute_node_cannot_multicast():
    with pytest.raises(InvalidTopologyError, match="only a switch"):
        Topology("t", (Node("a", NodeKind.COMPUTE, multicast=True),), ())


def test_relabelling_and_scaling_keep_the_network():
    """Reversing the order twice, or doubling and halving, gives the topology back."""
    topology = mi250(2)
    order = range(len(topology.nodes) - 1, -1, -1)
    assert topology.relabelled(order).relabelled(order) == topology
    assert topology.scaled("*", 2).scaled("*", "1/2") == topology


@pytest.mark.parametrize("spec", ["mi250:boxes=2", "dgx_a100:boxes=2"])
def test_capacities_turn_round_as_the_network_does(spec):
    """A one-way link is left out, so that the two directions differ; the order is the network's."""
    topology = load_topology(spec).without("b0.gpu0 -> b0.*", "b1.gpu2 -> ib")
    turned, due = topology.integer_capacities.reversed(), topology.reversed().integer_capacities
    for name in ("tail", "head", "capacity"):
        assert getattr(turned, name).tolist() == getattr(due, name).tolist()
    assert turned.denominator == due.denominator
    assert turned.tail.tolist() != topology.integer_capacities.tail.tolist()


def test_links_of_the_reversed_network_have_a_place_here() -> None:
    """In a network that is its own reverse, that is the place of the reverse of each link."""
    for net in (
        load_topology("dgx_h100:boxes=2"),
        load_topology("ring:nodes=4,bidirectional=false"),
    ):
        (tail, head), reversed_net = net.link_ends, net.reversed()
        assert reversed_net.link_ends[0].tolist() == head[net.reversed_places].tolist()
        assert reversed_net.link_ends[1].tolist() == tail[net.reversed_places].tolist()


def test_a_network_like_another_has_links_in_either_form() -> None:
    net = load_topology("dgx_h100:boxes=2")
    one = net.like("other", net.nodes, net.links, shared=())
    two = net.like("other", net.nodes, net.columns, shared=())
    assert one == two == replace(net, name="other")
    assert one.links == two.links


def test_equal_networks_have_one_hash():
    """A network and its copy by another way, links in another order, are one key."""
    topology = mi250(2)
    again = Topology(topology.name, topology.nodes, topology.links[::-1])
    assert again == topology
    assert len({topology, again}) == 1
    assert len({topology, topology.scaled("*", 2)}) == 2


def test_names_are_by_position():
    assert load_topology("ring:nodes=3").node_names == ["gpu0", "gpu1", "gpu2"]


_GPUS = tuple(Node(name, NodeKind.COMPUTE) for name in "abcd")
_RIGHT = tuple(Link(i, (i + 1) % 4, Fraction(2), Fraction(1)) for i in range(4))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Link(0, 4, Fraction(1)), "a link names node 4, but the nodes are 0 to 3"),
        (Link(-1, 0, Fraction(1)), "a link names node -1,"),
        (Link(2, 2, Fraction(1)), "link c -> c joins a node to itself"),
        (Link(0, 2, Fraction(0)), "link a -> c: bandwidth is 0 GB/s; it must be positive"),
        (Link(0, 2, Fraction(10**100)), r"link a -> c: bandwidth is about 1e\+100"),
        (Link(0, 2, Fraction(1), Fraction(-1)), "link a -> c: latency is -1 us"),
        (Link(0, 2, Fraction(1), Fraction(10**100)), r"link a -> c: latency is about 1e\+100"),
    ],
)
def test_one_wrong_link_among_right_ones_is_named(wrong: Link, message: str) -> None:
    """The check by columns leaves a network with such a link to the check link by link."""
    with pytest.raises(InvalidTopologyError, match=message):
        Topology("t", _GPUS, (*_RIGHT, wrong))


@pytest.mark.parametrize(
    "more",
    [
        (),
        (Link(2, 0, Fraction(3)), Link(0, 2, Fraction(3))),
        (Link(0, 1, Fraction(3), Fraction(4)),),  # parallel to another
        (Link(2, 0, 3), Link(1, 0, "2.5", 0.5)),  # type: ignore[arg-type]  # exact when checked
        (Link(np.int64(3), True, Fraction(1)),),  # numbers of other types
    ],
)
def test_links_are_the_same_at_once_and_one_by_one(
    more: tuple[Link, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    links = (*more, *_RIGHT[::-1])
    at_once = Topology("t", _GPUS, links)
    monkeypatch.setattr(NetworkGraph, "_are_usual", lambda *_: False)
    assert at_once == Topology("t", _GPUS, links)
    assert all(type(link.bandwidth_gb_s) is Fraction for link in at_once.links)
    assert at_once.links == at_once.columns.links()


@pytest.mark.parametrize("more", [(), _RIGHT[:2], (Link(3, 1, Fraction(5, 2), Fraction(2)),)])
def test_a_network_is_the_same_from_objects_and_from_columns(more: tuple[Link, ...]) -> None:
    """With more links that are parallel to others, and with none of these."""
    links = (*more, *_RIGHT[::-1])
    shared = (SharedCapacity("limit", ((1, 2), (0, 1)), Fraction(3)),)
    given = Topology("t", _GPUS, links, shared)
    made = Topology.of_columns("t", _GPUS, LinkColumns.of(links), shared)
    assert "links" not in vars(made)
    assert made == given
    assert "links" not in vars(made)  # comparing makes no objects
    assert made.links == given.links
    assert made.links is made.links
    assert made.shared_places == given.shared_places != ()
    assert (made.num_links, hash(made)) == (len(given.links), hash(given))
    for network in (made, given):
        assert pickle.loads(pickle.dumps(network)) == copy.deepcopy(network) == given


@pytest.mark.parametrize(
    ("name", "nodes", "link", "message"),
    [
        ("", _GPUS, _RIGHT[0], "the topology has an empty name"),
        ("t", (*_GPUS, _GPUS[1]), _RIGHT[0], "two nodes are named 'b'"),
        ("t", _GPUS, Link(0, 4, Fraction(1)), "a link names node 4, but the nodes are 0 to 3"),
        ("t", _GPUS, Link(-1, 0, Fraction(1)), "a link names node -1,"),
        ("t", _GPUS, Link(2, 2, Fraction(1)), "link c -> c joins a node to itself"),
        ("t", _GPUS, Link(0, 2, Fraction(0)), "link a -> c: bandwidth is 0 GB/s; it must be pos"),
        ("t", _GPUS, Link(0, 2, Fraction(10**100)), r"link a -> c: bandwidth is about 1e\+100"),
        ("t", _GPUS, Link(0, 2, Fraction(1), Fraction(-1)), "link a -> c: latency is -1 us"),
    ],
)
def test_columns_are_checked_as_objects_are(
    name: str, nodes: tuple[Node, ...], link: Link, message: str
) -> None:
    with pytest.raises(InvalidTopologyError, match=message):
        Topology.of_columns(name, nodes, LinkColumns.of((*_RIGHT, link)))


def test_shared_capacities_of_columns_are_checked() -> None:
    limit = SharedCapacity("limit", ((0, 2),), Fraction(3))
    with pytest.raises(InvalidTopologyError, match="names the link a -> c, which is not there"):
        Topology.of_columns("t", _GPUS, LinkColumns.of(_RIGHT), (limit,))


def test_only_links_appear_by_themselves() -> None:
    with pytest.raises(AttributeError, match="'Topology' object has no attribute 'link'"):
        mi250(1).link  # type: ignore[attr-defined]  # noqa: B018


def test_networks_differ_in_any_part() -> None:
    base = Topology("t", _GPUS, _RIGHT)
    limit = SharedCapacity("limit", ((0, 1),), Fraction(3))
    assert base == replace(base)
    assert base != "t"
    for other in (
        replace(base, name="u"),
        replace(base, nodes=(*_GPUS[:3], Node("e", NodeKind.COMPUTE))),
        replace(base, links=_RIGHT[:3]),
        replace(base, shared=(limit,)),
    ):
        assert base != other


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Node("", NodeKind.COMPUTE), "node 1 has an empty name"),
        (Node("b\n", NodeKind.COMPUTE), "node 1 is named"),
        (Node(" b", NodeKind.COMPUTE), "node 1 is named"),
        (Node("d", NodeKind.COMPUTE), "two nodes are named 'd'"),
        (Node("b", NodeKind.RELAY, multicast=True), "relay node 'b' is marked multicast"),
        (Node("b", NodeKind.COMPUTE, stores=True), "compute node 'b' is marked stores"),
    ],
)
def test_one_wrong_node_among_right_ones_is_named(wrong: Node, message: str) -> None:
    """The quick check of all nodes leaves such a network to the check node by node."""
    with pytest.raises(InvalidTopologyError, match=message):
        Topology("t", (_GPUS[0], wrong, *_GPUS[2:]), ())


def test_a_link_of_another_type_becomes_a_link() -> None:
    """A subclass with a field more is written as a plain link, so that equality holds."""

    class Named(Link):
        pass

    made = Topology("t", _GPUS, (Named(0, 2, Fraction(1)), *_RIGHT))
    assert {type(link) for link in made.links} == {Link}
