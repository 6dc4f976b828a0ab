"""Stages: run, timed and reported, in order."""

import time
from collections.abc import Callable

import pytest

from forestcoll.core.stopwatch import Stopwatch, within
from forestcoll.errors import TimeLimitError


def test_a_stage_is_reported_from_start_to_end() -> None:
    """Reports of the work itself lie between."""
    calls: list[tuple[str, int, int]] = []

    def work(report: Callable[[int, int], None] | None) -> str:
        assert report is not None
        report(3, 7)
        return "done"

    assert Stopwatch(lambda *each: calls.append(each)).run("packing", work) == "done"
    assert calls == [("packing", 0, 1), ("packing", 3, 7), ("packing", 1, 1)]


def test_without_a_callback_nothing_is_reported() -> None:
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


def test_a_callback_may_stop_the_work() -> None:
    """Before it begins."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Stopwatch(stop).run("packing", lambda _: pytest.fail("was run"))


def test_a_time_limit_stops_what_is_not_done() -> None:
    """Reports go on to the callback until then, and the end of a stage always does."""
    calls: list[tuple[str, int, int]] = []
    within(60, lambda *each: calls.append(each))("packing", 0, 2)
    late = within(0, lambda *each: calls.append(each))
    time.sleep(0.001)
    with pytest.raises(TimeLimitError, match=r"^packing: the limit of 0 s was reached$"):
        late("packing", 1, 2)
    late("packing", 2, 2)
    assert calls == [("packing", 0, 2), ("packing", 2, 2)]
    within(60, None)("packing", 0, 2)
