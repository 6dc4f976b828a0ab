"""Schedules for a size, beside the least time of any schedule."""

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest

from forestcoll import generate, simulate
from forestcoll.core.stopwatch import Progress
from forestcoll.errors import InvalidParameterError, TimeLimitError, UnsupportedError
from forestcoll.forest_over_time.one_phase import STAGE
from forestcoll.forest_over_time.timed_forests import TimedForests
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.schedule import verify
from forestcoll.schedule.allreduce import Allreduce
from tests.cut_over_time.timed_networks import timed_network
from tests.forest_over_time.on_paths import path_of_three
from tests.hand_networks import network_of
from tests.random_topologies import seeds

COLLECTIVES = ("allgather", "reduce-scatter", "broadcast", "reduce", "allreduce")


def rooted(collective: str) -> dict[str, Any]:
    return {"root": 0} if collective in ("broadcast", "reduce") else {}


def test_the_path_of_three_attains_the_bound():
    """The golden ratio at constant rates; 3 us with the middle's own shard first."""
    timed = generate(path_of_three(), size=3000, alpha_us=0).timed
    assert timed is not None
    assert timed.time_us == timed.bound.time_us == 3
    assert (timed.plan, timed.of_bound) == ("slots", 1)


@pytest.mark.first_rows(3)
@pytest.mark.parametrize(
    ("size", "most"), [(32_000, 1), (256_000, 1), (1_000_000, 1.07), (4_000_000, 1.05),
                       (16_000_000, 1.03), (64_000_000, 1.03), (256_000_000, 1.02)]
)  # fmt: skip
def test_two_a100_boxes_are_within_a_tenth_of_the_bound(size: int, most: float):
    timed = generate("dgx_a100:boxes=2", size=size).timed
    assert timed is not None
    assert 1 <= timed.of_bound <= Fraction(most)


def test_a_byte_takes_what_is_left_after_latencies_of_a_thousand_seconds():
    """Two hops of them, and then a byte: 2e-13 of the time, which is no entry for a solver."""
    timed = generate("ring:nodes=5", size=1, alpha_us=10**9).timed
    assert timed is not None
    assert timed.bound.time_us < timed.time_us < timed.bound.time_us + Fraction(1, 1000)


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
def test_at_a_time_limit_the_best_so_far_is_verified(
    collective: str, monkeypatch: pytest.MonkeyPatch
):
    """Time ends when the search begins: constant rates of the first trees, or the core's forest."""

    def ends_at_the_search(seconds: float, _: object) -> Progress:
        def report(stage: str, done: int, total: int) -> None:
            if stage == STAGE and total > 1:
                raise TimeLimitError(f"after {seconds} s")

        return report

    monkeypatch.setattr("forestcoll.generation.within", ends_at_the_search)
    asked = {"collective": collective, "size": "4MB"}
    early = generate("dgx_a100:boxes=2", **asked, time_limit_s=7).timed
    assert early is not None
    verify(early.schedule)
    best = generate("dgx_a100:boxes=2", **asked).timed
    assert best is not None
    assert early.plan == "constant rates"
    assert best.bound.time_us <= best.time_us < early.time_us


def test_without_time_for_a_schedule_there_is_none():
    with pytest.raises(TimeLimitError, match=r"^optimality: the limit of 0 s was reached$"):
        generate("dgx_a100:boxes=2", size="4MB", time_limit_s=0)


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_every_collective_is_verified(collective: str):
    made = generate("paper_example", collective=collective, size="4MB", **rooted(collective))
    verify(made.schedule)
    assert made.schedule.collective == collective
    assert made.timed is not None
    assert made.timed.time_us >= made.timed.bound.time_us


def test_the_phases_of_an_allreduce_share_their_slots():
    """One after the other they take 30 us each; together they attain the bound."""
    network, size = "paper_example", 100_000
    both, one = (
        generate(network, collective=name, size=size).timed for name in ("allreduce", "allgather")
    )
    assert both is not None
    assert one is not None
    assert isinstance(both.schedule, Allreduce)
    assert one.time_us == 30
    assert both.plan == "common slots"
    assert both.time_us == both.bound.time_us == verify(both.schedule).plan_time_us == 50


def test_the_phases_of_an_allreduce_at_a_root_add_up():
    made = generate("paper_example", collective="allreduce", root=3, size=100_000)
    assert made.timed is not None
    assert isinstance(made.schedule, Allreduce)
    plans = [one.plan for one in made.schedule.phases if one.plan is not None]
    assert made.timed.time_us == sum(plan.time_us for plan in plans)
    assert verify(made.schedule).plan_time_us == made.timed.time_us
    assert made.timed.plan != "common slots"


def test_sizes_share_their_work():
    forests = TimedForests(Request.of("ring:nodes=5", Options()), Fraction(2))
    times = [forests.at(size).time_us for size in (100, 10_000, 1_000_000)]
    assert times == sorted(times)


def test_small_sizes_are_as_simulated():
    """Trees of one hop share every link equally, as simulations do."""
    made = generate("dgx_a100:boxes=2", size=256_000)
    assert made.timed is not None
    assert simulate(made, 256_000).time_s * 1e6 == pytest.approx(float(made.timed.time_us))


@pytest.mark.first_rows(3)
@pytest.mark.parametrize("seed", seeds(900, 10))
def test_never_below_the_bound_on_random_networks(seed: int):
    """Latencies, shared capacities, weights; the schedule is proved, its time above the bound."""
    network, weights = next(filter(None, map(timed_network, itertools.count(100 * seed))))
    chance = random.Random(f"forest over time {seed}")
    collective = chance.choice(COLLECTIVES)
    given = rooted(collective)
    if collective in ("allgather", "reduce-scatter"):
        given = {"weights": weights}
    size, alpha = chance.choice((1, 3000, 50_000)), chance.choice((0, 1, 3))
    timed = generate(network, collective=collective, size=size, alpha_us=alpha, **given).timed
    assert timed is not None
    verify(timed.schedule)
    assert timed.time_us >= timed.bound.time_us


def test_refusals():
    with pytest.raises(UnsupportedError, match="single GPU"):
        generate(network_of("a", ""), size=1)
    with pytest.raises(UnsupportedError, match="leave out k"):
        generate("ring:nodes=4", size=1, k=1)
    with pytest.raises(InvalidParameterError, match="alpha is for a size"):
        generate("ring:nodes=4", alpha_us=1)
    with pytest.raises(InvalidParameterError, match="the size"):
        generate("ring:nodes=4", size="many")
