"""All-to-alls by the program, made exact."""

import time
from fractions import Fraction

import pytest

from forestcoll.all_to_all import program_flow as module
from forestcoll.all_to_all.program_flow import by_program, can_be_solved
from forestcoll.errors import TimeLimitError, UnsupportedError
from forestcoll.problem.demand import Demand
from forestcoll.schedule import verify
from forestcoll.topology import load_topology
from tests.hand_networks import network_of

RING = load_topology("ring:nodes=4")


def test_a_thirteenth_is_found_by_hand() -> None:
    """13 bytes over two links of 12 and 1 GB/s: a nanosecond, in which the slow one carries one."""
    network = network_of(
        "a b [s] [t]", "a > s: 12, s > b: 12, a > t: 1, t > b: 1, b > a: 13", "two"
    )
    demand = Demand.of_matrix([[0, 13], [0, 0]])
    found = by_program(network, demand, seconds=60, parts=720_720)
    assert found.is_optimal
    assert found.congestion == verify(found.schedule).congestion == 1
    assert found.schedule.whole == 13
    assert sorted(found.schedule.routes.multiplicity.tolist()) == [13 * 1, 13 * 12]


def test_parts_that_are_asked_for_are_tried_in_any_case() -> None:
    """One part a pair: opposite GPUs of a ring of 4 then go one way round only."""
    coarse = by_program(RING, None, seconds=60, parts=1)
    assert coarse.schedule.whole == 1
    assert coarse.congestion > coarse.bound.inverse_rate == 2
    assert by_program(RING, None, seconds=60, parts=2).is_optimal


def test_after_the_limit_paths_are_rounded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a flow in hand it returns what was asked for, exact all the same."""
    tried: list[int] = []
    true = module.loaded_schedules_of

    def late(flow, wholes, **more):  # type: ignore[no-untyped-def]
        for schedule, loads in true(flow, wholes, **more):
            tried.append(schedule.whole)
            yield schedule, loads

    monkeypatch.setattr(module, "loaded_schedules_of", late)
    clock = time.perf_counter
    monkeypatch.setattr(module, "best_whole_prices", _slowly(module.best_whole_prices, clock))
    found = by_program(RING, None, seconds=0.5, parts=7)
    assert tried == [7]
    assert found.congestion == verify(found.schedule).congestion


def _slowly(found, clock):  # type: ignore[no-untyped-def]
    def slow(*given, deadline: float):  # type: ignore[no-untyped-def]
        while clock() <= deadline:
            time.sleep(0.01)
        return found(*given, deadline=deadline)

    return slow


def test_amounts_that_floats_cannot_hold_are_refused() -> None:
    demand = Demand.of_matrix([[0, 10**11], [1, 0]], "skewed")
    assert not can_be_solved(demand)
    assert can_be_solved(None)
    assert can_be_solved(Demand.of_matrix([[0, 10**11 - 1], [1, 0]]))
    with pytest.raises(UnsupportedError, match="from 1 to 100000000000 bytes, too different"):
        by_program(load_topology("ring:nodes=2"), demand, seconds=60, parts=1)


def test_no_time_leaves_the_bound_of_equal_spending() -> None:
    """Four GPUs of two links each: all pairs spend 16 hops of 8 links, so at most 1/2 a pair."""
    with pytest.raises(TimeLimitError, match=r"at most 0\.5;") as caught:
        by_program(RING, None, seconds=1e-9, parts=1)
    assert caught.value.bound == Fraction(1, 2)
