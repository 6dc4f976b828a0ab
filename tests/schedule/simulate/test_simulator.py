"""Simulations: the arithmetic of textbooks and papers, and what is refused."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from forestcoll import compile_program, generate, load_topology
from forestcoll.errors import (
    CapacityOverflowError,
    InvalidParameterError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.schedule import Chunks, Walks, cost, lockstep, synchronous
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import (
    AlphaBeta,
    Sharing,
    Simulator,
    best_chunk_count,
)
from forestcoll.topology import Topology
from tests.baselines.claims import make
from tests.baselines.once_each import every
from tests.hand_networks import network_of
from tests.random_topologies import random_topology
from tests.schedule.literals import LITERALS

EXACTLY = 1e-9
"""Relative: simulations are in floating point."""


def line(gpus: int, bandwidth: int = 1, latency: int = 0) -> Topology:
    links = [f"g{i} - g{i + 1}: {bandwidth} {latency}" for i in range(gpus - 1)]
    return network_of(f"g0..{gpus - 1}", ", ".join(links), f"line of {gpus}")


def broadcast_along(gpus: int, **given: int) -> Simulator:
    return Simulator(
        compile_program(generate(line(gpus, **given), collective="broadcast", root=0).schedule)
    )


GB = 10**9


def test_two_hops_take_two_and_in_three_pieces_four_thirds() -> None:
    """The ForestColl slides' picture of pipelining."""
    simulator, model = broadcast_along(3), AlphaBeta(alpha_us=0)
    assert simulator.run(GB, model, 1).time_s == pytest.approx(2, rel=EXACTLY)
    assert simulator.run(GB, model, 3).time_s == pytest.approx(4 / 3, rel=EXACTLY)
    assert simulator.run(GB, model, 3, events=True).time_s == pytest.approx(4 / 3, rel=EXACTLY)


