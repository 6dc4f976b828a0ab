"""Topologies in epochs: how long links are busy, when chunks arrive, what links carry."""

from fractions import Fraction

import pytest

from baselines.synthesizers.teccl.instance.epochs import EpochNetwork, epoch_us
from forestcoll.errors import UnsupportedError
from forestcoll.topology import Topology, TopologyBuilder, load_topology


def line(*links: tuple[Fraction | int, Fraction | int], **marks: bool) -> Topology:
    """GPU a, switch s, GPU b: bandwidth and latency of both links."""
    builder = TopologyBuilder()
    builder.gpu("a"), builder.gpu("b")
    builder.switch("s", **marks)
    for name, link in zip("ab", links, strict=True):
        builder.link(name, "s", *link)
    return builder.build("line")


def test_epochs_of_the_fastest_and_the_slowest_link() -> None:
    topology = load_topology("dgx1")  # 50 and 25 GB/s, 0.7 us
    assert epoch_us(topology, Fraction(25), "fastest") == Fraction(1, 2)
    assert epoch_us(topology, Fraction(25), "slowest") == 1
    short = Fraction(1, 10)  # 0.7 us are 350 of its epochs
    assert epoch_us(topology, short, "fastest") == 5 * short / 50


def test_a_slow_link_is_busy_for_several_epochs() -> None:
    """T35: kappa = ceil(1 / (T tau)), and one chunk in any so many epochs."""
    network = EpochNetwork.of(load_topology("dgx1"), Fraction(25), Fraction(1, 2), "stored")
    kinds = {(arc.busy, arc.lag) for arc in network.arcs}
    assert kinds == {(1, 2), (2, 2)}  # ceil(0.7 / 0.5)
    for group in network.groups:
        assert (group.window, group.capacity) == (network.arcs[group.arcs[0]].busy, 1)


def test_a_fast_link_takes_several_chunks_an_epoch() -> None:
    network = EpochNetwork.of(line((10, 0), (Fraction(5, 2), 0)), Fraction(1), Fraction(2, 5))
    capacities = {network.arcs[g.arcs[0]].path: g.capacity for g in network.groups}
    assert capacities == {(0, 2): 4, (2, 0): 4, (1, 2): 1, (2, 1): 1}


@pytest.mark.parametrize(
    ("crossing", "lag", "dropped"),
    [("stored", 1, 0), ("rounded", 0, Fraction(1, 10)), ("through", 0, Fraction(1, 10))],
)
def test_latencies_of_a_tenth_of_an_epoch(crossing: str, lag: int, dropped: Fraction) -> None:
    network = EpochNetwork.of(
        line((1, Fraction(1, 10)), (1, Fraction(1, 10))), Fraction(1), Fraction(1), crossing
    )
    assert {(arc.lag, arc.dropped_us) for arc in network.arcs} == {(lag, dropped)}
    longer = EpochNetwork.of(
        line((1, Fraction(1, 9)), (1, Fraction(1, 9))), Fraction(1), Fraction(1), crossing
    )
    assert {arc.lag for arc in longer.arcs} == {1}


def test_a_chunk_goes_through_a_switch_as_fast_as_the_slower_link_lets_it() -> None:
    """Over links of one and three epochs: three epochs from end to end, either way."""
    network = EpochNetwork.of(line((3, 0), (1, 0)), Fraction(3), Fraction(1), "through")
    arc = {arc.path: arc for arc in network.arcs}
    for first, second in (((0, 2), (2, 1)), ((1, 2), (2, 0))):
        arrived = arc[first].span
        leaves = arrived + arc[second].offset
        assert leaves >= 0
        assert leaves + arc[second].span == 2
    stored = EpochNetwork.of(line((3, 0), (1, 0)), Fraction(3), Fraction(1), "stored")
    assert all(arc.offset == 1 for arc in stored.arcs)


def test_switches_that_copy_hand_on_to_switches_an_epoch_later() -> None:
    """Else two of them could have a chunk from each other that nobody sent."""
    spec = "fat_tree:leaves=2,hosts=2,spines=2"
    plain = EpochNetwork.of(load_topology(spec), Fraction(1), Fraction(1))
    copying = EpochNetwork.of(load_topology(spec + ",multicast=true"), Fraction(1), Fraction(1))
    gpus = plain.topology.num_compute
    for network, between in ((plain, {0}), (copying, {1})):
        inner = {arc.offset for arc in network.arcs if min(arc.tail, arc.head) >= gpus}
        assert inner == between


def test_hyper_edges_share_the_links_of_their_switch() -> None:
    """T15: a clique, of which each GPU sends and gets one chunk an epoch."""
    network = EpochNetwork.of(
        load_topology("dgx_h100:boxes=1"), Fraction(450), Fraction(1), switches="hyper-edges"
    )
    assert {len(arc.path) for arc in network.arcs} == {3}
    assert len(network.arcs) == 8 * 7
    assert sorted(len(group.arcs) for group in network.groups) == [7] * 16
    assert {group.capacity for group in network.groups} == {1}


def test_hyper_edges_that_there_cannot_be() -> None:
    with pytest.raises(UnsupportedError, match="links are of one bandwidth, and those of s"):
        EpochNetwork.of(line((2, 0), (1, 0)), Fraction(1), Fraction(1), switches="hyper-edges")
    tree = load_topology("fat_tree:leaves=2,hosts=2,spines=2")
    with pytest.raises(UnsupportedError, match="stand for single switches"):
        EpochNetwork.of(tree, Fraction(1), Fraction(1), switches="hyper-edges")
