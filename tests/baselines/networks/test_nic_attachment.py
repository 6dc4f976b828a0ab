"""Which GPUs of a box reach others and are reached, where NICs are dead, shared or narrow."""

from fractions import Fraction

import pytest

from baselines.networks.boxes import gpus_by_box
from baselines.networks.nic_attachment import (
    MOST_LANES,
    NicAttachment,
    find_nic_attachments,
    ring_counts,
    with_own_links,
)
from baselines.networks.switch_paths import Router
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.baselines.dead_nics import without
from tests.hand_networks import network_of


def attachments_of(topology: Topology) -> tuple[NicAttachment, ...]:
    return find_nic_attachments(Router(topology), gpus_by_box(topology))


def names(topology: Topology, gpus: tuple[int, ...]) -> list[str]:
    return [topology.nodes[gpu].name for gpu in gpus]


def two_boxes(*nics: int) -> Topology:
    """A box of GPUs with NICs of so many GB/s and one without, and a GPU in a box of its own."""
    builder = TopologyBuilder()
    network, inner = builder.switch("network"), builder.switch("inner", 0)
    for index, width in enumerate(nics):
        gpu = builder.gpu(f"b0.gpu{index}", 0, index)
        builder.link(gpu, inner, 99)
        builder.link(gpu, network, width)
    builder.link(builder.gpu("without", 0, len(nics)), inner, 99)
    builder.link(builder.gpu("b1.gpu0", 1, 0), network, 99)
    return builder.build("two boxes")


def test_with_all_nics_alive_every_gpu_reaches_the_network() -> None:
    """Eight NICs of 25 GB/s each way; both boxes are alike."""
    one, other = attachments_of(load_topology("dgx_a100:boxes=2"))
    assert len(one.ins) == len(one.outs) == len(one.own) == one.size == 8
    assert one.widths_in == one.widths_out == (Fraction(25),) * 8
    assert one.is_open
    assert one.is_whole
    assert one.is_like(other)
    assert (one.count, one.lanes) == (8, 8)


def test_a_gpu_without_a_nic_does_not_reach_the_network() -> None:
    topology = without("dgx_a100:boxes=2", "b0.gpu2 - ib")
    one, other = attachments_of(topology)
    assert names(topology, one.own) == [f"b0.gpu{i}" for i in (0, 1, 3, 4, 5, 6, 7)]
    assert one.ins == one.outs == one.own
    assert not one.is_open
    assert not one.is_like(other)
    assert (one.count, other.count) == (7, 8)


def test_an_attachment_may_be_for_one_direction() -> None:
    """GPU 2 is still reached, and reaches nobody."""
    topology = without("dgx_a100:boxes=2", "b0.gpu2 > ib")
    one, _ = attachments_of(topology)
    assert "b0.gpu2" in names(topology, one.ins)
    assert "b0.gpu2" not in names(topology, one.outs)
    assert (len(one.widths_in), len(one.widths_out)) == (8, 7)
    assert one.count == len(one.own) == 7


def test_gpus_that_share_a_nic_are_open_and_not_whole() -> None:
    """Two GPUs behind the one link of their box: both reach, one at a time."""
    nodes = "[network] [nic]@0 b0.gpu0@0.0 b0.gpu1@0.1 b1.gpu0@1.0"
    links = "b0.gpu0 b0.gpu1 network - nic: 9, b1.gpu0 - network: 9"
    shared, alone = attachments_of(network_of(nodes, links, "shared"))
    assert shared.is_open
    assert not shared.is_whole
    assert shared.count == 1
    assert alone.is_whole


@pytest.mark.parametrize(
    ("nics", "lanes"),
    [
        ((4, 4, 4), 3),
        ((2, 4, 5), 5),  # 1 + 2 + 2
        ((1, 4, 7), 12),  # as many as four times the links
        ((1, 4, 8), 3),  # 13 would be too many
    ],
)
def test_wider_links_count_as_several_lanes(nics: tuple[int, ...], lanes: int) -> None:
    """By whole times of the narrowest, up to ``MOST_LANES`` times as many as there are links."""
    found, _ = attachments_of(two_boxes(*nics))
    assert found.lanes == lanes <= MOST_LANES * found.count
    assert ring_counts([found]) == sorted({3, lanes})


def test_numbers_of_rings_are_those_of_some_box() -> None:
    """No ring gets into a box without attachments, which does not count."""

    def attachments(*widths: int) -> NicAttachment:
        gpus, links = tuple(range(len(widths))), tuple(map(Fraction, widths))
        return NicAttachment(4, gpus, gpus, gpus, links, links)

    assert ring_counts([attachments(1, 1, 1, 1), attachments(1, 2), attachments()]) == [2, 3, 4]


def box(**nics: str) -> Topology:
    """GPUs of a box, each on some of its NICs "1" to "3", and a GPU beyond the network."""
    builder = TopologyBuilder()
    network = builder.switch("network")
    for name in sorted(set("".join(nics.values()))):
        builder.link(builder.switch(name, 0), network, 1)
    for gpu, reached in nics.items():
        builder.gpu(gpu, 0)
        for nic in reached:
            builder.link(gpu, nic, 1)
    builder.link(builder.gpu("far", 1), network, 1)
    return builder.build("box")


def chosen(topology: Topology) -> list[str]:
    """Those of all GPUs of the box."""
    router = Router(topology)
    where = [node.box for node in topology.nodes]
    gpus = [gpu for gpu in topology.compute if where[gpu] == 0]
    reached = {gpu: sum(set(router.reach[gpu])) for gpu in topology.compute}
    return [topology.nodes[gpu].name for gpu in with_own_links(router, where, gpus, reached)]


def test_everyone_with_a_nic_of_its_own_is_chosen() -> None:
    assert chosen(box(a="1", b="2", c="3")) == ["a", "b", "c"]


def test_the_first_gpu_of_a_shared_nic_is_chosen() -> None:
    assert chosen(box(a="1", b="1", c="2")) == ["a", "c"]


def test_a_gpu_with_a_choice_makes_way() -> None:
    """A may use both NICs and takes the first, which is all that b has: an augmenting path."""
    assert chosen(box(a="12", b="1")) == ["a", "b"]
    assert chosen(box(a="12", b="13", c="1")) == ["a", "b", "c"]


def test_a_gpu_that_nothing_comes_back_to_is_passed_over() -> None:
    """B sends to the network and hears nothing from it."""
    one_way = network_of("[network] a@0 far@1 b@0", "network - a far, b > network", "one way")
    assert chosen(one_way) == ["a"]


def test_methods_share_what_was_found_for_a_router() -> None:
    topology = load_topology("dgx_a100:boxes=2")
    router, boxes = Router(topology), gpus_by_box(topology)
    assert find_nic_attachments(router, boxes) is find_nic_attachments(router, boxes)
    alone = [[gpu] for gpu in topology.compute]
    assert [found.size for found in find_nic_attachments(router, alone)] == [1] * 16
