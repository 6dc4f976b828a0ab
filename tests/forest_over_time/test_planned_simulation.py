"""Simulations by time plans."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll import generate
from forestcoll.compilation import compile_program
from forestcoll.forest_over_time.planned_simulation import PlannedSimulator
from forestcoll.schedule import Allreduce
from forestcoll.schedule.allreduce import AnySchedule
from forestcoll.schedule.simulate import AlphaBeta, Simulation
from tests.baselines.once_each import in_turn
from tests.schedule.made.planned import at_rates, common_sum, path_forest, slotted_path, slotted_sum

FREE = AlphaBeta(alpha_us=0)
BOTH = Allreduce(slotted_sum(), slotted_path())


def run(schedule: AnySchedule, size: int = 3000, model: AlphaBeta = FREE) -> Simulation:
    simulator = PlannedSimulator.of(schedule)
    assert simulator is not None
    found = simulator.run(size, model, compile_program(schedule))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("schedule", "us"),
    [(slotted_path(), 3), (slotted_sum(), 3), (at_rates(), 4), (BOTH, 6)],
)
def test_the_time_is_that_of_the_plan(schedule: AnySchedule, us: int):
    found = run(schedule)
    assert (found.by_plan, found.closed, found.pipeline_chunks) == (True, True, 1)
    assert found.time_s == pytest.approx(us * 1e-6, rel=1e-12)
    assert found.timeline is not None
    assert found.timeline.end_s.max() == pytest.approx(us * 1e-6, rel=1e-12)


@pytest.mark.first_rows(1)
@pytest.mark.parametrize(
    ("collective", "size"), in_turn(["allgather", "allreduce"], [1_000_000, 16_000_000])
)
def test_a_made_schedule_takes_as_long_as_it_states(collective: str, size: int):
    timed = generate("dgx_a100:boxes=2", collective=collective, size=size).timed
    assert timed is not None
    found = run(timed.schedule, size, AlphaBeta())
    assert found.time_s * 1e6 == pytest.approx(float(timed.time_us), rel=1e-12)


def test_other_sizes_and_latencies_scale_the_plan():
    """Slots as wide as the data or a hop; rates until (5 + sqrt 5) / 2 us and not the 4 stated."""
    assert run(slotted_path(), 9000).time_s == pytest.approx(7e-6)
    assert run(slotted_path(), 3000, AlphaBeta(alpha_us=4)).time_s == pytest.approx(15e-6)
    assert run(at_rates(), 2999).time_s == pytest.approx((5 + 5**0.5) / 2 * 1e-6, rel=1e-3)
    assert run(slotted_path(), 1500, AlphaBeta(alpha_us=0, efficiency="0.5")).time_s == 3e-6


def test_models_with_more_than_alpha_are_left_to_simulations():
    simulator = PlannedSimulator.of(slotted_path())
    assert simulator is not None
    for model in (
        AlphaBeta(sharing="fifo"),
        AlphaBeta(lockstep=True),
        AlphaBeta(keep_clock=True),
        AlphaBeta(chunk_cost_us=1),
        AlphaBeta(message_cost_us=1),
        AlphaBeta(priority="critical-path"),
    ):
        assert not simulator.suits(model)
        assert simulator.run(3000, model) is None
    adding = AlphaBeta(alpha_us=0, gamma_s_per_gb=1)
    assert simulator.suits(adding)
    assert simulator.suits(AlphaBeta(window=4))
    reduction = PlannedSimulator.of(slotted_sum())
    assert reduction is not None
    assert not reduction.suits(adding)


def test_schedules_without_a_plan_have_no_such_simulator():
    assert PlannedSimulator.of(path_forest()) is None
    assert PlannedSimulator.of(Allreduce(slotted_sum(), path_forest())) is None


def times(schedule: AnySchedule, size: int = 3000) -> dict[tuple[int, int, int], tuple[float, ...]]:
    """Start, flow and end in us, by root, sender and receiver; phases add 10 to the root."""
    timeline, program = run(schedule, size).timeline, compile_program(schedule)
    assert timeline is not None
    gather = isinstance(schedule, Allreduce) & ~program.reduce
    keys = zip(
        (program.chunk + 10 * gather).tolist(),
        program.tail.tolist(),
        program.head.tolist(),
        strict=True,
    )
    moments = np.stack([timeline.start_s, timeline.flow_s, timeline.end_s], axis=1)[:, :, 0]
    return dict(zip(keys, map(tuple, np.round(moments * 1e6, 9).tolist()), strict=True))


def test_a_timeline_shows_every_hop_in_its_slot():
    """A hop waits 1 us of latency, then its data arrive for the width of a slot."""
    found = times(slotted_path())
    assert found[0, 0, 1] == (0, 1, 2)
    assert found[0, 1, 2] == (1, 2, 3)
    assert found[1, 1, 0] == found[1, 1, 2] == (0, 1, 2)
    assert times(slotted_sum())[0, 2, 1] == (0, 1, 2)


def test_the_gathering_starts_when_the_reduction_has_ended():
    found = times(BOTH)
    assert found[0, 1, 0] == (1, 2, 3)
    assert found[10, 0, 1] == (3, 4, 5)


def test_phases_in_common_slots_take_one_time():
    """3 us for 1000 bytes; for 3000 slots of 3 us, for 300 still of 1 us."""
    assert run(common_sum(), 1000).time_s == pytest.approx(3e-6)
    assert run(common_sum(), 3000).time_s == pytest.approx(7e-6)
    assert run(common_sum(), 300).time_s == pytest.approx(3e-6)
    assert run(common_sum(), 1000, AlphaBeta(alpha_us=4)).time_s == pytest.approx(15e-6)


def test_a_timeline_in_common_slots_begins_with_the_reduction():
    found = times(common_sum(), 1000)
    assert found[0, 0, 1] == found[0, 2, 1] == (0, 1, 2)
    assert found[10, 1, 0] == found[10, 1, 2] == (1, 2, 3)


def test_a_timeline_at_constant_rates_waits_for_latencies_only():
    """Data of a flow for 4 - 2 us, those of b for 4 - 1; a reduction backwards in time."""
    found = times(at_rates())
    assert found[0, 0, 1] == (0, 1, 3)
    assert found[0, 1, 2] == (1, 2, 4)
    assert found[1, 1, 2] == (0, 1, 4)
    backwards = times(replace(slotted_sum(), plan=at_rates().plan))
    assert backwards[0, 2, 1] == (0, 1, 3)
    assert backwards[0, 1, 0] == (1, 2, 4)
    assert backwards[1, 2, 1] == (0, 1, 4)


def test_rows_of_a_tree_are_columns_with_their_shares():
    made = generate("dgx_a100:boxes=2", size=16_000_000).forest
    found = run(made, 16_000_000, AlphaBeta()).timeline
    assert found is not None
    assert found.share is not None
    assert np.allclose(found.share.sum(axis=1), 1)
    assert found.share.shape[1] == found.pipeline_chunks > 1


def test_the_chain_that_ends_last_goes_back_to_the_root():
    """From a to b in the first slot, to c as soon as the first data are there."""
    timeline, program = run(slotted_path()).timeline, compile_program(slotted_path())
    assert timeline is not None
    chain = [timeline.first[row] for row, _ in timeline.last_chain(program)]
    hops = [(program.tail[one], program.head[one]) for one in chain]
    assert hops == [(0, 1), (1, 2)]


def test_a_chain_of_rounded_times_begins_at_its_root():
    """0.1 + 0.1 + 0.1 is above 0.3 in floats: hop three seems to leave after hop four began."""
    made = generate("ring:nodes=5,bidirectional=false", size=10**6, alpha_us="0.1").forest
    found = run(made, 10**6, AlphaBeta(alpha_us="0.1"))
    timeline, program = found.timeline, compile_program(made)
    assert timeline is not None
    chain = [timeline.first[row] for row, _ in timeline.last_chain(program)]
    assert len(chain) == 4
    assert program.tail[chain[0]] == program.chunks.root[program.chunk[chain[0]]]


def test_the_size_counts_exactly():
    """A byte more than the plan's is another size, at other rates."""
    plan = at_rates().plan
    assert plan is not None
    later = replace(at_rates(), plan=replace(plan, time_us=Fraction(5)))
    assert run(later).time_s == pytest.approx(5e-6)
    assert run(later, 3001).time_s < 4e-6
    assert run(later, 3000, AlphaBeta(alpha_us="0.001")).time_s < 4e-6
