"""Step schedules: what they say of themselves, and when two say the same."""

from dataclasses import replace

import numpy as np
import pytest

from forestcoll.schedule.sends import Intervals
from forestcoll.schedule.steps import COLLECTIVES, REDUCTIONS, WEIGHTED, StepSchedule
from tests.schedule.literals import LITERALS
from tests.schedule.made.steps import SCHEDULES, doubling, relay


@pytest.mark.parametrize("name", SCHEDULES)
def test_steps_and_sums_are_counted(name: str) -> None:
    """The last step, from 0; and sums where any transfer adds."""
    made = SCHEDULES[name]()
    assert made.num_steps == len(set(made.sends.step.tolist()))
    assert made.reduction == bool(made.sends.reduce.any())
    assert made.weights == (1,) * made.topology.num_compute
    assert {*REDUCTIONS, *WEIGHTED, made.collective} <= set(COLLECTIVES)


def test_nothing_to_send_takes_no_step() -> None:
    made = doubling()
    assert replace(made, sends=made.sends.taken(np.zeros(0, dtype=np.int64))).num_steps == 0


def written_out(made: StepSchedule) -> StepSchedule:
    """The same, with all that goes without saying, and each step's transfers backwards."""
    order = np.lexsort((-np.arange(len(made.sends)), made.sends.step))
    whole = made.intervals
    sends = replace(
        made.sends, interval=Intervals(whole.first, whole.amount), path=made.sends.paths
    )
    made = replace(made, sends=sends.taken(order))
    if made.clock is None:
        return made
    clock = replace(made.clock, start=made.clock.start[order], end=made.clock.end[order])
    alone = np.full(len(order), -1, dtype=np.int32)
    return replace(made, clock=replace(clock, message=alone))


@pytest.mark.parametrize("make", [doubling, relay, LITERALS["recursive doubling in time"].make])
def test_explicit_defaults_make_no_difference(make) -> None:
    """Whole chunks, all paths, messages of their own, and the order within a step."""
    made = make()
    long = written_out(made)
    assert long == made
    assert hash(long) == hash(made)
    short = long.in_short()
    assert (short.sends.interval, short.sends.path) == (None, None)
    assert short.sends.head.tolist() == made.sends.head.tolist()
    assert short.clock is None or short.clock.message is None


def test_parts_of_chunks_do_not_go_without_saying() -> None:
    """Half a chunk is not all of it, and whoever sends other units is another schedule."""
    made = LITERALS["an allreduce rooted unit by unit"].make()
    short = made.in_short()
    assert short.sends.interval is not None
    other = Intervals(1 - made.intervals.first, made.intervals.amount)
    assert replace(made, sends=replace(made.sends, interval=other)) != made


def test_arrays_that_do_not_fit_together_are_kept() -> None:
    """For ``verify`` to say what is wrong."""
    made = doubling()
    ragged = replace(made, sends=replace(made.sends, head=made.sends.head[:-1]))
    assert len(ragged.in_short().sends.head) == len(made.sends) - 1
    assert ragged != made
