"""Fronts with the time of a workload, its bounds and a budget."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest

from baselines.topology_finder.all_to_all import all_to_all_rate
from baselines.topology_finder.workload import Fabric, read_workload
from experiments.advice.finding import front_entries
from experiments.advice.finding.front_entries import Budget, answer, demand_of
from forestcoll.all_to_all.closed_forms import degree_bound
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.topology import load_topology

ALPHA, RATE = Fraction(1, 10**5), Fraction(25 * 10**9, 2)


def fabric(degree: int) -> Fabric:
    return Fabric(ALPHA, RATE)


def one_port_each(degree: int) -> Fabric:
    return Fabric(ALPHA, RATE / 4 * degree)


def test_small_data_prefer_few_hops_and_large_data_little_bandwidth() -> None:
    best = {
        size: answer(64, [4], demand_of([size], "allreduce", read_workload), fabric).entries[0].one
        for size in ("1KB", "1GB")
    }
    assert best["1KB"].hops == 3
    assert best["1GB"].time == Fraction(63, 64)


def test_nothing_beats_the_bounds_and_entries_come_in_order() -> None:
    demand = demand_of(["1MB", "all-to-all=64KB:3"], "allreduce", read_workload)
    found = answer(36, [2, 3, 4], demand, fabric)
    times = [entry.seconds for entry in found.entries]
    assert times == sorted(times)
    assert all(entry.over >= 1 for entry in found.entries)
    assert {entry.one.degree for entry in found.entries} == set(found.bounds) == {2, 3, 4}
    for entry in found.entries:
        assert entry.rate is not None
        assert entry.rate.attained <= found.bounds[entry.one.degree].all_to_all


def test_a_mix_is_the_sum_of_its_parts() -> None:
    parts = [
        answer(12, [4], demand_of(["1MB"], name, read_workload), fabric).entries[0]
        for name in ("allreduce", "all-to-all")
    ]
    both = answer(12, [4], demand_of(["1MB"], "mix", read_workload), fabric).entries[0]
    assert both.seconds == sum(part.seconds for part in parts)
    assert both.least_seconds == sum(part.least_seconds for part in parts)
    gather = answer(12, [4], demand_of(["1MB"], "allgather", read_workload), fabric).entries[0]
    assert 2 * gather.seconds == parts[0].seconds
    assert 2 * gather.least_seconds == parts[0].least_seconds


def test_more_time_brings_the_bounds_of_an_all_to_all_together() -> None:
    """Line graph of K_{4,4}: the program's rate is 5.71e-2 (table 7)."""
    demand = demand_of(["1MB"], "all-to-all", read_workload)
    quick, slow = (
        answer(32, [4], demand, fabric, rate_seconds=seconds).entries for seconds in (0, 20)
    )
    (before,) = (entry.rate for entry in quick if entry.one.name == "L(K_{4,4})")
    (after,) = (entry.rate for entry in slow if entry.one.name == "L(K_{4,4})")
    assert before is not None
    assert after is not None
    assert before.attained <= after.attained <= after.bound <= before.bound
    assert after.attained == pytest.approx(5.71e-2, rel=0.012)
    assert after.attained >= float(after.bound) * 0.99


def test_a_budget_limits_the_degree() -> None:
    demand = demand_of(["1MB"], "allreduce", read_workload)
    switch = answer(12, range(1, 9), demand, one_port_each, budget=Budget(ports=48))
    assert set(switch.bounds) == {1, 2, 3, 4}
    paid = Budget(money=Fraction(3000), port_price=Fraction(100))
    assert set(answer(12, range(1, 9), demand, one_port_each, budget=paid).bounds) == {1, 2}
    with pytest.raises(InvalidParameterError, match="the budget allows 12 nodes no degree of 5, 6"):
        answer(12, [5, 6], demand, one_port_each, budget=Budget(ports=48))


