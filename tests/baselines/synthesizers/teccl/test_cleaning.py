"""Useless transfers go; what is needed stays, with what it passes on."""

from fractions import Fraction

import pytest

from baselines.synthesizers.teccl.cleaning import needed
from baselines.synthesizers.teccl.instance.commodities import demand_of
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from forestcoll.topology import Topology, load_topology
from tests import hand_networks


def star(switch: str = "[s]") -> Topology:
    return hand_networks.network_of(f"a b c {switch}", "a b c - s", "star")


def network_of(topology: Topology) -> tuple[EpochNetwork, dict[tuple[int, ...], int]]:
    network = EpochNetwork.of(topology, Fraction(1), Fraction(1), "stored")
    return network, {arc.path: i for i, arc in enumerate(network.arcs)}


def test_unwanted_transfers_are_dropped() -> None:
    """A second copy, and one that comes back to where it was."""
    network, arc = network_of(load_topology("ring:nodes=3"))
    demand = demand_of(3, "broadcast", 1, 1000)
    sent = ((0, arc[0, 1], 0), (0, arc[0, 2], 0), (0, arc[1, 2], 1), (0, arc[2, 1], 1))
    assert needed(network, demand, sent) == {sent[0]: None, sent[1]: None}


def test_a_multicast_switch_needs_one_copy() -> None:
    network, arc = network_of(star("[s*]"))
    demand = demand_of(3, "broadcast", 1, 1000)
    into = (0, arc[0, 3], 0)
    out = [(0, arc[3, 1], 1), (0, arc[3, 2], 1)]
    late = (0, arc[0, 3], 1)
    assert needed(network, demand, (into, late, *out)) == {into: None, **dict.fromkeys(out, into)}


def test_a_switch_that_does_not_copy_needs_one_for_each() -> None:
    network, arc = network_of(star())
    demand = demand_of(3, "broadcast", 1, 1000)
    first, second = (0, arc[0, 3], 0), (0, arc[0, 3], 1)
    sent = (first, second, (0, arc[3, 1], 1), (0, arc[3, 2], 2))
    assert needed(network, demand, sent) == {
        first: None,
        second: None,
        sent[2]: first,
        sent[3]: second,
    }
    with pytest.raises(ValueError, match="empty"):  # what no solution has
        needed(network, demand, (first, (0, arc[3, 1], 1), (0, arc[3, 2], 1)))


def test_cycles_of_zero_time_are_left_out() -> None:
    """Plain switches s and t: a solution may go from s to t and back before it goes on to b."""
    net = hand_networks.network_of("a b [s] [t]", "a > s, s - t, s > b, b > a", "round")
    network = EpochNetwork.of(net, Fraction(1), Fraction(1), "through")
    arc = {a.path: i for i, a in enumerate(network.arcs)}
    demand = demand_of(2, "broadcast", 1, 1000)
    for into in ((0, 2), (3, 2)):  # whichever comes first in the numbers
        assert network.arcs[arc[into]].span == 0
    sent = tuple((0, arc[path], 0) for path in ((0, 2), (2, 3), (3, 2), (2, 1)))
    assert needed(network, demand, sent) == {sent[3]: sent[0], sent[0]: None}
    other = EpochNetwork(
        network.topology, network.epoch_us, tuple(reversed(network.arcs)), network.groups
    )
    turned = tuple((0, len(network.arcs) - 1 - i, epoch) for _, i, epoch in sent)
    assert needed(other, demand, turned) == {turned[3]: turned[0], turned[0]: None}


def test_a_switch_forwards_the_copy_of_a_gpu_first() -> None:
    """A chunk goes to b over s and to c over t; that s and t exchange it as well serves nobody."""
    net = hand_networks.network_of("a b c [s] [t]", "s - t, a > s t, s > b, t > c", "crossed")
    network = EpochNetwork.of(net, Fraction(1), Fraction(1), "through")
    arc = {a.path: i for i, a in enumerate(network.arcs)}
    demand = demand_of(3, "broadcast", 1, 1000)
    sent = tuple((0, arc[a.path], 0) for a in network.arcs)
    into, out = {s: (0, arc[0, s], 0) for s in (3, 4)}, {(3, 1): 3, (4, 2): 4}
    expected = {(0, arc[path], 0): into[s] for path, s in out.items()}
    assert needed(network, demand, sent) == expected | dict.fromkeys(into.values())
