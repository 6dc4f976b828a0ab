"""Timelines of two streams, by hand and against an independent simulation."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.training.timeline import Stream, Task, timeline
from forestcoll.errors import InvalidParameterError

COMPUTE, SEND = Stream.COMPUTE, Stream.COMMUNICATION


@st.composite
def tasks(draw: st.DrawFn) -> list[Task]:
    made: list[Task] = []
    for number in range(draw(st.integers(0, 12))):
        earlier = [task.name for task in made]
        after = draw(st.lists(st.sampled_from(earlier), max_size=3, unique=True)) if earlier else []
        stream = draw(st.sampled_from(list(Stream)))
        made.append(Task(f"t{number}", stream, draw(st.integers(0, 9)), tuple(after), stream.value))
    return made


def by_simpy(made: list[Task]) -> dict[str, tuple[float, float]]:
    """Run two processes, each of which works off its own list and waits for events of others."""
    world = simpy.Environment()
    done = {task.name: world.event() for task in made}
    found: dict[str, tuple[float, float]] = {}

    def stream(which: Stream) -> Generator[Any, Any, None]:
        for task in made:
            if task.stream is which:
                for name in task.after:
                    yield done[name]
                start = world.now
                yield world.timeout(task.seconds)
                found[task.name] = (start, world.now)
                done[task.name].succeed()

    for each in Stream:
        world.process(stream(each))
    world.run()
    return found


@pytest.mark.slow
@settings(deadline=None)
@given(tasks())
def test_every_task_runs_when_an_independent_simulation_says(made: list[Task]) -> None:
    found = timeline(made)
    assert {run.task.name: (run.start, run.end) for run in found.runs} == by_simpy(made)


@given(tasks())
def test_times_add_up(made: list[Task]) -> None:
    found = timeline(made)
    assert found.computing + found.visible == pytest.approx(found.seconds)
    assert found.hidden + sum(found.visible_by_kind().values()) == found.communicating
    assert sum(found.visible_by_kind().values()) == pytest.approx(found.visible)


def test_an_overlap_by_hand() -> None:
    """Two layers of 4 s; the first one's gradients take 6 s, of which 4 are hidden."""
    found = timeline(
        [
            Task("a", COMPUTE, 4, (), "compute"),
            Task("sum of a", SEND, 6, ("a",), "allreduce"),
            Task("b", COMPUTE, 4, ("a",), "compute"),
            Task("sum of b", SEND, 1, ("b",), "allreduce"),
        ]
    )
    assert [(run.start, run.end) for run in found.runs] == [(0, 4), (4, 10), (4, 8), (10, 11)]
    assert (found.seconds, found.computing, found.communicating) == (11, 8, 7)
    assert (found.visible, found.hidden) == (3, 4)
    assert found.visible_by_kind() == {"allreduce": 3}


def test_computation_that_starts_during_a_collective_hides_its_rest() -> None:
    found = timeline(
        [
            Task("a", COMPUTE, 4, (), "compute"),
            Task("exchange", SEND, 8, (), "all-to-all"),
            Task("b", COMPUTE, 2, ("a",), "compute"),
        ]
    )
    assert found.visible_by_kind() == {"all-to-all": 2}
    assert found.hidden == 6


def test_nothing_takes_no_time() -> None:
    assert (timeline([]).seconds, timeline([]).visible) == (0, 0)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ([Task("a", SEND, 1), Task("a", SEND, 1)], "'a' occurs twice"),
        ([Task("a", SEND, 1, ("b",)), Task("b", SEND, 1)], "waits for 'b', which does not come"),
        ([Task("a", SEND, -1)], "takes -1 s"),
        ([Task("a", SEND, float("nan"))], "takes nan s"),
        ([Task("a", SEND, float("inf"))], "takes inf s"),
    ],
)
def test_wrong_tasks_are_refused(made: list[Task], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        timeline(made)
