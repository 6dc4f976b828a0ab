"""Number of pipeline chunks: the formula where it holds, and never worse than what was tried."""

import math
import random
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from forestcoll import compile_program, generate, load_topology
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.simulate import (
    MOST_PIPELINE_CHUNKS,
    AlphaBeta,
    Sharing,
    Simulator,
    best_chunk_count,
    chunk_count_within,
)
from tests.hand_networks import network_of
from tests.schedule.literals import LITERALS

GB = 10**9


def chain(gpus: int, latency_us: int = 0) -> Simulator:
    links = ", ".join(f"g{i} - g{i + 1}: 1 {latency_us}" for i in range(gpus - 1))
    net = network_of(f"g0..{gpus - 1}", links, "chain")
    return Simulator(compile_program(generate(net, collective="broadcast", root=0).schedule))


@pytest.mark.parametrize("size", [10**3, 10**6, 10**9])
def test_a_chain_is_cut_as_the_formula_says(size: int) -> None:
    """C = sqrt((h - 1) T / alpha), up to the grid; within 2 % of the time at that."""
    found = best_chunk_count(chain(9), size)
    ideal = max(1.0, math.sqrt(7 * size / GB / 10e-6))
    assert ideal / 1.5 <= found.pipeline_chunks <= 1.5 * ideal
    due = (8 + ideal - 1) * (10e-6 + size / GB / ideal)
    assert found.time_s <= 1.02 * due


@pytest.mark.parametrize("sharing", Sharing)
def test_no_power_of_two_is_better(sharing: Sharing) -> None:
    """On machines the valley is single, as far as these sizes go."""
    simulator = Simulator(
        compile_program(generate(load_topology("mi250:boxes=2,gpus_per_box=8")).schedule)
    )
    model = AlphaBeta(sharing=sharing)
    for size in (10**6, 10**8):
        found = best_chunk_count(simulator, size, model)
        for pipeline_chunks in (1, 2, 4, 8, 16, 32, 64):
            assert found.time_s <= simulator.run(size, model, pipeline_chunks).time_s


def test_a_start_that_is_far_off_is_no_end() -> None:
    """With steps numbered by hundreds it starts where one chunk is better; fewer are best."""
    simulator = Simulator(compile_program(generate(load_topology("dgx_a100:boxes=2")).schedule))
    program = simulator.program
    steps = (program.step * ((program.num_transfers - 1) // program.step.max())).astype(np.int32)
    far_off = Simulator(replace(program, step=steps))
    for size in (2 * 10**7, 4 * 10**7):
        found = best_chunk_count(far_off, size)
        assert 1 < found.pipeline_chunks == best_chunk_count(simulator, size).pipeline_chunks


def test_without_latencies_as_many_as_allowed_are_best() -> None:
    found = best_chunk_count(chain(3), GB, AlphaBeta(alpha_us=0), most=100)
    assert found.pipeline_chunks == 96
    assert best_chunk_count(chain(3), GB, AlphaBeta(alpha_us=0), most=1).pipeline_chunks == 1


@pytest.mark.parametrize(("size", "pipeline_chunks"), [(1, 1), (5, 4), (100, 96)])
def test_no_piece_is_smaller_than_a_byte(size: int, pipeline_chunks: int) -> None:
    """Without latencies more chunks are always better; over a chain each transfer is of all."""
    assert (
        best_chunk_count(chain(9), size, AlphaBeta(alpha_us=0)).pipeline_chunks == pipeline_chunks
    )


def test_clocked_and_empty_schedules_use_one_chunk() -> None:
    """A clock is for one; of nothing there are no two."""
    made: Any = LITERALS["TACCL, contiguous"].make()
    model = AlphaBeta(alpha_us=0, keep_clock=True)
    assert (
        best_chunk_count(
            Simulator(compile_program(made)), made.clock.size_bytes, model
        ).pipeline_chunks
        == 1
    )
    assert (
        best_chunk_count(
            Simulator(compile_program(generate(network_of("alone", "", "one")).schedule)), GB
        ).time_s
        == 0
    )


@pytest.mark.parametrize("alpha", [0, "0.01"])
def test_latencies_of_links_count_as_alpha_does(alpha: int | str) -> None:
    """A guess from alpha alone would start, and end, far off."""
    found = best_chunk_count(chain(9, latency_us=10), 10**6, AlphaBeta(alpha_us=alpha))
    assert found.pipeline_chunks == 24
    assert found.time_s == pytest.approx(31 * (10e-6 + float(alpha) / 1e6 + 1e-3 / 24))


def test_a_search_ends_before_long_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what events look at: a star of unequal links divides all lanes anew at each of them."""
    module = import_module("forestcoll.schedule.simulate.pipeline_chunks")
    monkeypatch.setattr(module, "_MOST_WORK", 2**20)
    rng = random.Random(1)
    links = ", ".join(f"g{i} - hub: {rng.randint(1000, 9999)}" for i in range(12))
    star = network_of("[hub] g0..11", links, "star")
    simulator = Simulator(compile_program(generate(star, k=1).schedule))
    found = best_chunk_count(simulator, 10**12, AlphaBeta(alpha_us=1))
    assert 0 < found.work < 2**21
    assert found.pipeline_chunks < MOST_PIPELINE_CHUNKS


def test_the_most_must_be_a_number() -> None:
    for most in (0, -1, True, 1e3):
        with pytest.raises(InvalidParameterError, match=r"^most is"):
            best_chunk_count(chain(3), GB, most=most)  # type: ignore[arg-type]


def test_the_largest_chunk_gives_the_number() -> None:
    """Over a chain each transfer has all data: 100 bytes in chunks of 30 are four chunks."""
    assert [chunk_count_within(chain(3), 100, most) for most in (30, 50, 100, 1000)] == [4, 2, 1, 1]
    for most in (0, True, 1.5):
        with pytest.raises(InvalidParameterError, match=r"^the size of a pipeline chunk is"):
            chunk_count_within(chain(3), 100, most)  # type: ignore[arg-type]


def test_a_search_with_a_window_ends_once_little_is_saved() -> None:
    """Without costs, ever more chunks save ever less; fewer than the largest number are tried."""
    found = best_chunk_count(chain(9), GB, AlphaBeta(window="unlimited"))
    assert 1000 < found.pipeline_chunks < MOST_PIPELINE_CHUNKS
    assert found.time_s == pytest.approx(8 * 10e-6 + 1, rel=1e-2)
    costly = best_chunk_count(chain(9), GB, AlphaBeta(window="unlimited", chunk_cost_us=10))
    assert costly.pipeline_chunks < found.pipeline_chunks
