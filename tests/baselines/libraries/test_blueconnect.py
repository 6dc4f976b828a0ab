"""BlueConnect, by hand."""

from fractions import Fraction

import pytest

from baselines.libraries.blueconnect import generate
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule import StepSchedule, cost, synchronous, verify
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of


def crossing(schedule: StepSchedule) -> list[int]:
    """The steps in which data goes from box to box."""
    nodes, compute = schedule.topology.nodes, schedule.topology.compute
    sends = schedule.sends
    boxes = [nodes[gpu].box for gpu in compute]
    found = {
        int(step)
        for step, tail, head in zip(sends.step, sends.tail, sends.head, strict=True)
        if boxes[tail] != boxes[head]
    }
    return sorted(found)


def test_two_a100_boxes_by_hand() -> None:
    """One step over the NICs, M/16 each at 25 GB/s; 7 steps of M/8 inside at 300 GB/s.

    In steps 1/16/25 + 7/8/300 = 13/2400 s per GB, 184.6 GB/s; pipelined, the longer of the two. The
    other way round, 7 steps inside with M/16 and then M/2 over a NIC.
    """
    topology = load_topology("dgx_a100:boxes=2")
    inside = generate(topology)
    assert synchronous(inside).time_s_per_gb == Fraction(1, 16 * 25) + Fraction(7, 8 * 300)
    assert cost(inside).time_s_per_gb == max(Fraction(1, 16 * 25), Fraction(7, 8 * 300))
    across = generate(topology, order="across-first")
    assert synchronous(across).time_s_per_gb == Fraction(7, 16 * 300) + Fraction(1, 2 * 25)
    assert cost(across).time_s_per_gb == Fraction(1, 2 * 25)
    assert verify(across).steps == inside.num_steps == 8


def test_an_allreduce_crosses_the_network_in_the_middle() -> None:
    """Reduce-scatter inside, across; allgather across, inside: B - 1 steps twice, side by side."""
    topology = load_topology("dgx_a100:boxes=3")
    assert crossing(generate(topology, "allreduce")) == [7, 8, 9, 10]
    assert crossing(generate(topology, "allreduce", order="across-first")) == [0, 1, 16, 17]


@pytest.mark.parametrize("spec", ["rail_optimized:boxes=3", "dgx_h100:boxes=4"])
def test_data_stays_on_its_rail(spec: str) -> None:
    """Only GPUs with the same number send to each other across boxes, and all of them do."""
    topology = load_topology(spec)
    schedule = generate(topology)
    nodes = [topology.nodes[gpu] for gpu in topology.compute]
    pairs = set(zip(schedule.sends.tail.tolist(), schedule.sends.head.tolist(), strict=True))
    across = {(a, b) for a, b in pairs if nodes[a].box != nodes[b].box}
    assert all(nodes[a].index == nodes[b].index for a, b in across)
    assert len(across) == topology.num_compute


def links_between_gpus(topology: Topology) -> set[tuple[int, int]]:
    rank_of = topology.rank_of
    return {(rank_of[a], rank_of[b]) for a, b in topology.link_between if {a, b} <= rank_of.keys()}


@pytest.mark.parametrize("rings", [None, 1, 2])
@pytest.mark.parametrize("spec", ["mi250:boxes=1", "mi250:boxes=2"])
def test_rings_follow_direct_links_inside_a_box(spec: str, rings: int | None) -> None:
    """On MI250 all hops inside a box go over xGMI, none over the network; R at most out of a GPU.

    The second ring goes the other way round the first.
    """
    topology = load_topology(spec)
    schedule = generate(topology, rings=rings)
    nodes = [topology.nodes[gpu] for gpu in topology.compute]
    pairs = set(zip(schedule.sends.tail.tolist(), schedule.sends.head.tolist(), strict=True))
    inside = {(a, b) for a, b in pairs if nodes[a].box == nodes[b].box}
    assert inside <= links_between_gpus(topology)
    assert rings is None or len(inside) == rings * topology.num_compute
    assert rings != 2 or inside == {(b, a) for a, b in inside}


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize(
    ("rings", "inside_gb_s"), [(1, 50), (2, 100), (4, 200), (None, 300), (6, 300), (7, 175)]
)
@pytest.mark.each_value_once
def test_two_mi250_boxes_by_hand(rings: int | None, inside_gb_s: int, collective: str) -> None:
    """M/32 over each NIC port of 16 GB/s, then 15 steps of M/16 in R parts inside.

    Up to six rings find links (lanes) of 50 GB/s of their own, the seventh shares one: so 6 are
    the default, 2560/13 = 196.9 GB/s in steps. Flowing, the links inside are busy for longest: of
    an allreduce twice as long, unless a single ring goes one way forth and the other way back.
    """
    schedule = generate(load_topology("mi250:boxes=2"), collective, rings=rings)
    phases = 2 if collective == "allreduce" else 1
    time = Fraction(1, 32 * 16) + Fraction(15, 16 * inside_gb_s)
    assert (
        verify(schedule).synchronous_s_per_gb
        == synchronous(schedule).time_s_per_gb
        == phases * time
    )
    assert rings is not None or phases * synchronous(schedule).algbw_gb_s == Fraction(2560, 13)
    if rings not in (1, 7):
        assert cost(schedule).time_s_per_gb == phases * Fraction(15, 16 * inside_gb_s)
    elif rings == 1:
        assert cost(schedule).time_s_per_gb == Fraction(15, 16 * inside_gb_s)


def test_one_ring_is_enough_through_a_switch() -> None:
    """Equal rings change nothing, so that shards stay whole."""
    topology = load_topology("dgx_a100:boxes=2")
    assert len(generate(topology).chunks) == 16
    assert synchronous(generate(topology, rings=3)).algbw_gb_s == Fraction(2400, 13)
    assert cost(generate(topology, rings=3)).algbw_gb_s == cost(generate(topology)).algbw_gb_s


def test_links_that_not_every_box_has_are_left_out() -> None:
    """Boxes of four on a switch, rings 0-1-2-3 and, in the second box, 0-2-1-3: through the switch.

    Of the common links 0-2, 1-3 and 1-2 there is no cycle, so the ring is 0, 3, 2, 1 in both boxes.
    """
    nodes = ["[w]", *(f"b{box}.gpu{i}@{box}.{i}" for box in range(2) for i in range(4))]
    tours = "b0.gpu0 b0.gpu2 - b0.gpu1 b0.gpu3, b1.gpu0 b1.gpu1 - b1.gpu2 b1.gpu3"
    topology = network_of(" ".join(nodes), f"b0.gpu0..3 b1.gpu0..3 - w: 5, {tours}", "unlike")
    schedule = generate(topology)
    verify(schedule)
    pairs = set(zip(schedule.sends.tail.tolist(), schedule.sends.head.tolist(), strict=True))
    assert pairs >= {(0, 3), (3, 2), (2, 1), (1, 0), (4, 7), (7, 6), (6, 5), (5, 4)}
    assert len(pairs) == 16


def test_a_box_takes_a_ring_at_least() -> None:
    with pytest.raises(InvalidParameterError, match="rings is 0; it takes at least one"):
        generate(load_topology("mi250:boxes=2"), rings=0)
