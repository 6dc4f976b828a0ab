"""BlueConnect, by hand."""

from fractions import Fraction

import pytest

from baselines.blueconnect import generate
from forestcoll.schedule import StepSchedule, cost, verify
from forestcoll.topology import Topology, load_topology


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

    1/16/25 + 7/8/300 = 13/2400 s per GB, 184.6 GB/s; the other way round, 7 steps inside with M/16
    and then M/2 over a NIC.
    """
    topology = load_topology("dgx_a100:boxes=2")
    inside = generate(topology)
    assert cost(inside).time_s_per_gb == Fraction(1, 16 * 25) + Fraction(7, 8 * 300)
    across = generate(topology, order="across-first")
    assert cost(across).time_s_per_gb == Fraction(7, 16 * 300) + Fraction(1, 2 * 25)
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


@pytest.mark.parametrize("spec", ["mi250:boxes=1", "mi250:boxes=2"])
def test_rings_follow_direct_links_inside_a_box(spec: str) -> None:
    """On MI250 all hops inside a box go over xGMI, none over the network."""
    topology = load_topology(spec)
    schedule = generate(topology)
    nodes = [topology.nodes[gpu] for gpu in topology.compute]
    pairs = set(zip(schedule.sends.tail.tolist(), schedule.sends.head.tolist(), strict=True))
    inside = {(a, b) for a, b in pairs if nodes[a].box == nodes[b].box}
    assert len(inside) == topology.num_compute
    assert inside <= links_between_gpus(topology)
