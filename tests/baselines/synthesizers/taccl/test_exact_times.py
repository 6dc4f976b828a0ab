"""Times against the least solution of the same differences, found by going round and round."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from baselines.synthesizers.taccl.contiguity import best_messages
from baselines.synthesizers.taccl.exact_times import (
    Message,
    schedule_from,
    sequences,
    singly,
    timetable,
)
from baselines.synthesizers.taccl.ordering import HEURISTICS, Transfer, ordered
from baselines.synthesizers.taccl.routing import Routing
from forestcoll.errors import VerificationError
from forestcoll.schedule import verify
from forestcoll.solver.linear_program import Settings
from tests.baselines.synthesizers.taccl.instances import (
    SPECS,
    random_routes,
    routing_of,
    two_boxes,
)


def relaxed(
    routing: Routing, order: tuple[Transfer, ...], messages: list[Message]
) -> dict[Transfer, Fraction] | None:
    """Raise starts until all is well; None if that does not end."""
    links = routing.network.links
    of = {one: message for message in messages for one in message}
    start = dict.fromkeys(order, Fraction(0))

    def end(one: Transfer) -> Fraction:
        link = links[one.link]
        return start[one] + link.latency_us + len(of[one]) * link.busy_us

    for _ in range(len(order) + 2):
        before = dict(start)
        for one in order:
            feeders = [
                t
                for t in order
                if t.chunk == one.chunk and links[t.link].head == links[one.link].tail
            ]
            start[one] = max([start[one], *map(end, feeders)])
        for row in sequences(routing.network, order):
            for n, one in enumerate(row):
                for other in row[n + 1 :]:
                    if of[one] != of[other]:
                        start[other] = max(start[other], end(one))
        for message in messages:
            for one in message:
                start[one] = max(start[each] for each in message)
        if start == before:
            return start
    return None


@pytest.mark.parametrize("heuristic", HEURISTICS)
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.each_value_once
def test_times_are_the_least(spec: str, heuristic: str) -> None:
    routing = routing_of(spec)
    order = ordered(routing, random_routes(routing, 3), heuristic)
    found = timetable(routing.network, order, singly(order))
    assert found is not None
    least = relaxed(routing, order, singly(order))
    tick = found.tick_us
    assert {m[0]: s * tick for m, s in zip(found.messages, found.start, strict=True)} == least


@pytest.mark.parametrize("seed", range(12))
def test_times_of_messages_are_the_least_or_there_are_none(seed: int) -> None:
    """Neighbours on a link are sent together at random, some of which wait for each other."""
    rng = random.Random(seed)
    routing = routing_of(rng.choice([two_boxes(3), "ring:nodes=5", "paper_example"]))
    order = ordered(routing, random_routes(routing, seed), rng.choice(HEURISTICS))
    messages: list[Message] = []
    for row in sequences(routing.network, order)[: len(routing.network.links)]:
        while row:
            count = rng.choice([1, 1, 1, 2, 3])
            messages.append(tuple(row[:count]))
            row = row[count:]
    found, least = timetable(routing.network, order, messages), relaxed(routing, order, messages)
    assert (found is None) == (least is None)
    if found is not None and least is not None:
        for message, start in zip(found.messages, found.start, strict=True):
            assert {least[one] for one in message} == {start * found.tick_us}


def test_a_message_that_waits_for_itself_has_no_time() -> None:
    """A chunk goes out and round and comes in again for a second link's message."""
    routing = routing_of("ring:nodes=3")
    number = {(link.tail, link.head): i for i, link in enumerate(routing.network.links)}
    ahead, on = Transfer(0, number[0, 1]), Transfer(0, number[1, 2])
    assert timetable(routing.network, (ahead, on), [(ahead, on)]) is None


def test_nothing_finishes_at_once() -> None:
    found = timetable(routing_of("ring:nodes=3").network, (), [])
    assert found is not None
    assert found.finish_us == 0


@pytest.mark.parametrize("collective", ["allgather", "all-to-all"])
@pytest.mark.parametrize("spec", [*SPECS, "fat_tree:leaves=2,hosts=2,spines=3", "dgx_h100:boxes=2"])
@pytest.mark.each_value_once
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
