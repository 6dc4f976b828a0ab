"""Seconds of collectives: simulated on networks, and by T_L and T_B."""

from __future__ import annotations

import pytest

from baselines.registry import METHODS
from experiments.training.communication import OnNetwork
from forestcoll.compilation import compile_program
from forestcoll.errors import UnknownMethodError
from forestcoll.generation import generate
from forestcoll.schedule.cost_model import synchronous
from forestcoll.schedule.simulate import AlphaBeta, Simulator, best_chunk_count
from forestcoll.topology import load_topology

MB = 2**20


def test_times_are_those_of_the_simulator() -> None:
    topology, model = load_topology("dgx_a100:boxes=1"), AlphaBeta(alpha_us=3)
    for method, schedule in (
        ("forestcoll", generate(topology, collective="allreduce").schedule),
        ("ring", METHODS["ring"].run(topology, "allreduce")),
    ):
        expected = best_chunk_count(Simulator(compile_program(schedule)), MB, model).time_s
        assert OnNetwork(topology, method, model)("allreduce", MB) == expected


def test_in_lockstep_a_schedule_takes_t_l_and_t_b() -> None:
    """Without a barrier chunks are pipelined, which takes less of many bytes."""
    topology = load_topology("line_graph:of=(complete_bipartite:degree=2)")
    schedule = METHODS["bfb-expansion"].run(topology, "allreduce")
    takes = synchronous(schedule)
    on = OnNetwork(topology, "bfb-expansion", AlphaBeta(alpha_us=3, lockstep=True))
    for size in (8 * 1024, 64 * MB):
        expected = takes.steps * 3e-6 + float(takes.time_s_per_gb) * size / 1e9
        assert on("allreduce", size) == pytest.approx(expected)
    pipelined = OnNetwork(topology, "bfb-expansion", AlphaBeta(alpha_us=3))
    assert pipelined("allreduce", 64 * MB) < on("allreduce", 64 * MB)


def test_nothing_to_send_takes_no_time() -> None:
    assert OnNetwork(load_topology("ring:nodes=4"))("allgather", 0) == 0


def test_an_all_to_all_takes_the_time_of_its_rate() -> None:
    """On a ring of four 1 GB/s links both ways a pair gets 1/2 GB/s: 8 links, 16 hops."""
    on = OnNetwork(load_topology("ring:nodes=4"), model=AlphaBeta(alpha_us=0))
    assert on.all_to_all_gap is None
    assert on("all-to-all", 4 * 10**9) == pytest.approx(2, rel=0.03)
    assert on.all_to_all_gap is not None
    assert 1 - on.all_to_all_gap <= 2 / on("all-to-all", 4 * 10**9) * (1 + 1e-9)
    assert on("all-to-all", 4 * 10**9) >= 2


def test_an_all_to_all_starts_after_one_latency() -> None:
    slow, fast = (
        OnNetwork(load_topology("ring:nodes=4"), model=AlphaBeta(alpha_us=alpha))
        for alpha in (7, 0)
    )
    assert slow("all-to-all", MB) - fast("all-to-all", MB) == pytest.approx(7e-6)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UnknownMethodError, match="method is 'magic'"):
        OnNetwork(load_topology("ring:nodes=4"), "magic")