@pytest.mark.parametrize("sharing", Sharing)
@pytest.mark.parametrize(("hops", "pipeline_chunks"), [*product((1, 2, 5), (1, 2, 7))])
def test_a_chain_takes_h_plus_c_minus_1_rounds(
    hops: int, pipeline_chunks: int, sharing: Sharing
) -> None:
    """(h + c - 1) (alpha + latency + T / c)."""
    simulator = broadcast_along(hops + 1, bandwidth=2, latency=3)
    model = AlphaBeta(alpha_us=7, sharing=sharing)
    due = (hops + pipeline_chunks - 1) * (10e-6 + 0.25 / pipeline_chunks)
    for events in (False, True):
        found = simulator.run(GB // 2, model, pipeline_chunks, events=events)
        assert found.time_s == pytest.approx(due, rel=EXACTLY)
        assert found.algbw_gb_s == pytest.approx(0.5 / due, rel=EXACTLY)


def test_switches_on_the_way_cost_their_links_latencies_and_no_alpha() -> None:
    """GPU to GPU over two switches: one alpha, three latencies, the slowest bandwidth."""
    net = network_of("a [s] [t] b", "a - s: 4 1, s - t: 1 1, t - b: 2 1", "two switches")
    forest = generate(net, collective="broadcast", root=0).schedule
    found = Simulator(compile_program(forest)).run(10**6, AlphaBeta(alpha_us=5))
    assert found.time_s == pytest.approx(5e-6 + 3e-6 + 1e-3, rel=EXACTLY)


def test_sums_take_reduction_time_at_their_receiver() -> None:
    """A reduce along a line adds at every GPU: h (alpha + n / b + gamma n); copies add nothing."""
    forest = generate(line(4), collective="reduce", root=0).schedule
    model = AlphaBeta(alpha_us=10, gamma_s_per_gb="1/4")
    found = Simulator(compile_program(forest)).run(GB, model)
    assert found.time_s == pytest.approx(3 * (10e-6 + 1.25), rel=EXACTLY)
    assert broadcast_along(4).run(GB, model).time_s == pytest.approx(3 * (10e-6 + 1), rel=EXACTLY)


@pytest.mark.parametrize("gpus", [2, 3, 8])
def test_a_one_way_ring_takes_n_minus_1_steps(gpus: int) -> None:
    """(N - 1) (alpha + M / (N b)); an allreduce twice that."""
    topology = load_topology(f"ring:nodes={gpus},bandwidth=5,bidirectional=false")
    due = (gpus - 1) * (10e-6 + 1 / (5 * gpus))
    for collective, times in (("allgather", 1), ("reduce-scatter", 1), ("allreduce", 2)):
        simulator = Simulator(compile_program(generate(topology, collective=collective).schedule))
        found = simulator.run(GB)
        assert found.closed
        assert found.time_s == pytest.approx(times * due, rel=EXACTLY)
        again = simulator.run(GB, events=True)
        assert again.time_s == pytest.approx(found.time_s, rel=EXACTLY)


@pytest.mark.parametrize("name", ["hypercube:dimension=4", "torus:dims=4x4", "ring:nodes=7"])
def test_bfb_takes_its_t_l_and_t_b(name: str) -> None:
    """T_L + T_B: alpha a step, and the busiest link of each."""
    made = make("bfb", "allgather", name)
    steps = synchronous(made)
    found = Simulator(compile_program(made)).run(GB, AlphaBeta(alpha_us=10))
    assert found.time_s == pytest.approx(10e-6 * steps.steps + float(steps.time_s_per_gb))


CLOCKED = [name for name, literal in LITERALS.items() if literal.make().clock is not None]


@pytest.mark.parametrize("name", CLOCKED)
def test_a_schedule_with_a_clock_ends_when_its_clock_says(name: str) -> None:
    """TE-CCL's and TACCL's finish, if it keeps to its times; latencies are those of the links."""
    made: Any = LITERALS[name].make()
    model = AlphaBeta(alpha_us=0, keep_clock=True)
    found = Simulator(compile_program(made)).run(made.clock.size_bytes, model)
    ratio = found.time_s / (float(made.clock.finish_us) / 10**6)
    if name == "TE-CCL, multicast switch in one epoch":
        assert ratio > 1  # a program stores what a switch passes on as it comes in
    elif name == "TE-CCL, delays":
        assert ratio < 1  # half an epoch of latency is a whole one to the clock
    else:
        assert ratio == pytest.approx(1, rel=EXACTLY)


@pytest.mark.parametrize("sharing", Sharing)
@pytest.mark.parametrize(("hops", "pipeline_chunks"), [*product((1, 2, 5), (1, 4, 100))])
def test_an_unlimited_window_pays_each_latency_once(
    hops: int, pipeline_chunks: int, sharing: Sharing
) -> None:
    """Time: h (alpha + o) + c (g + T / c) for the first hop, and g + T / c for each other one.

    For many chunks without costs that is L + M / b, the time of a fluid.
    """
    simulator = broadcast_along(hops + 1, bandwidth=2, latency=3)
    model = AlphaBeta(
        alpha_us=7, window="unlimited", chunk_cost_us=5, message_cost_us=4, sharing=sharing
    )
    each = 5e-6 + 0.25 / pipeline_chunks
    due = hops * (10e-6 + 4e-6) + (pipeline_chunks + hops - 1) * each
    found = simulator.run(GB // 2, model, pipeline_chunks)
    assert found.time_s == pytest.approx(due, rel=1e-8)
    fluid = simulator.run(GB // 2, AlphaBeta(alpha_us=7, window="unlimited"), 2**14)
    assert fluid.time_s == pytest.approx(hops * 10e-6 + 0.25, rel=1e-3)


@pytest.mark.parametrize("sharing", Sharing)
def test_a_window_of_two_overlaps_two_latencies(sharing: Sharing) -> None:
    """Over one link, chunk p + 2 starts when chunk p is there: two chunks for alpha + T / c.

    10 chunks of 1 us behind a latency of 9 us: 5 times 9 + 1 us, and the second chunk of the last
    pair 1 us later.
    """
    model = AlphaBeta(alpha_us=9, window=2, sharing=sharing)
    found = broadcast_along(2).run(10**4, model, 10)
    assert found.time_s == pytest.approx(51e-6, rel=1e-6)
    one = broadcast_along(2).run(10**4, AlphaBeta(alpha_us=9, sharing=sharing), 10)
    assert one.time_s == pytest.approx(100e-6, rel=1e-6)


def test_data_gets_a_share_of_each_bandwidth() -> None:
    """Efficiency 4/5: a gigabyte over 1 GB/s takes 1.25 s; additions are no part of it."""
    found = broadcast_along(2).run(GB, AlphaBeta(alpha_us=0, efficiency="0.8"))
    assert found.time_s == pytest.approx(1.25, rel=EXACTLY)


def test_the_longest_chain_goes_first() -> None:
    """Two transfers share a link, and one of them is passed on: it has the link for itself."""
    reduction = Simulator(compile_program(generate(line(3), collective="reduce", root=0).schedule))
    scatter = Simulator(compile_program(generate(line(3), collective="reduce-scatter").schedule))
    for simulator in (reduction, scatter):
        equal = simulator.run(GB, AlphaBeta(alpha_us=0))
        first = simulator.run(GB, AlphaBeta(alpha_us=0, priority="critical-path"))
        assert not first.closed
        assert first.time_s <= equal.time_s * (1 + EXACTLY)
    # Shards of 1/3 GB. g2 has two sums to send over g2 -> g1: that for g0 has two hops before it,
    # that for g1 one. Equal: both take 2/3 s, then 1/3 s. First: 1/3, then both at once, 1/3.
    assert scatter.run(GB, AlphaBeta(alpha_us=0)).time_s == pytest.approx(1, rel=EXACTLY)
    ordered = scatter.run(GB, AlphaBeta(alpha_us=0, priority="critical-path"))
    assert ordered.time_s == pytest.approx(2 / 3, rel=EXACTLY)


MIRRORED = [
    "dgx_a100:boxes=2", "dgx_a100:boxes=4", "dgx_h100:boxes=2", "mi250:boxes=2",
    "mi250:boxes=2,gpus_per_box=8", "torus:dims=4x4", "torus:dims=3x3x3", "hypercube:dimension=4",
]  # fmt: skip


@pytest.mark.first_rows(1)
@pytest.mark.parametrize("name", every(3, MIRRORED))
def test_reductions_take_no_longer_than_allgathers_with_priorities(name: str) -> None:
    """As the mirror of its allgather does; with equal shares it takes up to 44 % longer."""
    topology, model = load_topology(name), AlphaBeta(priority="critical-path")
    gather, scatter = (
        Simulator(compile_program(generate(topology, collective=collective).schedule))
        for collective in ("allgather", "reduce-scatter")
    )
    for size in (2**10, 2**20, 2**24, 2**27):
        due = best_chunk_count(gather, size).time_s
        assert best_chunk_count(scatter, size, model).time_s <= due * (1 + EXACTLY)
        if "dgx" in name and size == 2**24:
            assert best_chunk_count(scatter, size).time_s > 1.05 * due


@pytest.mark.parametrize(
    ("spec", "collective"),
    [
        ("dgx_a100:boxes=2", "allgather"),
        ("dgx_h100:boxes=4", "allreduce"),
        ("mi250:boxes=2,gpus_per_box=8", "reduce-scatter"),
        ("torus:dims=3x3", "allgather"),
    ],
)
def test_at_a_terabyte_many_pieces_flow(spec: str, collective: str) -> None:
    """Within one per cent of the pipelined algbw."""
    made: Any = generate(load_topology(spec), collective=collective).schedule
    found = Simulator(compile_program(made)).run(10**12, pipeline_chunks=1024)
    pipelined = float(cost(made).algbw_gb_s)
    assert 0.99 * pipelined < found.algbw_gb_s < pipelined


@pytest.mark.parametrize("seed", range(10))
def test_equal_divisions_of_trees_take_equal_time(seed: int) -> None:
    """Shares go by size: one tree of weight two and two trees of weight one take the same time."""
    made = generate(random_topology(seed, "bidirectional"), k=2).schedule
    whole, cut = compile_program(made), compile_program(lockstep(made))
    assert Simulator(whole).run(10**6).time_s == pytest.approx(
        Simulator(cut).run(10**6).time_s, rel=EXACTLY
    )


def test_links_are_used_as_much_as_they_carry() -> None:
    """The shares over all bins add up to the load; none is above 1."""
    made = generate(load_topology("dgx_a100:boxes=2")).schedule
    simulator = Simulator(compile_program(made))
    for sharing in Sharing:
        found = simulator.run(10**8, AlphaBeta(sharing=sharing), 3, bins=64)
        usage = found.usage
        assert usage is not None
        assert usage.share.max() <= 1 + 1e-6
        assert 32 <= usage.share.shape[1] <= 64
        assert usage.bin_s * usage.share.shape[1] >= found.time_s
        costs = cost(made)
        bandwidths = np.array([float(e.bandwidth_gb_s) for e in made.topology.links])
        due = np.array(costs.loads) / costs.whole / bandwidths / 10  # seconds, of 0.1 GB
        np.testing.assert_allclose((usage.share * usage.bin_s).sum(axis=1), due, rtol=1e-6)


def test_usage_equals_the_load_when_latencies_dominate() -> None:
    """Of one byte, whose time on the links is nothing beside a hop."""
    made = make("ring", "allgather", "dgx_a100:boxes=2")
    found = Simulator(compile_program(made)).run(1, AlphaBeta(), bins=10)
    assert found.usage is not None
    costs = cost(made)
    bandwidths = np.array([float(e.bandwidth_gb_s) for e in made.topology.links])
    due = np.array(costs.loads) / costs.whole / bandwidths / GB
    carried = (found.usage.share * found.usage.bin_s).sum(axis=1)
    np.testing.assert_allclose(carried, due, rtol=1e-5)


def test_a_multicast_switch_passes_pieces_on() -> None:
    """One alpha for both hops: with many pipeline chunks the broadcast nears the link's time."""
    topology = load_topology("dgx_h100:boxes=1,nvls=true")
    made = generate(topology, collective="broadcast", root=0, multicast=True).schedule
    simulator = Simulator(compile_program(made))
    pipelined = float(cost(made).time_s_per_gb)
    one, many = (
        simulator.run(GB, AlphaBeta(alpha_us=1), pipeline_chunks).time_s
        for pipeline_chunks in (1, 64)
    )
    assert one == pytest.approx(1e-6 + 2 * pipelined, rel=EXACTLY)
    assert many < 1.1 * pipelined


def test_a_single_gpu_takes_no_time() -> None:
    found = Simulator(compile_program(generate(line(1)).schedule)).run(GB)
    assert found.time_s == 0
    with pytest.raises(UnsupportedError, match="nothing moves"):
        _ = found.algbw_gb_s


def test_invalid_sizes_chunks_and_clocks_are_refused() -> None:
    """Sizes, pipeline chunks, clocks."""
    simulator = broadcast_along(3)
    for size in (0, -1, 10**19, True, 1.5, "1GB"):
        with pytest.raises(InvalidParameterError, match="the size of the data is"):
            simulator.run(size)  # type: ignore[arg-type]
    for bins in (-1, 2.5, "3", 10**6):
        with pytest.raises(InvalidParameterError, match="the number of bins is"):
            simulator.run(GB, bins=bins)  # type: ignore[arg-type]
    for pipeline_chunks in (0, 2**21, 1.0):
        with pytest.raises(InvalidParameterError, match="the number of pipeline chunks is"):
            simulator.run(GB, pipeline_chunks=pipeline_chunks)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="has no clock to keep to"):
        simulator.run(GB, AlphaBeta(keep_clock=True))
    made: Any = LITERALS["TACCL, contiguous"].make()
    with pytest.raises(InvalidParameterError, match=r"is for \d+ bytes in one pipeline chunk"):
        Simulator(compile_program(made)).run(1, AlphaBeta(keep_clock=True))


def test_slow_adders_are_timed_or_refused_never_wrong() -> None:
    """Eleven sums one after the other, each of up to a thousand million seconds."""
    program = compile_program(generate(line(12), collective="reduce", root=0).schedule)
    for gamma in (1, 1818989, 10**9):
        for sharing in Sharing:
            model = AlphaBeta(gamma_s_per_gb=gamma, sharing=sharing)
            found = Simulator(program).run(GB, model)
            assert found.time_s == pytest.approx(11 * (gamma + 1 + 10e-6), rel=1e-6)


def test_latencies_of_any_digits_and_sizes_are_taken() -> None:
    """Exact numbers need not fit 64 bits."""
    for latency in ("0.1234567890123456789012345", 10**19):
        net = network_of("a b", f"a - b: 1 {latency}", "two")
        forest = generate(net, collective="broadcast", root=0).schedule
        found = Simulator(compile_program(forest)).run(1000, AlphaBeta(alpha_us=0))
        assert found.time_s == pytest.approx(float(Fraction(latency)) / 1e6 + 1e-6)


def test_a_clock_that_goes_on_for_ages_is_refused() -> None:
    made: Any = LITERALS["TACCL, contiguous"].make()
    slow = replace(made, clock=replace(made.clock, tick_us=Fraction(10**15)))
    with pytest.raises(CapacityOverflowError, match="simulate without the clock"):
        Simulator(compile_program(slow)).run(made.clock.size_bytes, AlphaBeta(keep_clock=True))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_no_link_waits_for_data_that_has_not_arrived(order: tuple[int, int]) -> None:
    """First come, first served: a slow way into a fast link leaves it to others meanwhile."""
    topology = network_of("a b c d [s]", "a - s, b - s: 100, s - c: 100, c - d", "slow and fast")
    at = topology.position_of
    ways = [("asc", 0), ("bsc", 1), ("cd", 1)]
    paths = [tuple(at[name] for name in way) for way, _ in ways]
    rows = [*order, 2]
    ends = {position: end for end, position in enumerate(topology.ends)}
    columns = [(ways[i][1], ends[paths[i][0]], ends[paths[i][-1]]) for i in rows]
    chunk, tail, head = (np.array(column, dtype=np.int32) for column in zip(*columns, strict=True))
    program = Program(
        topology,
        "by hand",
        "broadcast",
        Chunks.equal([0, 1], whole=2),
        chunk,
        np.zeros(3, dtype=np.int64),
        np.ones(3, dtype=np.int64),
        tail,
        head,
        np.arange(3, dtype=np.int32),
        np.zeros(3, dtype=np.bool_),
        np.array([0, 0, 0, 1]),
        np.array([order.index(1)], dtype=np.int32),
        np.full(3, -1, dtype=np.int32),
        np.array([0, 0, 1], dtype=np.int32),
        Walks(
            np.cumsum([0, *(len(paths[i]) for i in rows)]),
            np.array([node for i in rows for node in paths[i]], dtype=np.int32),
        ),
    )
    found = Simulator(program).run(GB // 2, AlphaBeta(alpha_us=0, sharing=Sharing.FIFO))
    assert found.time_s == pytest.approx(0.2525)


def test_transfers_that_wait_for_each_other_are_reported() -> None:
    """A message with a transfer that needs one that needs another of the message."""
    program = compile_program(generate(line(4), collective="broadcast", root=0).schedule)
    circle = replace(program, message=np.array([0, -1, 0], dtype=np.int32))
    for sharing in Sharing:
        with pytest.raises(VerificationError, match="in a cycle"):
            Simulator(circle).run(GB, AlphaBeta(sharing=sharing))


def test_progress_is_reported_and_stops_it() -> None:
    """Whatever it raises comes through."""
    simulator = Simulator(compile_program(generate(load_topology("mi250:boxes=2")).schedule))
    calls: list[tuple[int, int]] = []
    simulator.run(GB, pipeline_chunks=20, progress=lambda done, total: calls.append((done, total)))
    assert calls
    assert all(0 <= done <= total for done, total in calls)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    for sharing in Sharing:
        with pytest.raises(KeyboardInterrupt):
            simulator.run(GB, AlphaBeta(sharing=sharing), pipeline_chunks=20, progress=stop)
