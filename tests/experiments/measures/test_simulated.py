"""Simulations as measures: times by hand, their bounds, and schedules that have none."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from baselines.registry import METHODS
from experiments.measures import simulated as module
from experiments.measures.run_result import RunResult
from experiments.measures.simulated import Assumptions, Simulated
from forestcoll import generate
from forestcoll.errors import InvalidParameterError, UnsupportedError, VerificationError
from forestcoll.schedule.simulate import AlphaBeta, Simulation
from forestcoll.topology import load_topology
from tests.schedule.made.planned import slotted_path


def simulated(method: str = "ring", spec: str = "ring:nodes=4", **given: Any) -> Simulated:
    topology = load_topology(spec)
    schedule = METHODS[method].run(topology, "allgather")
    made = RunResult(schedule, topology, "allgather", assumptions=Assumptions.of(given))
    assert made.simulated is not None
    return made.simulated


def test_assumptions_are_read_from_plain_data() -> None:
    """What is left out is 10 us, no gamma, fair sharing and the best number of pipeline chunks."""
    assert Assumptions.of({}) == Assumptions(AlphaBeta(), None)
    given = {"alpha_us": "9.5", "gamma_s_per_gb": 1, "sharing": "fifo", "pipeline_chunks": 3}
    model = AlphaBeta(alpha_us="9.5", gamma_s_per_gb=1, sharing="fifo")  # type: ignore[arg-type]
    assert Assumptions.of(given) == Assumptions(model, 3)
    with pytest.raises(InvalidParameterError, match="alpha is -1 us"):
        Assumptions.of({"alpha_us": -1})


def test_a_constant_comes_on_top_of_every_run() -> None:
    """The ring below, 30.375 us, and 21.6 us for the start of a kernel, not in the bound."""
    found = simulated(pipeline_chunks=1, constant_us="21.6").at(1000)
    assert found is not None
    assert found.time_s == pytest.approx(30.375e-6 + 21.6e-6)
    assert simulated(constant_us="21.6").least_s(1000) == pytest.approx(20.125e-6)
    assert Assumptions.of({"constant_us": "21.6"}).constant_us == Fraction(108, 5)
    with pytest.raises(InvalidParameterError, match="constant is -1 us; it must be from 0"):
        Assumptions.of({"constant_us": -1})


def test_a_ring_takes_its_steps() -> None:
    """4 GPUs, 2 rings of halves of 500 bytes at 1 GB/s: 3 steps of 10 + 0.125 us in one chunk."""
    found = simulated(pipeline_chunks=1).at(1000)
    assert found is not None
    assert found.time_s == pytest.approx(3 * 10.125e-6)
    assert found.pipeline_chunks == 1


def test_in_lockstep_one_piece_takes_the_time_synchronous() -> None:
    """BFB's reduce-scatter on a hypercube of 1 GB/s links: 3 hops, and 7/8 of 1 GB over 3 links."""
    topology = load_topology("hypercube:dimension=3")
    schedule = METHODS["bfb"].run(topology, "reduce-scatter")
    assumed = Assumptions.of({"alpha_us": 10, "lockstep": True, "pipeline_chunks": 1})
    made = RunResult(schedule, topology, "reduce-scatter", assumptions=assumed)
    assert made.simulated is not None
    found = made.simulated.at(10**9)
    assert found is not None
    assert found.time_s == pytest.approx(30e-6 + 7 / 24)


def test_the_bound_is_of_latencies_and_rate_together() -> None:
    """2 hops of 10 us, for 250 bytes over 2 links; a hop of 10 us and 8/3 GB/s for 1 GB."""
    found = simulated()
    assert found.least_s(1000) == pytest.approx(20.125e-6)
    assert found.least_s(10**9) == pytest.approx(0.375010)
    assert found.over_bound(1000) == pytest.approx(3 * 10.125 / 20.125)


def test_each_size_is_simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = simulated()
    first = found.at(1000)
    monkeypatch.setattr(module, "best_chunk_count", None)
    assert found.at(1000) is first


def test_faster_than_the_bound_is_an_error() -> None:
    """One of the two is wrong."""
    found = replace(simulated(), rate_gb_s=Fraction(1, 1000))
    with pytest.raises(VerificationError, match=r"less than the lower bound of 0\.00101 s"):
        found.at(1000)


def test_rounding_is_not_an_error() -> None:
    """Without latencies a schedule that is optimal may meet its bound to the last digit."""
    topology = load_topology("dgx_a100:boxes=2")
    made = RunResult(
        generate(topology).schedule, topology, "allgather", assumptions=Assumptions.of({})
    )
    assert made.simulated is not None
    free = replace(made.simulated, assumptions=Assumptions.of({"alpha_us": 0}))
    for size in (99_991, 10**6, 10**9):
        over = free.over_bound(size)
        assert over == pytest.approx(1, abs=0.05)
    assert (free.over_bound(1) or 0) > 1.05  # a byte is not cut into pipeline chunks


def test_schedules_without_a_program_have_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no simulation, no ratio, no error."""

    def refuses(_: object) -> None:
        raise UnsupportedError("unsupported: too many units")

    monkeypatch.setattr(module, "compile_program", refuses)
    found = simulated()
    assert found.remark == "too many units"
    assert found.at(1000) is found.over_bound(1000) is None


def test_nobody_waits_for_gpus_without_data() -> None:
    """Of a line whose middle has all of the data, two hops are the farthest, not four."""
    topology = load_topology("torus:dims=5,wrap=false")
    forest = generate(topology, weights=[0, 0, 1, 0, 0]).schedule
    made = Simulated(
        forest, Assumptions(), topology, weights=(0, 0, 1, 0, 0), rate_gb_s=Fraction(1)
    )
    assert made.least_s(1) == pytest.approx(20e-6, rel=1e-4)
    assert made.over_bound(1) == pytest.approx(1, rel=1e-3)


def test_without_a_rate_there_is_no_ratio() -> None:
    """As of an all-to-all whose program did not finish; the latency is still held against it."""
    found = replace(simulated(), rate_gb_s=None)
    assert found.over_bound(1000) is None
    assert found.at(1000) is not None


def test_a_forest_over_time_keeps_to_its_plan_where_that_is_faster() -> None:
    """The path of three in 3 us by slots; with one pipeline chunk links are shared: 4 us."""
    forest = slotted_path()

    def at(size: int, **given: Any) -> Simulation:
        assumed = Assumptions.of({"alpha_us": 0, **given})
        made = RunResult(forest, forest.topology, "allgather", assumptions=assumed)
        assert made.simulated is not None
        found = made.simulated.at(size)
        assert found is not None
        return found

    assert (at(3000).by_plan, at(3000).time_s) == (True, pytest.approx(3e-6))
    assert not at(3000, pipeline_chunks=1).by_plan
    assert at(3000, pipeline_chunks=1).time_s > 3.5e-6
    assert at(3_000_000).time_s <= at(3_000_000, pipeline_chunks=1).time_s
