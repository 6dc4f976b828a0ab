"""Rings through boxes with dead or missing NICs."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from baselines.libraries.ring import generate, lay_rings
from baselines.networks.boxes import gpus_by_box
from baselines.networks.ring_attachment import AttachmentLayout
from baselines.networks.ring_layout import hops, lay_all
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import verify
from forestcoll.topology import Topology, load_topology
from tests.baselines.dead_nics import without
from tests.baselines.networks.places import places
from tests.hand_networks import network_of


def test_a_gpu_without_a_nic_is_entered_from_its_box() -> None:
    """All hops from and to it stay in the box, and no NIC has more than one ring."""
    topology = without("dgx_a100:boxes=2", "b0.gpu2 - ib")
    crossings: Counter[int] = Counter()
    rings = lay_rings(topology, None).rings
    assert len(rings) == 7
    for ring in rings:
        for tail, head in zip(ring, ring[1:] + ring[:1], strict=True):
            if topology.nodes[tail].box != topology.nodes[head].box:
                crossings.update((tail, head))
    dead = next(v for v, node in enumerate(topology.nodes) if node.name == "b0.gpu2")
    assert dead not in crossings
    assert max(crossings.values()) == 2


def test_a_ring_goes_round_a_box_with_a_single_nic() -> None:
    """In at GPU 0, over 7, 6, ..., 1 back to it, and out; the other box is crossed once."""
    topology = without("dgx_a100:boxes=2", *(f"b0.gpu{i} - ib" for i in range(1, 8)))
    for ring in lay_rings(topology, None).rings:
        where = places(topology, ring)
        start = where.index((0, 0))
        around = [*where[start:], *where[:start]]
        again = around.index((0, 0), 1)
        assert {again, len(around) - again} == {8, 9}
        assert len(ring) == topology.num_compute + 1


def test_half_a_nic_takes_half_the_rings() -> None:
    """NICs of 25 GB/s and one of 12.5: 15 rings, two on each NIC and one on the narrow one.

    15 x 12.5 (16/15) = 200 GB/s; with 8 rings it would be 106.7.
    """
    topology = load_topology("dgx_a100:boxes=2")
    narrow = [
        replace(link, bandwidth_gb_s=link.bandwidth_gb_s / 2)
        if {topology.nodes[link.tail].name, topology.nodes[link.head].name} == {"b0.gpu2", "ib"}
        else link
        for link in topology.links
    ]
    made = generate(replace(topology, links=tuple(narrow)))
    verify(made)
    assert made.algbw_gb_s == 200


def test_rings_between_separate_rails_leave_a_box_at_their_entry() -> None:
    """Three boxes of two GPUs, rails that no spine joins: some box is left where it was entered."""
    made = generate(load_topology("rail_optimized:boxes=3,gpus_per_box=2"), "allreduce")
    verify(made)


def attachment_layout(topology: Topology) -> AttachmentLayout:
    return AttachmentLayout(topology, gpus_by_box(topology))


PAIRS = "rail_optimized:boxes=2,gpus_per_box=2"
"""Two boxes of two GPUs, whose rails nothing joins."""


def test_the_second_ring_takes_the_ways_that_are_idle() -> None:
    """Out by GPU 0 and in by GPU 1, and the other way round: no link is busier than by one ring."""
    one, two = attachment_layout(load_topology(PAIRS)), attachment_layout(load_topology(PAIRS))
    first, second = lay_all(two, 2)
    assert sorted(first) == sorted(second) == sorted(two.ports.topology.compute)
    assert set(hops(first)).isdisjoint(hops(second))
    lay_all(one, 1)
    assert two.worst == one.worst > 0


def test_counted_rings_can_be_subtracted() -> None:
    layout = attachment_layout(load_topology(PAIRS))
    layout.count(layout.lay(0, 1), -1)
    assert layout.worst == 0


def test_boxes_that_nothing_joins_are_refused_when_a_ring_is_laid() -> None:
    topology = without("dgx_a100:boxes=2", *(f"b0.gpu{i} - ib" for i in range(8)))
    layout = attachment_layout(topology)
    with pytest.raises(UnsupportedError, match=r"^unsupported: no way for rings to enter and leav"):
        layout.lay(0, 1)


def test_a_gpu_that_nothing_reaches_is_refused() -> None:
    """a0 sends to both switches, and gets nothing from either."""
    topology = network_of(
        "a0..1@0 b0..1@1 [s]@0 [t]@1 [net]",
        "a0 > s: 1, s > a1: 1, a0 > net: 1, a1 > net: 1, net > a1: 1, b0..1 - t net: 1",
    )
    with pytest.raises(UnsupportedError, match="no path from a1 to a0 through switches alone"):
        lay_rings(topology, None)


def slow_inside(spines: int = 1) -> Topology:
    """Two boxes of three GPUs, all links of 3 GB/s; GPU a0 has no NIC."""
    return network_of(
        f"a0..2@0 b0..2@1 [in0]@0 [in1]@1 [leaf0] [leaf1] [spine1..{spines}]",
        "a0..2 - in0: 3, b0..2 - in1: 3, a1..2 - leaf0: 3, b0..2 - leaf1: 3, "
        f"leaf0 leaf1 - spine1..{spines}: 9",
    )


def test_rings_that_fill_the_links_of_a_gpu_are_laid_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rings enter a0 over its only link. Three do at 3 GB/s: 6/5 x 3 in all, the optimum.

    So the two rings that the NICs of a box allow are not tried, and no ring is laid again. On two
    A100 boxes with a dead NIC two of eight rings share a NIC, and seven are faster.
    """
    laid = []
    lay = AttachmentLayout.lay

    def counted(self: AttachmentLayout, ring: int, rings: int) -> Any:
        laid.append(rings)
        return lay(self, ring, rings)

    monkeypatch.setattr(AttachmentLayout, "lay", counted)
    assert generate(slow_inside()).algbw_gb_s == Fraction(18, 5)
    assert laid == [3] * 3
    laid.clear()
    lay_rings(without("dgx_a100:boxes=2", "b0.gpu2 - ib"), None)
    assert laid.count(8) > 8
    assert laid.count(7) > 7


