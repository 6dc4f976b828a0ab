"""The graph of a network: names, order, capacities in whole numbers, directions."""

from __future__ import annotations

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Node, NodeKind, Topology, load_topology
from forestcoll.topology.families.machines import mi250


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
