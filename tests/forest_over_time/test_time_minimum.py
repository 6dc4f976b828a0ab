"""Trees and rates of least time by a program with columns priced by trees."""

import pytest

from forestcoll.errors import TimeLimitError
from forestcoll.forest_over_time.time_minimum import Pool
from forestcoll.topology import load_topology
from tests.forest_over_time.on_paths import Parts, path_of_three


def test_the_path_of_three_takes_the_golden_ratio():
    """T = (5 + sqrt 5) / 2 = 3.618, above the 3 that are possible."""
    parts = Parts.of(path_of_three())
    pool = Pool(parts.hops, parts.orbits, parts.limits, [])
    assert pool.least_time(1.0).time == pytest.approx((5 + 5**0.5) / 2)


def test_no_trees_are_needed_to_begin_with():
    """Two A100 boxes, shards of 250 KB, trees of one hop (r) and of two (s).

    8 r + s = 25 on NICs and 7 r + 14 s = 300 on NVLink, so r = 10 / 21 and s = 445 / 21 GB/s.
    r (T - 10) + s (T - 20) = 250 at T = 2850 / 91.
    """
    parts = Parts.of(load_topology("dgx_a100:boxes=2"), alpha_us=10)
    pool = Pool(parts.hops, parts.orbits, parts.limits, [])
    found = pool.least_time(250.0)
    assert found.time == pytest.approx(2850 / 91)
    assert sorted(column.latency for column in found.columns) == [10, 20]


def test_more_takes_longer_and_rates_for_a_time_deliver_it():
    parts = Parts.of(load_topology("ring:nodes=5"), alpha_us=1)
    pool = Pool(parts.hops, parts.orbits, parts.limits, [])
    times = [pool.least_time(amount).time for amount in (0.001, 1.0, 10.0, 100.0)]
    assert times == sorted(times)
    again = pool.rates_for(times[-1])
    sent = sum(
        rate * (times[-1] - column.latency)
        for column, rate in zip(again.columns, again.rates, strict=True)
    )
    assert sent == pytest.approx(100.0)
    assert pool.slowest_hop == 1
    assert len(pool.columns) >= len(again.columns)


def test_a_time_limit_ends_the_search_with_the_rates_so_far():
    """The trees to begin with take longer than those that a search adds."""
    parts = Parts.of(load_topology("dgx_a100:boxes=2"), alpha_us=10)
    pool = Pool(parts.hops, parts.orbits, parts.limits, [])
    rounds: list[int] = []

    def late(done: int, total: int) -> None:
        rounds.append(done)
        raise TimeLimitError("late")

    first = pool.least_time(250.0, late)
    assert rounds == [0]
    assert sum(first.rates) > 0
    assert first.time > pool.least_time(250.0).time * 1.01
