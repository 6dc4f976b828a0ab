"""Where rings run: as NCCL prints them, on their rails, over direct links."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pytest

from baselines.libraries.ring import generate, lay_rings
from baselines.networks import ring_layout
from baselines.networks.boxes import gpus_by_box
from baselines.networks.hamiltonian import find_cycle
from baselines.networks.ring_layout import Layout, Ring, _matching, hops, lay_all
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import verify
from forestcoll.topology import load_topology
from tests.baselines.dead_nics import without
from tests.baselines.networks.places import places
from tests.hand_networks import network_of


def test_two_a100_boxes_are_joined_as_nccl_prints_it() -> None:
    """NCCL on two A100 machines: "Channel 00 : 0 7 6 5 4 3 2 1 8 15 14 13 12 11 10 9"."""
    topology = load_topology("dgx_a100:boxes=2")
    rings = [[topology.rank_of[gpu] for gpu in ring] for ring in lay_rings(topology, None).rings]
    assert rings[0] == [0, 7, 6, 5, 4, 3, 2, 1, 8, 15, 14, 13, 12, 11, 10, 9]
    assert rings[3] == [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12]


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=3", "mi250:boxes=2", "dgx_h100:boxes=2"])
def test_every_nic_is_entered_once_and_left_once(spec: str) -> None:
    """With one ring per GPU of a box, each ring crosses into each box once, by a NIC of its own."""
    topology = load_topology(spec)
    entered: Counter[int] = Counter()
    left: Counter[int] = Counter()
    for ring in lay_rings(topology, None).rings:
        assert sorted(ring) == sorted(topology.compute)
        for tail, head in zip(ring, ring[1:] + ring[:1], strict=True):
            if topology.nodes[tail].box != topology.nodes[head].box:
                left[tail] += 1
                entered[head] += 1
    assert entered == left == dict.fromkeys(topology.compute, 1)


@pytest.mark.parametrize("boxes", [2, 3, 4, 5])
def test_rings_stay_on_their_rails(boxes: int) -> None:
    """Where only GPUs of equal number share a switch, boxes are left as the next is entered."""
    topology = load_topology(f"rail_optimized:boxes={boxes}")
    for ring in lay_rings(topology, None).rings:
        where = places(topology, ring)
        for (box, index), (next_box, next_index) in zip(where, where[1:] + where[:1], strict=True):
            assert box == next_box or index == next_index


def test_rings_follow_the_nics_to_their_switch() -> None:
    """With even and odd NICs on different switches, GPU 0 leaves for a GPU of even number."""
    topology = load_topology("dgx_a100:boxes=3,ib_switches=2")
    for ring in lay_rings(topology, None).rings:
        where = places(topology, ring)
        for (box, index), (next_box, next_index) in zip(where, where[1:] + where[:1], strict=True):
            assert index is not None
            assert next_index is not None
            assert box == next_box or (index - next_index) % 2 == 0


def test_chains_run_over_direct_links() -> None:
    """Inside an MI250 box no hop goes through the InfiniBand switch."""
    topology = load_topology("mi250:boxes=2")
    for ring in lay_rings(topology, None).rings:
        for tail, head in zip(ring, ring[1:] + ring[:1], strict=True):
            across = topology.nodes[tail].box != topology.nodes[head].box
            assert across or (tail, head) in topology.link_between


def test_rccl_chains_end_beside_nics_of_their_own() -> None:
    """Each GPU of an MI250 box begins one chain and ends one, so each NIC (of two GPUs) two."""
    topology = load_topology("mi250:boxes=2")
    begins: Counter[int | None] = Counter()
    ends: Counter[int | None] = Counter()
    for ring in lay_rings(topology, None).rings:
        where = places(topology, ring)
        for (box, index), (next_box, next_index) in zip(where, where[1:] + where[:1], strict=True):
            if box == 0 != next_box:
                ends[index] += 1
            if next_box == 0 != box:
                begins[next_index] += 1
    assert begins == ends == dict.fromkeys(range(16), 1)


def test_few_searches_for_cycles_are_made() -> None:
    """On a path of links, 16 lanes wide, there is no cycle; the search must not be made per ring.

    A cycle is sought once among the links, once without the slow one, and once for disjoint ones;
    not for each of 1 + 2 + ... + 16 rings, five times over.
    """
    find_cycle.cache_clear()
    made = generate(
        network_of("[w] gpu0..2", "gpu0..2 - w: 5, gpu0 - gpu1: 16, gpu1 - gpu2", "path")
    )
    verify(made)
    found = find_cycle.cache_info()
    assert found.misses <= 3
    assert found.hits + found.misses <= 100
    assert made.algbw_gb_s == Fraction(15, 2)


def test_a_ring_has_a_hop_back_to_its_start() -> None:
    assert list(hops((4, 1, 7))) == [(4, 1), (1, 7), (7, 4)]


def test_rings_are_laid_again_once_the_others_are_known() -> None:
    """Whoever lays keeps off what is counted: two lanes, and the first ring takes the wider one.

    Greedily both are on lane 0, at half the price each; taken up again one of them moves, and the
    busiest lane has one ring.
    """

    class Lanes:
        def __init__(self) -> None:
            self.load = {0: 0, 1: 0}
            self.laid = 0

        def is_settled(self, rings: int) -> bool:
            return False

        def lay(self, ring: int, rings: int) -> Ring:
            self.laid += 1
            lane = 0 if self.laid <= rings else min(self.load, key=lambda lane: self.load[lane])
            self.count((lane,), 1)
            return (lane,)

        def count(self, tour: Ring, rings: int) -> None:
            self.load[tour[0]] += rings

        @property
        def worst(self) -> int:
            return max(self.load.values())

    assert sorted(lay_all(Lanes(), 2)) == [(0,), (1,)]


def test_the_best_pass_is_kept() -> None:
    """Later passes that make a port busier are forgotten."""

    class Worse:
        worst = 0

        def is_settled(self, rings: int) -> bool:
            return False

        def lay(self, ring: int, rings: int) -> Ring:
            self.worst += 1
            return (self.worst,)

        def count(self, tour: Ring, rings: int) -> None:
            pass

    assert lay_all(Worse(), 3) == [(1,), (2,), (3,)]


@pytest.mark.parametrize(
    ("spec", "rings"), [("ring:nodes=5", 2), ("hypercube:dimension=4", 4), ("complete:nodes=5", 4)]
)
def test_disjoint_rings_run_both_ways_over_links_of_their_own(spec: str, rings: int) -> None:
    topology = load_topology(spec)
    found = Layout(topology, gpus_by_box(topology)).disjoint()
    links = [hop for ring in found for hop in hops(ring)]
    assert len(found) == rings
    assert set(links) <= topology.link_between.keys()
    assert len(set(links)) == len(links) == rings * topology.num_compute
    assert {ring[::-1] for ring in found} == set(found)


def test_boxes_that_nothing_joins_have_no_layout() -> None:
    topology = without("dgx_a100:boxes=2", *(f"b0.gpu{i} - ib" for i in range(8)))
    with pytest.raises(UnsupportedError, match=r"^unsupported: no way for rings to enter and leav"):
        Layout(topology, gpus_by_box(topology))


def test_rings_that_no_longer_move_are_not_laid_again() -> None:
    """Two boxes on one switch: every ring comes out as it was, so one pass over them is enough."""
    laid, found = laid_in_turn("dgx_h100:boxes=2", is_fixed=False)
    assert laid == [*range(8), *range(8)]
    assert len(found) == 8


def test_rings_without_a_choice_are_laid_once() -> None:
    """Over switches alone the course of a ring is given, and a further pass changes nothing.

    MI250 boxes have direct links, so that there each ring depends on the others.
    """
    laid, found = laid_in_turn("dgx_h100:boxes=2")
    assert laid == [*range(8)]
    assert found == laid_in_turn("dgx_h100:boxes=2", is_fixed=False)[1]
    assert len(laid_in_turn("mi250:boxes=2")[0]) >= 32
    assert len(laid_in_turn("dgx_h100:boxes=1")[0]) >= 16


def laid_in_turn(spec: str, *, is_fixed: bool | None = None) -> tuple[list[int], list[Ring]]:
    """The number of each ring that is laid, in order, and the rings."""
    topology = load_topology(spec)
    boxes = gpus_by_box(topology)
    layout = Layout(topology, boxes)
    if is_fixed is not None:
        layout.is_fixed = is_fixed
    laid: list[int] = []
    lay = layout.lay

    def counted(ring: int, rings: int) -> Ring:
        laid.append(ring)
        return lay(ring, rings)

    layout.lay = counted  # type: ignore[method-assign]
    return laid, lay_all(layout, len(boxes[0]))


@pytest.mark.parametrize("spec", ["mi300x:boxes=2", "gaudi3:boxes=2", "mi250:boxes=2"])
def test_exits_are_those_of_least_weight_in_all(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the lightest exits of all entries differ, the matching would choose them as well."""
    topology = load_topology(spec)
    shorter = Layout(topology, gpus_by_box(topology)).exits
    lightest: list[list[int]] = []

    def matching(weights: Sequence[dict[int, int]]) -> list[int]:
        lightest.append([min(exits, key=exits.__getitem__) for exits in weights])
        return _matching(weights)

    monkeypatch.setattr(ring_layout, "_matching", matching)
    monkeypatch.setattr(ring_layout, "_differ", lambda exits: False)
    assert Layout(topology, gpus_by_box(topology)).exits == shorter
    differ = [len(set(exits)) == len(exits) for exits in lightest]
    assert differ == [spec != "mi250:boxes=2"] * 2


