"""Schedules in which switches copy and add: as fast as what bounds them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll import cost, generate, load_topology, optimum, verify
from forestcoll.generate import generate_multicast
from forestcoll.multicast.in_network import in_network
from forestcoll.problem.request import Request
from forestcoll.schedule import Allreduce, MulticastForest, read_schedule, write_schedule
from forestcoll.topology import Topology, TopologyBuilder


@pytest.mark.parametrize(
    ("spec", "best"),
    [
        # Each GPU sends its data once to the NVSwitch and gets the sum once: 450 GB/s.
        ("dgx_h100:boxes=1", Fraction(450)),
        # All data leaves and enters each box once: 8 x 50 GB/s.
        ("dgx_h100:boxes=2,sharp=true", Fraction(400)),
        ("dgx_h100:boxes=4,sharp=true", Fraction(400)),
        # InfiniBand forwards: each piece enters and leaves B - 1 boxes: 400 B / (2 (B - 1)).
        ("dgx_h100:boxes=2", Fraction(400)),
        ("dgx_h100:boxes=4", Fraction(800, 3)),
        ("dgx_h100:boxes=16", Fraction(640, 3)),
    ],
)
def test_switches_that_copy_and_add_are_used_in_full(
    spec: str, best: Fraction, tmp_path: Path
) -> None:
    """Bound and schedule meet; without, 257.1 GB/s in one box and 266.7 in two."""
    topology = load_topology(spec)
    schedule = generate_multicast(topology, collective="allreduce").schedule
    verdict = verify(schedule)
    assert verdict.algbw_gb_s == verdict.bound_gb_s == best
    assert verdict.optimal
    assert "copy and add" in str(verdict.model)
    assert cost(schedule).algbw_gb_s == schedule.algbw_gb_s == best
    write_schedule(schedule, tmp_path / "schedule.json")
    assert verify(read_schedule(tmp_path / "schedule.json")) == verdict
    forwarding = verify(generate(topology, collective="allreduce"))
    assert forwarding.algbw_gb_s == optimum(topology).algbw_gb_s / 2 <= best
    assert "switches only forward" in str(forwarding.model)


def uneven_nics() -> Topology:
    """Three GPUs at an NVSwitch of 6 GB/s, and at InfiniBand of 2, 2 and 1 GB/s; both copy."""
    builder = TopologyBuilder()
    switches = [builder.switch(name, multicast=True) for name in ("ib", "nv")]
    for number, bandwidth in enumerate((2, 2, 1)):
        gpu = builder.gpu(f"g{number}")
        for switch, width in zip(switches, (bandwidth, 6), strict=True):
            builder.link(gpu, switch, width)
    return builder.build("uneven NICs")


def test_sums_at_one_gpu_are_tried_where_switches_copy() -> None:
    """A GPU has 7 GB/s each way, a cut; trees that must reach both switches make 6."""
    verdict = verify(generate_multicast(uneven_nics(), collective="allreduce").schedule)
    assert (verdict.algbw_gb_s, verdict.bound_gb_s, verdict.optimal) == (7, 7, True)


def test_data_that_goes_one_way_keeps_its_time_and_loses_traffic() -> None:
    """One H100 box: 8 shards into the NVSwitch once instead of 7 times; the stages are told."""
    topology = load_topology("dgx_h100:boxes=1")
    told: list[str] = []
    made = in_network(
        Request.of(topology, "allgather", {"threads": 1}, multicast=True),
        lambda stage, *_: told.append(stage),
    )
    assert isinstance(made.schedule, MulticastForest)
    assert made.schedule.time_s_per_gb == generate(topology).time_s_per_gb
    assert list(made.saved) == ["traffic"]
    assert [(each.before, each.after) for each in made.saved["traffic"]] == [(7, 1), (7, 7)]
    assert list(made.seconds)[-1] == "multicast"
    assert set(told) <= set(made.seconds)


def test_without_switches_that_copy_an_allreduce_is_that_of_forwarding_ones() -> None:
    """No program is asked for them; traffic of both phases is told, and none is saved."""
    topology = load_topology("dgx_a100:boxes=2")
    made = in_network(Request.of(topology, "allreduce", {"threads": 1}, multicast=True))
    assert made.schedule.time_s_per_gb == generate(topology, collective="allreduce").time_s_per_gb
    assert list(made.saved) == ["traffic_of_reduce", "traffic_of_gather"]
    assert all(each.before == each.after for some in made.saved.values() for each in some)


def test_switches_beside_each_other_copy_equal_shares() -> None:
    """4 GPUs on 3 planes: a tree of each on a plane leaves two on one; 3 trees of each do not."""
    made = generate_multicast(
        load_topology("nvl72:gpus_per_rack=4,planes=3"), collective="allreduce", program_s=1e-9
    ).schedule
    assert isinstance(made, Allreduce)
    assert verify(made).algbw_gb_s == 150
    assert made.optimal