def test_a_degree_that_no_construction_has_is_left_out_unless_it_is_the_only_one() -> None:
    demand = demand_of(["1MB"], "allreduce", read_workload)
    found = answer(9, [3, 4], demand, fabric, bidirectional=True)
    assert set(found.bounds) == {4}
    with pytest.raises(UnsupportedError, match="9 nodes of degree 3 with links both ways"):
        answer(9, [3], demand, fabric, bidirectional=True)


@pytest.mark.parametrize(
    ("sizes", "collective", "message"),
    [
        ([], "allreduce", "the workload is empty"),
        (["1MB"], "everything", "collective is 'everything'"),
        (["broadcast=1MB"], "allreduce", "collective is 'broadcast'"),
        (["allreduce="], "allreduce", "size has ''"),
    ],
)
def test_wrong_demands_are_refused(sizes: list[str], collective: str, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        demand_of(sizes, collective, read_workload)


def test_parallel_links_count_one_by_one_in_all_to_alls() -> None:
    """Three GPUs: the time follows from a GPU's bandwidth, not from how many links share it."""
    demand = demand_of(["1MB"], "all-to-all", read_workload)
    found = answer(3, [2, 4, 8], demand, fabric)
    assert [entry.one.degree for entry in found.entries] == [2, 4, 8]
    assert {entry.seconds for entry in found.entries} == {found.entries[0].least_seconds}
    assert all(entry.over == 1 for entry in found.entries)


def test_fewer_ports_come_first_among_equal_times() -> None:
    demand = demand_of(["1GB"], "allgather", read_workload)
    found = answer(5, [4, 2], demand, lambda _: Fabric(Fraction(0), RATE))
    assert [entry.one.degree for entry in found.entries] == [2, 4]
    assert found.entries[0].seconds == found.entries[1].seconds


@pytest.mark.parametrize(("rate", "bound"), [(1e-9, 1e9), (0.0565, 0.0572)])
def test_a_search_never_widens_the_bounds_of_a_rate(
    monkeypatch: pytest.MonkeyPatch, rate: float, bound: float
) -> None:
    searched = SimpleNamespace(rate_gb_s=rate, bound_gb_s=bound)
    monkeypatch.setattr(front_entries, "near_optimum", lambda *_, **__: searched)
    demand = demand_of(["1MB"], "all-to-all", read_workload)
    quick, slow = (
        {entry.one.name: entry.rate for entry in answer(32, [4], demand, fabric, **time).entries}
        for time in ({}, {"rate_seconds": 1})
    )
    before, after = quick["L(K_{4,4})"], slow["L(K_{4,4})"]
    assert before is not None
    assert after is not None
    assert after.attained == max(before.attained, rate)
    assert after.bound == min(before.bound, Fraction(bound))


def test_predicted_rates_need_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """K_2 and a ring of 5: the rate of the product is known, so nothing is built."""
    demand = demand_of(["1MB"], "mix", read_workload)
    (known,) = answer(10, [3], demand, fabric).entries
    assert known.one.name == "K_2[]BiRing(2,5)"
    monkeypatch.setattr(front_entries, "network_of", lambda one: pytest.fail(one.name))
    assert front_entries._rate(known.one, 0.0) == known.rate
    assert known.rate is not None
    assert known.rate.attained == float(known.rate.bound)
    quick = all_to_all_rate(load_topology(known.one.spec), Fraction(1))
    assert quick.mean_hops == known.rate.mean_hops
    assert quick.attained <= known.rate.attained * (1 + 1e-9)
    assert known.rate.bound <= quick.bound


def test_the_bound_on_the_rate_is_known_without_all_to_alls() -> None:
    """Predicted sums of distances give it; networks with their reverse have none."""
    demand = demand_of(["1MB"], "allreduce", read_workload)
    for entry in answer(64, [2, 3, 4], demand, fabric).entries:
        assert entry.rate is None
        assert (entry.rate_bound is None) == (entry.one.distances is None)
        if entry.rate_bound is not None:
            limit = degree_bound(64, entry.one.degree)
            assert entry.rate_bound <= limit
