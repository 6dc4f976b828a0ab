"""Hops through switches that are faster than the links beside them."""

from fractions import Fraction

import pytest

from baselines.libraries.ring import generate
from baselines.networks.switched import switched
from forestcoll.schedule import cost, verify
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of


def three_gpus(*links: tuple[int, int, int], port: int = 5) -> Topology:
    """Three GPUs on a switch, and some slower or faster links between them."""
    between = "".join(f", gpu{tail} - gpu{head}: {gb_s}" for tail, head, gb_s in links)
    return network_of("[w] gpu0..2", f"gpu0..2 - w: {port}{between}", "three GPUs")


@pytest.mark.parametrize(
    "links", [[(0, 1, 1)], [(0, 1, 1), (1, 2, 1)], [(0, 1, 1), (1, 2, 1), (0, 2, 1)], [(0, 1, 2)]]
)
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_rings_take_the_faster_way(links: list[tuple[int, int, int]], collective: str) -> None:
    """Two of three shards over every port of 5 GB/s to the switch: 7.5 GB/s, 3 over the links."""
    made = generate(three_gpus(*links), collective)
    verify(made)
    phases = 2 if collective == "allreduce" else 1
    assert cost(made).algbw_gb_s == Fraction(15, 2) / phases


def test_rings_keep_to_links_that_are_faster_than_the_switch() -> None:
    """All three linked by 9 GB/s: a ring each way round, 18 x 3/2, and the switch is idle."""
    topology = three_gpus((0, 1, 9), (1, 2, 9), (0, 2, 9))
    assert generate(topology).algbw_gb_s == 27


def links_of(topology: Topology) -> set[tuple[int, int]]:
    """Those between GPUs, by rank, one way."""
    gpus = topology.rank_of
    direct = [(a, b) for a, b in topology.link_between if {a, b} <= gpus.keys() and a < b]
    return {(gpus[a], gpus[b]) for a, b in direct}


def test_links_slower_than_the_way_round_them_are_left_out() -> None:
    """Of links of 1, 9 and 5 GB/s beside ports of 5 the slower one; a tie is kept."""
    topology = three_gpus((0, 1, 1), (1, 2, 9), (0, 2, 5))
    first, second = switched(topology)
    assert first is topology
    assert links_of(second) == {(1, 2), (0, 2)}
    assert second.nodes == topology.nodes


def test_those_with_a_way_round_them_are_left_out_if_asked_for() -> None:
    topology = three_gpus((0, 1, 1), (1, 2, 9))
    assert [links_of(net) for net in switched(topology, needless=True)] == [
        {(0, 1), (1, 2)},
        {(1, 2)},
        set(),
    ]


def test_no_network_is_tried_twice() -> None:
    """Where all links are slow, those with a way round them are the same."""
    topology = three_gpus((0, 1, 1), (1, 2, 2))
    assert [links_of(net) for net in switched(topology, needless=True)] == [
        {(0, 1), (1, 2)},
        set(),
    ]


@pytest.mark.parametrize("spec", ["complete:nodes=4", "dgx_a100:boxes=2"])
def test_without_switches_or_without_links_there_is_one_network(spec: str) -> None:
    topology = load_topology(spec)
    assert switched(topology, needless=True) == (topology,)


def test_the_way_round_is_as_wide_as_its_narrowest_port() -> None:
    """A GPU of 2 GB/s at the switch: a link of 3 to it stays, beside another port of 9."""
    assert len(switched(network_of("a b [w]", "a - b: 3, a - w: 9, b - w: 2", "narrow"))) == 1
