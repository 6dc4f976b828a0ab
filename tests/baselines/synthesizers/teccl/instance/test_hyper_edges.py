"""Links in the place of switches."""

import pytest

from baselines.synthesizers.teccl.instance.hyper_edges import without_switches
from forestcoll.errors import UnsupportedError
from forestcoll.topology import load_topology
from tests.hand_networks import network_of


def test_every_pair_at_a_switch_that_no_link_joins_gets_a_path() -> None:
    """Of three, two have a link of their own and need none."""
    topology = network_of("a b c [s]", "a b c - s, a - b", "star")
    ways, sharing = without_switches(topology)
    assert sorted(path for path, _ in ways) == [
        *((0, 1), (0, 3, 2), (1, 0), (1, 3, 2), (2, 3, 0), (2, 3, 1)),
    ]
    for link, members in sharing.items():
        ends = topology.links[link].tail, topology.links[link].head
        names = tuple(topology.nodes[end].name for end in ends)
        over = {("c", "s"): 2, ("s", "c"): 2}.get(names, 1)
        assert len(members) == over


def test_switches_in_a_row_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="stand for single switches"):
        without_switches(load_topology("fat_tree:leaves=2,hosts=2,spines=2"))


def test_switches_that_some_reach_sooner_than_others_are_refused() -> None:
    """What is sent in one epoch would meet what was sent before on the links out of the switch."""
    with pytest.raises(UnsupportedError, match="all links have one latency, and those to s have"):
        without_switches(network_of("[s] a b", "a - s, b - s: 1 1", "star"))
