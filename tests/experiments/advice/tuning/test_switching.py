"""Between which sizes the best schedule changes."""

from collections.abc import Callable, Mapping

import pytest

from experiments.advice.tuning.schedule_search import AtSize, Trial
from experiments.advice.tuning.switching import middle, ranges, refined, usable
from forestcoll.schedule.simulate import AlphaBeta, Simulation

Times = Mapping[str, Callable[[int], float]]

LINES: Times = {
    "hop": lambda size: 10 + size / 10,
    "ring": lambda size: 100 + size / 100,
}
"""Seconds; they cross at 1000 bytes."""


def at(size: int, times: Times = LINES) -> AtSize:
    trials = []
    for name, time in times.items():
        found = Simulation(size, 1 + size // 500, time(size), AlphaBeta())
        trials.append(Trial(name, found, time(size)))
    best = min(trials, key=lambda one: one.at_least_s)
    return AtSize(size, 5.0, best, tuple(trials))


def test_the_change_is_found_to_a_tenth() -> None:
    asked: list[int] = []

    def ask(size: int) -> AtSize:
        asked.append(size)
        return at(size)

    found = refined([at(100), at(200), at(10_000), at(20_000)], ask)
    sizes = [one.size_bytes for one in found]
    assert sizes == sorted({100, 200, 10_000, 20_000, *asked})
    assert len(asked) <= 6
    low, high = ranges(found)
    assert (low.name, high.name) == ("hop", "ring")
    assert low.last_bytes <= 1000 <= high.first_bytes <= 1.1 * low.last_bytes
    assert (low.first_bytes, high.last_bytes) == (100, 20_000)
    assert low.least_share == pytest.approx(5 / (10 + low.last_bytes / 10))
    assert high.pipeline_chunks == (1 + high.first_bytes // 500, 41)


def test_a_third_that_is_best_in_between_is_found() -> None:
    times = {**LINES, "tree": lambda size: 60 + size / 40}
    found = ranges(refined([at(10, times), at(10_000, times)], lambda size: at(size, times)))
    assert [one.name for one in found] == ["hop", "tree", "ring"]


def test_equal_winners_and_near_sizes_are_not_refined() -> None:
    def ask(size: int) -> AtSize:
        raise AssertionError(size)

    assert len(ranges(refined([at(1), at(900)], ask))) == 1
    assert len(ranges(refined([at(990), at(1010)], ask))) == 2
    assert len(refined([at(7)], ask)) == 1


def test_sizes_in_between_are_inside_and_short_in_binary() -> None:
    assert middle(1, 4) == 2
    assert middle(10**6, 10**8) == 9961472 == 38 * 2**18
    for low, high in ((3, 4), (1, 2)):
        assert not low < middle(low, high) < high


def test_between_small_sizes_whole_ones_are_tried_to_the_last() -> None:
    """Of 7 and 9 the middle rounds down to 7; they are farther apart than a tenth."""
    assert middle(7, 9) == 8
    times: Times = {"low": lambda size: size, "high": lambda size: 16.1 - size}
    low, high = ranges(refined([at(7, times), at(9, times)], lambda size: at(size, times)))
    assert (low.last_bytes, high.first_bytes) == (8, 9)
    for small in range(1, 70):
        for large in range(small + 2, 80):
            assert small < middle(small, large) < large


def test_ranges_within_a_share_are_fewer_and_lose_no_more() -> None:
    """At 950 bytes hop takes 105, ring 109.5: 4.3 % more; at 1100 120 to 111: 8 %."""
    tried = [at(size) for size in (100, 900, 950, 1000, 1100, 5000)]
    assert [one.last_bytes for one in ranges(tried)] == [1000, 5000]
    assert all(one.slower == 0 for one in ranges(tried))
    low, high = ranges(tried, 0.09)
    assert (low.name, low.last_bytes, high.name) == ("hop", 1100, "ring")
    assert low.slower == pytest.approx(120 / 111 - 1)
    (all_of_it,) = ranges(tried[1:], 0.1)
    assert (all_of_it.name, all_of_it.slower) == ("ring", pytest.approx(0.09))


def test_ends_of_ranges_within_a_share_are_found_to_a_tenth_too() -> None:
    """Hop takes 20 % more than ring at 1333 bytes: there the range ends."""
    found = refined([at(10), at(100_000)], at, within=0.2)
    low, high = ranges(found, 0.2)
    assert low.last_bytes <= 1333 <= high.first_bytes <= 1.1 * low.last_bytes


def test_the_smallest_loss_within_the_share_is_taken() -> None:
    times = {"slow": lambda size: 1.05, "fast": lambda size: 1.0, "near": lambda size: 1.01}
    (found,) = ranges([at(1, times), at(2, times)], 0.1)
    assert (found.name, found.slower) == ("fast", 0)


def test_usable_schedules_are_the_best_and_near_ones() -> None:
    """At 950 bytes hop takes 105, ring 109.5: 4.3 % more."""
    assert usable(at(950)) == {"hop"}
    assert usable(at(950), 0.04) == {"hop"}
    assert usable(at(950), 0.05) == {"hop", "ring"}
