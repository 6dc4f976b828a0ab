"""Least times by hand, beside the time-expanded program, and beside simulated schedules."""

import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from forestcoll import generate, optimum, simulate, time_bound, time_bounds
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.over_time.time_bound import DelayedRate, TimeBound, TimeCut
from forestcoll.schedule.verification import verify_time_bound
from forestcoll.topology import SharedCapacity, Topology, load_topology
from tests.cut_over_time.timed_networks import against_the_program, timed_network
from tests.hand_networks import network_of
from tests.random_topologies import random_topology

ALL = ("allgather", "reduce-scatter", "broadcast", "reduce", "allreduce", "all-to-all")

TABLE = {
    32_000: "10.64",
    256_000: "15.12",
    1_000_000: "21.25",
    4_000_000: "28.75",
    16_000_000: "58.75",
    64_000_000: "2530/13",
    256_000_000: "9730/13",
}
"""Bytes of an allgather on two DGX A100 with alpha = 10 us, and the bound in us."""


def proved(bound: TimeBound) -> Fraction:
    assert verify_time_bound(bound) == bound.time_us
    return bound.time_us


def rooted(collective: str) -> dict[str, Any]:
    return {"root": 0} if collective in ("broadcast", "reduce") else {}


@pytest.mark.parametrize(("size", "least"), TABLE.items())
def test_two_a100_boxes(size: int, least: str):
    """256 KB: 15 shards of 16 KB over a NIC (25 GB/s) and NVLink (300), both open for T - 10 us.

    4 MB: 8 NICs bring 2 MB in, 25 GB/s each: for T - 20 us all of them, and for 10 us more v's own.
    """
    assert proved(time_bound("dgx_a100:boxes=2", "allgather", size)) == Fraction(least)


def test_four_megabytes_by_hand():
    """8 x 25 000 (T - 20) + 25 000 x 10 bytes = 2 000 000."""
    assert 8 * 25_000 * (Fraction("28.75") - 20) + 25_000 * 10 == 2_000_000


def test_two_gpus_by_hand():
    """A link of 2 GB/s, latency 1 us, alpha 3 us: half of 8 000 bytes takes 4 us and 2 us."""
    network = network_of("a b", "a - b: 2 1")
    for collective, least in [
        ("allgather", 6),
        ("reduce-scatter", 6),
        ("broadcast", 8),
        ("reduce", 8),
        ("allreduce", 8),
        ("all-to-all", 6),
    ]:
        given = rooted(collective)
        assert proved(time_bound(network, collective, 8000, 3, **given)) == least, collective


def test_a_path_over_one_bus_does_not_use_the_flow_over_time_with_the_bus():
    """0 -> 1 -> 2 over one bus of 1 GB/s, 1 us each, root 0: 1.5 units reach GPU 2 by 4 us.

    In a repeated flow the bus carries half a unit on each link for 4 - 2 us: 1 unit. Used one
    after the other, 0 -> 1 from 0 to 1.5 us and 1 -> 2 from 1.5 to 3 us, it carries 1.5.
    """
    path = network_of("g0..2", "g0 > g1: 1 1, g1 > g2: 1 1")
    bus = replace(path, shared=(SharedCapacity("bus", ((0, 1), (1, 2)), Fraction(1)),))
    bound = time_bound(bus, "broadcast", 1500, 0, root=0)
    assert proved(bound) <= 4
    assert proved(time_bound(path, "broadcast", 1500, 0, root=0)) == Fraction(7, 2)
    assert proved(time_bound(bus, "broadcast", 10**6, 0, root=0)) >= 2000


def test_a_half_duplex_cable_at_a_switch_has_no_delay():
    """Two GPUs on cables of 1 GB/s for both ways, alpha 2 us: 4 units take 4 us, not 6."""
    network = network_of("a b [s]", "a b - s: 1")
    groups = tuple(SharedCapacity(f"wire {i}", ((i, 2), (2, i)), Fraction(1)) for i in range(2))
    bound = time_bound(replace(network, shared=groups), "allgather", 4000, 2)
    assert proved(bound) == 4


@pytest.mark.parametrize("collective", ALL)
@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "ring:nodes=5", "mi250:boxes=1"])
def test_small_messages_take_the_longest_path(spec: str, collective: str):
    """One byte: alpha times the distance, and less than a thousandth more."""
    network = load_topology(spec)
    hops = 2 if spec.startswith("ring") else 1
    least = proved(time_bound(network, collective, 1, 10, **rooted(collective)))
    if spec.startswith("mi250"):
        assert least > 10
    else:
        assert 10 * hops < least < 10 * hops + Fraction(1, 100)


@pytest.mark.parametrize("collective", ALL[:4])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.each_value_once
def test_large_messages_tend_to_the_optimum(collective: str, seed: int):
    """For a terabyte the bound is between the optimum and the optimum with a thousand hops."""
    made = timed_network(seed)
    network = made[0] if made else random_topology(seed, "bidirectional")
    best = optimum(network, collective=collective, **rooted(collective))
    bound = time_bound(network, collective, 10**12, 1, **rooted(collective))
    alone = 10**12 / (1000 * best.algbw_gb_s)
    assert bound.by_rate_us == alone
    assert alone <= proved(bound) <= alone + 1000
    assert bound.share_of_rate is not None
    assert bound.share_of_rate > Fraction(999, 1000)