def test_loads_that_do_not_give_the_time_settle_nothing() -> None:
    """A shared capacity may be the limit, and nine paths have no equal whole shares of 840."""
    for topology, settled in (
        (slow_inside(), True),
        (slow_inside().with_shared("x", "a0 -> in0", 1), False),
        (slow_inside(spines=9), False),
    ):
        layout = attachment_layout(topology)
        lay_all(layout, 3)
        assert layout.is_settled(3) == settled
        assert layout.worst * layout.narrowest == 3 * 840 * layout.ports.scale


@pytest.mark.parametrize(
    "topology",
    [
        load_topology(PAIRS),
        without("dgx_a100:boxes=3", "b0.gpu2 - ib"),
        without("mi250:boxes=2", "b0.gpu0 - ib"),
    ],
    ids=lambda topology: topology.name,
)
def test_a_path_around_from_any_gpu_replaces_the_search_from_its_end(
    topology: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rings are the same if the search from every first GPU is made."""
    found = lay_all(attachment_layout(topology), 8)
    monkeypatch.setattr(AttachmentLayout, "_can_begin", lambda *_: False)
    assert found == lay_all(attachment_layout(topology), 8)


def searches_of(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the number of ways that each search begins with."""
    searches: list[int] = []
    through = AttachmentLayout._through

    def counted(self: AttachmentLayout, entered: Any, a_round: int) -> Any:
        searches.append(len(entered))
        return through(self, entered, a_round)

    monkeypatch.setattr(AttachmentLayout, "_through", counted)
    return searches


def test_one_search_finds_the_path_around_unless_it_leaves_the_first_gpu_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first ring leaves GPU 0, where it enters, and is searched for again; the second not."""
    layout = attachment_layout(without("dgx_a100:boxes=2", "b0.gpu2 - ib"))
    searches = searches_of(monkeypatch)
    layout.lay(0, 2)
    assert searches == [2, 1]
    layout.lay(1, 2)
    assert searches == [2, 1, 2]


def test_a_path_from_another_gpu_is_not_taken_if_entries_differ_in_their_exits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The heads of the next box come in another order if other GPUs can be exits."""
    layout = attachment_layout(load_topology("dgx_a100:boxes=2"))
    start, other, last = layout.entries[0], layout.entries[1], layout.entries[-1]
    there, after = layout.boxes[1][:2]
    first = (1, (other, there), (0, (other, other), None))
    way = (2, (after, start), first)
    assert layout._can_begin(start, way)
    assert not layout._can_begin(other, way)
    every = layout.everywhere[0]
    del layout.common_exits
    monkeypatch.setattr(
        layout, "exits", lambda _, entry: every - {last} if entry == last else every
    )
    assert not layout._can_begin(start, way)


def test_a_box_is_left_elsewhere_than_entered_though_one_nic_is_much_faster() -> None:
    """A ring over the fast NICs alone would visit their GPUs twice."""
    topology = network_of(
        "a0..1@0 b0..1@1 [in0]@0 [in1]@1 [net]",
        "a0..1 - in0: 900, b0..1 - in1: 900, a0 b0 - net: 90, a1 b1 - net: 1",
    )
    layout = attachment_layout(topology)
    assert [sorted(layout.lay(ring, 2)) for ring in range(2)] == [list(topology.compute)] * 2


@pytest.mark.parametrize(("spec", "equal"), [("dgx_a100:boxes=3", True), ("mi250:boxes=2", False)])
def test_only_boxes_with_equal_exits_need_two_ways_of_least_price(
    spec: str, equal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All GPUs of the first box are reached at the end, as any of them may be the first."""
    layout = attachment_layout(load_topology(spec))
    searches = searches_of(monkeypatch)
    layout.lay(0, 8)
    assert layout.has_equal_exits == [equal] * len(layout.boxes)
    assert (searches[0] == 2) == equal
    assert (layout.narrowed == layout.crossings) != equal
    heads = [sum(len(fan.heads) for fan in crossings._fans) for crossings in layout.narrowed]
    assert heads == ([2, 2, 8] if equal else [len(layout.entries)] * 2)
