"""What a network must be before a schedule is made for it."""

from dataclasses import replace

import pytest

from forestcoll.errors import (
    DisconnectedError,
    InvalidTopologyError,
    UnbalancedError,
    UnsupportedError,
)
from forestcoll.topology import Topology, TopologyBuilder, validate, validation
from forestcoll.topology.families.machines import dgx_a100
from forestcoll.topology.validation import COLLECTIVES, check_balanced, uses_all_bandwidth
from tests.hand_networks import network_of


def two_gpus_on_a_switch(into: int, out: int) -> Topology:
    """A switch with 2 x into GB/s in and 2 x out GB/s out."""
    return network_of("[hub] a b", f"a b > hub: {into}, hub > a b: {out}", "hub and two")


def test_fewer_than_two_gpus():
    builder = TopologyBuilder()
    with pytest.raises(InvalidTopologyError, match="has no GPUs; a collective needs at least 2"):
        validate(builder.build("nothing"))
    builder.link(builder.gpu("a"), builder.switch("w"), 1)
    with pytest.raises(InvalidTopologyError, match="has 1 GPU;"):
        validate(builder.build("lonely"))


def test_a_gpu_that_cannot_be_reached():
    """A -> b only: the search from a finds b, but b does not find a."""
    with pytest.raises(DisconnectedError, match="GPU 'b' cannot reach GPU 'a'"):
        validate(network_of("a b", "a > b", "one way"))


def test_a_gpu_that_cannot_reach():
    with pytest.raises(DisconnectedError, match="GPU 'a' cannot reach GPU 'b'"):
        validate(network_of("a b", "b > a", "one way"))


def test_two_islands():
    """Boxes 0 and 1 with no network between them."""
    switches = "b0.gpu0 b0.gpu1 - w0, b1.gpu0 b1.gpu1 - w1"
    net = network_of("[w0] b0.gpu0 b0.gpu1 [w1] b1.gpu0 b1.gpu1", switches, "islands")
    with pytest.raises(DisconnectedError, match=r"'b0\.gpu0' cannot reach GPU 'b1\.gpu0'"):
        validate(net)


def test_an_island_that_no_search_from_the_root_needs():
    """A reduction to a: the search from a needs to find a alone, but all GPUs must reach it."""
    islands = network_of("a b c d", "a - b, c - d", "islands of two")
    with pytest.raises(DisconnectedError, match="GPU 'c' cannot reach GPU 'a'"):
        validate(islands, "reduce", [0])


@pytest.mark.parametrize(
    ("links", "searches"),
    [("a - b, b - c", 1), ("a > b, b > c, c > a", 2), ("a - b, a > c, c > b", 2)],
)
def test_links_with_reverses_are_searched_once(monkeypatch, links, searches):
    """Paths back are the reversed paths there, if every link has a reverse."""
    found = []
    search = validation._missed
    monkeypatch.setattr(validation, "_missed", lambda *a: found.append(1) or search(*a))
    validate(network_of("a b c", links, "three"))
    assert len(found) == searches


@pytest.mark.parametrize("levels", [0, 3, validation._LEVELS])
@pytest.mark.parametrize("gap", [None, 2, 90])
def test_long_chains_are_searched_to_their_end(monkeypatch, levels, gap):
    """A chain of GPUs, perhaps broken: levels are found as arrays, then nodes one by one."""
    monkeypatch.setattr(validation, "_LEVELS", levels)
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"g{i}") for i in range(100)]
    for i in range(99):
        if i != gap:
            builder.link(gpus[i], gpus[i + 1], 1)
    chain = builder.build("chain")
    if gap is None:
        validate(chain)
    else:
        with pytest.raises(DisconnectedError, match=f"'g0' cannot reach GPU 'g{gap + 1}'"):
            validate(chain)


def test_gpus_forward_too():
    """A directed ring of three GPUs: everyone is reached through the others."""
    for collective in COLLECTIVES:
        validate(network_of("a b c", "a > b, b > c, c > a", "ring"), collective)


@pytest.mark.parametrize("collective", ["allgather", "broadcast", "allreduce"])
def test_a_switch_that_sends_more_than_it_receives(collective):
    """2 x 10 in, 2 x 15 out: both sums and both remedies are named, where balance is needed."""
    validate(two_gpus_on_a_switch(10, 15), collective)
    assert not uses_all_bandwidth(two_gpus_on_a_switch(10, 15), reduction=False)
    with pytest.raises(UnbalancedError) as caught:
        check_balanced(two_gpus_on_a_switch(10, 15), collective)
    message = str(caught.value)
    assert "switch 'hub' has 20 GB/s in and 30 GB/s out" in message
    assert "lower its out-links to 20 GB/s in all or raise its in-links to 30 GB/s" in message


@pytest.mark.parametrize("collective", ["reduce-scatter", "reduce", "allreduce"])
def test_a_switch_that_receives_more_than_it_sends(collective):
    """The mirror image, for collectives that gather sums."""
    assert not uses_all_bandwidth(two_gpus_on_a_switch(15, 10), reduction=True)
    with pytest.raises(UnbalancedError, match="lower its in-links to 20 GB/s in all"):
        check_balanced(two_gpus_on_a_switch(15, 10), collective)


def test_one_direction_of_imbalance_is_harmless_to_the_other_collectives():
    for collective in ("allgather", "broadcast"):
        check_balanced(two_gpus_on_a_switch(15, 10), collective)
    assert uses_all_bandwidth(two_gpus_on_a_switch(15, 10), reduction=False)
    for collective in ("reduce-scatter", "reduce"):
        check_balanced(two_gpus_on_a_switch(10, 15), collective)
    assert uses_all_bandwidth(two_gpus_on_a_switch(10, 15), reduction=True)


def test_a_multicast_switch_may_send_more_than_it_receives():
    """2 x 10 in, 2 x 15 out, marked multicast: balance counts only if it may not copy."""
    topology = two_gpus_on_a_switch(10, 15)
    nodes = tuple(replace(node, multicast=node.is_switch) for node in topology.nodes)
    copying = replace(topology, nodes=nodes)
    assert uses_all_bandwidth(copying, reduction=False, multicast=True)
    assert not uses_all_bandwidth(copying, reduction=False)


def test_a_shared_capacity_leaves_bandwidth_unused():
    """Links of 1 GB/s that share 1 GB/s cannot both be full; methods that need balance say so."""
    builder = TopologyBuilder()
    builder.link(builder.gpu("a"), builder.gpu("b"), 1)
    builder.share("wire", "a - b", 1)
    topology = builder.build("half duplex")
    assert not uses_all_bandwidth(topology, reduction=False)
    with pytest.raises(UnbalancedError, match="share a capacity \\('wire'\\)"):
        check_balanced(topology)


def test_gpus_may_be_unbalanced():
    """B receives 3 and sends 1 GB/s."""
    for collective in COLLECTIVES:
        validate(network_of("a b", "a > b: 3, b > a", "uneven"), collective)


def test_a_dead_end_switch_is_harmless():
    """Links into a switch that leads nowhere are no fault for allgather."""
    builder = TopologyBuilder()
    a, b = builder.gpu("a"), builder.gpu("b")
    builder.link(a, b, 1)
    builder.arc(a, builder.switch("dead end"), 1)
    builder.switch("on its own")
    validate(builder.build("dead end"))


def test_an_unknown_collective():
    with pytest.raises(UnsupportedError, match="'gather'; did you mean allgather"):
        validate(dgx_a100(1), "gather")