@pytest.mark.first_rows(3)
@pytest.mark.parametrize("seed", range(10))
def test_a_reduction_takes_the_time_of_the_reversed_network(seed: int):
    """Link by link with the latency it has; alpha is 0, as the reversed links have other tails."""
    network = random_topology(seed, "directed")
    direct = replace(
        network, links=tuple(replace(e, latency_us=Fraction(e.tail % 3)) for e in network.links)
    )
    back = direct.reversed()
    for collective, reverse in (("allgather", "reduce-scatter"), ("broadcast", "reduce")):
        given = rooted(collective)
        for size in (100, 20_000):
            there = proved(time_bound(direct, collective, size, 0, **given))
            assert proved(time_bound(back, reverse, size, 0, **given)) == there


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_both_directions_take_equal_time_on_symmetric_links(collective: str):
    bounds = time_bounds("dgx_a100:boxes=2", collective, [1, "4MB", "1GB"], 10)
    there = time_bounds("dgx_a100:boxes=2", "allgather", [1, "4MB", "1GB"], 10)
    assert [proved(one) for one in bounds] == [proved(one) for one in there]


def check_against_the_program(seed: int) -> bool:
    """Check a case; return whether the program could not do it any sooner."""
    found = against_the_program(seed)
    if found is None:
        return False
    bound, steps = found
    assert proved(bound) <= steps
    return bound.time_us > steps - Fraction(1, 50)


def test_it_is_never_above_the_time_expanded_program():
    assert sum(check_against_the_program(seed) for seed in range(40)) >= 10


@pytest.mark.slow
def test_it_is_never_above_the_time_expanded_program_on_many_networks():
    assert sum(check_against_the_program(seed) for seed in range(40, 1000)) >= 250


@pytest.mark.parametrize("collective", ALL)
@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "mi250:boxes=2", "torus:dims=3x3"])
@pytest.mark.each_value_once
def test_no_simulated_schedule_is_faster(spec: str, collective: str):
    if collective == "all-to-all":
        from forestcoll.all_to_all.best_flow import best_flow

        schedule: Any = best_flow(load_topology(spec))
    else:
        schedule = generate(spec, collective=collective, **rooted(collective)).schedule
    for bound in time_bounds(spec, collective, ["1KB", "1MB", "64MB"], 5, **rooted(collective)):
        size = bound.size_bytes
        run = simulate(schedule, size, alpha_us=5)
        assert float(proved(bound)) <= run.time_s * 1e6 * (1 + 1e-9)


def test_an_unbalanced_switch_takes_the_optimum_after_a_delay():
    """The fan: r -> s has 1 GB/s for three GPUs, of which each alone could get all."""
    network = network_of("r a b c [s]", "r > s: 1 1, s > a b c: 1 1")
    bound = time_bound(network, "broadcast", 10_000, 2, root="r")
    assert isinstance(bound.proof, DelayedRate)
    assert bound.proof.delay_us == 4
    assert proved(bound) == 34


def test_switches_that_multicast_are_not_charged_for_copies():
    """The same with a switch that multicasts: each of 10 000 bytes once over r -> s."""
    network = network_of("r a b c [s*]", "r > s: 1 1, s > a b c: 1 1")
    bound = time_bound(network, "broadcast", 10_000, 2, root="r")
    assert isinstance(bound.proof, TimeCut)
    assert proved(bound) == 14


def test_weights_count():
    """All data at a: b must take them all in."""
    network = network_of("a b", "a - b: 1")
    assert proved(time_bound(network, "allgather", 3000, 1, weights=[2, 1])) == 3
    assert proved(time_bound(network, "allgather", 3000, 1, weights=[1, 0])) == 4


def test_a_gpu_without_a_nic_is_two_hops_away():
    network = load_topology("dgx_a100:boxes=2").without("b0.gpu3 - ib")
    least = proved(time_bound(network, "allgather", 16, 10))
    assert 20 < least < Fraction(2001, 100)


@pytest.mark.slow
def test_1024_gpus_at_20_sizes_take_seconds():
    network = load_topology("dgx_a100:boxes=128")
    start = time.monotonic()
    bounds = time_bounds(network, "allgather", [2**i for i in range(10, 30)])
    assert time.monotonic() - start < 20  # 0.7 s on an idle machine
    times = [proved(one) for one in bounds[::6]]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": "0"}, "the size has"),
        ({"size": 4, "alpha_us": -1}, "alpha is -1"),
        ({"size": 4, "alpha_us": 0.1 + 0.2}, "alpha"),
        ({"collective": "broadcast"}, "needs a root"),
        ({"collective": "allreduce", "root": 0}, "leave them out"),
        ({"collective": "all-to-all", "weights": [1] * 4}, "leave them out"),
    ],
)
def test_wrong_questions_are_refused(given: dict[str, Any], message: str):
    with pytest.raises(InvalidParameterError, match=message):
        time_bound("ring:nodes=4", **given)


def test_a_single_size_is_no_list_of_sizes():
    """Else its letters were the sizes."""
    with pytest.raises(InvalidParameterError, match="the sizes are '4MB'; give a list"):
        time_bounds("ring:nodes=4", "allgather", "4MB")


def test_collectives_without_a_least_time_are_refused():
    with pytest.raises(UnsupportedError, match="must be one of"):
        time_bound("ring:nodes=4", "gossip")
    with pytest.raises(UnsupportedError, match="single GPU"):
        time_bound(Topology("one", network_of("a", "").nodes, ()))
