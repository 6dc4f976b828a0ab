"""Links in the place of switches."""

import pytest

from baselines.synthesizers.teccl.instance.hyper_edges import without_switches
from forestcoll.errors import UnsupportedError
from forestcoll.topology import TopologyBuilder, load_topology


def test_every_pair_at_a_switch_that_no_link_joins_gets_a_path() -> None:
    """Of three, two have a link of their own and need none."""
    builder = TopologyBuilder()
    for name in "abc":
        builder.gpu(name)
    builder.switch("s")
    for name in "abc":
        builder.link(name, "s", 1)
    builder.link("a", "b", 1)
    topology = builder.build("star")
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
    builder = TopologyBuilder()
    builder.switch("s")
    for name, latency in (("a", 0), ("b", 1)):
        builder.gpu(name)
        builder.link(name, "s", 1, latency)
    with pytest.raises(UnsupportedError, match="all links have one latency, and those to s have"):
        without_switches(builder.build("star"))
