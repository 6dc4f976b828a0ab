"""Timetables on the clock: verify finds nothing, and the finish is the model's."""

from dataclasses import replace

import numpy as np
import pytest

from baselines.synthesizers.taccl.clocked_sends import schedule_from
from baselines.synthesizers.taccl.contiguity import best_messages
from baselines.synthesizers.taccl.exact_times import singly, timetable
from baselines.synthesizers.taccl.ordering import HEURISTICS, ordered
from forestcoll.errors import VerificationError
from forestcoll.schedule import verify
from lp.solver.linear_program import Settings
from tests.baselines.synthesizers.taccl.instances import (
    SPECS,
    random_routes,
    routing_of,
    two_boxes,
)


@pytest.mark.parametrize("collective", ["allgather", "all-to-all"])
@pytest.mark.parametrize("spec", [*SPECS, "fat_tree:leaves=2,hosts=2,spines=3", "dgx_h100:boxes=2"])
def test_any_routes_make_a_schedule_that_verifies(spec: str, collective: str) -> None:
    """Whatever is busy at once, no physical link carries more than it can."""
    routing = routing_of(spec, collective)
    for seed, heuristic in enumerate(HEURISTICS):
        order = ordered(routing, random_routes(routing, seed), heuristic)
        times = timetable(routing.network, order, singly(order))
        assert times is not None
        made = schedule_from(routing.network, routing.exchange, times, 10**6)
        verify(made)
        assert made.clock.finish_us == times.finish_us


def test_two_planes_of_a_switch_carry_no_more_than_the_switch() -> None:
    every = tuple(range(8))
    routing = routing_of("dgx_a100:boxes=1", switches=(every, every), symmetry=())
    order = ordered(routing, random_routes(routing, 0), "farthest")
    times = timetable(routing.network, order, singly(order))
    assert times is not None
    verify(schedule_from(routing.network, routing.exchange, times, 10**6))


def test_messages_are_sent_as_one() -> None:
    routing = routing_of(two_boxes(40), size_bytes=400_000)
    order = ordered(routing, random_routes(routing, 0), "earliest")
    times = best_messages(routing.network, order, Settings(seconds=10)).times
    made = schedule_from(routing.network, routing.exchange, times, 400_000)
    verify(made)
    together = [len(message) for message in times.messages if len(message) > 1]
    message = made.clock.message
    assert sorted(np.bincount(message[message >= 0]).tolist()) == sorted(together)
    assert made.clock.finish_us == times.finish_us


def test_a_schedule_made_a_tick_faster_is_found_out() -> None:
    routing = routing_of("paper_example")
    order = ordered(routing, random_routes(routing, 0), "farthest")
    times = timetable(routing.network, order, singly(order))
    assert times is not None
    made = schedule_from(routing.network, routing.exchange, times, 10**6)
    last = int(made.clock.start.argmax())
    start = made.clock.start.copy()
    start[last] -= 1
    with pytest.raises(VerificationError):
        verify(replace(made, clock=replace(made.clock, start=start)))
