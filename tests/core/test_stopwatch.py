"""Stages: run, timed and told of, in order."""

import time
from collections.abc import Callable

import pytest

from forestcoll.core.stopwatch import Stopwatch


def test_a_stage_is_told_from_start_to_end() -> None:
    """What the work tells of itself lies between."""
    told: list[tuple[str, int, int]] = []

    def work(report: Callable[[int, int], None] | None) -> str:
        assert report is not None
        report(3, 7)
        return "done"

    assert Stopwatch(lambda *each: told.append(each)).run("packing", work) == "done"
    assert told == [("packing", 0, 1), ("packing", 3, 7), ("packing", 1, 1)]


def test_nobody_is_told_where_nobody_asks() -> None:
    assert Stopwatch().run("packing", lambda report: report) is None


def test_times_of_a_stage_that_runs_twice_are_added() -> None:
    """In the order in which stages began."""
    clock = Stopwatch()
    clock.run("routing", lambda _: time.sleep(0.01))
    clock.run("packing", lambda _: None)
    once = clock.seconds["routing"]
    assert once >= 0.01
    clock.run("routing", lambda _: time.sleep(0.01))
    assert clock.seconds["routing"] >= once + 0.01
    assert clock.seconds["packing"] < 0.01
    assert list(clock.seconds) == ["routing", "packing"]


def test_who_is_told_may_stop_the_work() -> None:
    """Before it begins."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Stopwatch(stop).run("packing", lambda _: pytest.fail("was run"))
