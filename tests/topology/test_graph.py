"""The graph of a network: names, order, capacities in whole numbers, directions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Link, Node, NodeKind, Topology, load_topology
from forestcoll.topology.families.machines import mi250
from forestcoll.topology.graph import NetworkGraph


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
def test_links_are_the_same_by_columns_and_one_by_one(
    more: tuple[Link, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    links = (*more, *_RIGHT[::-1])
    by_columns = Topology("t", _GPUS, links)
    monkeypatch.setattr(NetworkGraph, "_ordered", lambda *_: None)
    assert by_columns == Topology("t", _GPUS, links)
    assert all(type(link.bandwidth_gb_s) is Fraction for link in by_columns.links)


def test_a_link_of_another_type_becomes_a_link() -> None:
    """A subclass with a field more is written as a plain link, so that equality holds."""

    class Named(Link):
        pass

    made = Topology("t", _GPUS, (Named(0, 2, Fraction(1)), *_RIGHT))
    assert {type(link) for link in made.links} == {Link}