def test_a_matching_has_the_least_weight_in_all_or_there_is_none() -> None:
    """By hand: 5 + 1 against 1 + 9; two entries that share their only exit have none."""
    assert _matching([{0: 1, 1: 5}, {0: 1, 1: 9}]) == [1, 0]
    assert _matching([{0: 1}, {0: 2}]) == []


def test_settled_rings_are_not_compared() -> None:
    """Nothing is counted then, so there is no busiest port."""

    class Settled:
        def is_settled(self, rings: int) -> bool:
            return True

        def lay(self, ring: int, rings: int) -> Ring:
            return (ring,)

        def count(self, tour: Ring, rings: int) -> None:
            raise AssertionError

        @property
        def worst(self) -> int:
            raise AssertionError

    assert lay_all(Settled(), 2) == [(0,), (1,)]


def test_hops_without_a_port_are_refused_though_loads_decide_nothing() -> None:
    """Rails reach the next box, but nothing joins the GPUs of a box."""
    topology = network_of("a0..1@0 b0..1@1 [r0] [r1]", "a0 b0 - r0, a1 b1 - r1")
    layout = Layout(topology, gpus_by_box(topology))
    assert layout.is_fixed
    with pytest.raises(UnsupportedError, match="switches do not lead from a0 to a1"):
        layout.lay(0, 2)


def test_loads_are_counted_only_where_they_decide() -> None:
    """Switches give the course of rings over DGX boxes; MI250 boxes have links to choose from."""
    for spec, counted in (("dgx_a100:boxes=2", False), ("mi250:boxes=2", True)):
        topology = load_topology(spec)
        layout = Layout(topology, gpus_by_box(topology))
        layout.lay(0, 8)
        assert bool(layout.load) == counted
