"""The picture of timelines."""

from __future__ import annotations

from experiments.advice.iterations.timeline_figure import timeline_figure
from experiments.training.timeline import Stream, Task, timeline


def test_every_task_is_a_bar_in_the_row_of_its_stream() -> None:
    found = timeline(
        [
            Task("a", Stream.COMPUTE, 0.004, (), "compute"),
            Task("idle", Stream.COMPUTE, 0, (), "compute"),
            Task("sum", Stream.COMMUNICATION, 0.006, ("a",), "allreduce"),
        ]
    )
    figure = timeline_figure({"one": found, "two": found})
    assert [panel.title for panel in figure.panels] == [
        "one: 10 ms, 60% visible communication",
        "two: 10 ms, 60% visible communication",
    ]
    assert [(bar.place, bar.start, bar.length) for bar in figure.panels[0].bars] == [
        (0, 0, 4),
        (1, 4, 6),
    ]
    assert [entry.name for entry in figure.legend] == ["compute", "allreduce"]
    looks = {(bar.style.colour, bar.hatch) for bar in figure.panels[0].bars}
    assert len(looks) == 2
