"""Flow schedules: what they are, and what they cost."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.problem.demand import Demand
from forestcoll.schedule import cost, verify
from tests.schedule.made.flows import FLOWS, among_three, ring, switched, unequal


@pytest.mark.parametrize("name", FLOWS)
def test_cost_and_verify_agree_with_adding_up_path_by_path(name: str) -> None:
    made = FLOWS[name]()
    verdict, found = verify(made), cost(made)
    load = dict.fromkeys(made.topology.link_between, 0)
    for ways in made.routes.paths().values():
        for way in ways:
            for hop in zip(way.nodes, way.nodes[1:], strict=False):
                load[hop] += way.multiplicity
    expected = max(
        Fraction(load[pair], made.whole) / link.bandwidth_gb_s
        for pair, link in made.topology.link_between.items()
    )
    assert verdict.congestion == expected
    assert verdict.time_s_per_gb == found.time_s_per_gb == expected / made.topology.num_compute
    assert verdict.busiest_link == found.busiest_link
    assert verdict.deliveries == made.topology.num_compute * (made.topology.num_compute - 1)
    assert not verdict.optimal


def test_ring_of_four_by_hand():
    """Over each link go one pair at distance 1, 2 halves at distance 2: 2 parts over 3 GB/s.

    So 1 GB from each GPU, parts of 1/4 GB, takes 2/4/3 = 1/6 s.
    """
    verdict = verify(ring())
    assert verdict.congestion == Fraction(2, 3)
    assert verdict.algbw_gb_s == 6
    assert verdict.depth == 2
    assert verdict.collective == "all-to-all"


def test_two_ways_by_hand():
    """A quarter over 1 GB/s, three over 3 GB/s: both full at 4 GB/s from GPU to GPU."""
    verdict = verify(switched())
    assert verdict.congestion == Fraction(1, 4)
    assert cost(switched()).time_s(10**9) == Fraction(1, 8)


def test_paths_are_counted_of_all_pairs() -> None:
    """Four GPUs: a path for each of 12 pairs, two for each of the 4 that are opposite."""
    assert (ring().num_paths, ring().collective) == (12 + 4, "all-to-all")
    assert ring() == ring()
    assert ring() != ring(bandwidth="4")


def test_amounts_by_hand() -> None:
    """12 bytes over 1 + 3 GB/s are 3 per GB/s, so 16 bytes take as long; nothing is faster."""
    verdict, found = verify(unequal()), cost(unequal())
    assert (verdict.congestion, verdict.optimal, verdict.deliveries) == (3, True, 2)
    assert verdict.time_s_per_gb == found.time_s_per_gb == Fraction(3, 16)
    assert verdict.algbw_gb_s == verdict.bound_gb_s == Fraction(16, 3)
    assert (verdict.demand, verdict.collective) == ("12 and 4", "all-to-all")
    assert verdict.model == "data flows on any paths; GPUs and switches forward"
    assert found.time_s(16) == Fraction(3, 10**9)


def test_a_gpu_forwards_data_of_others() -> None:
    """Link a > b carries 4 bytes at 2 GB/s, c > b 4 at 3 GB/s. The price of a > b proves 2."""
    verdict = verify(among_three())
    assert (verdict.congestion, verdict.busiest_link, verdict.depth) == (2, ("a", "b"), 2)
    assert (verdict.paths, verdict.deliveries, verdict.optimal) == (3, 3, True)


def test_prices_that_prove_less_are_a_bound() -> None:
    """12 bytes over a > b and the switch at prices 1 and 0 pay nothing: no bound but 0."""
    made = among_three()
    loose = verify(replace(made, price=(1, 0, 1, 0)))
    assert (loose.optimal, loose.bound_gb_s) == (False, Fraction(8) / Fraction(8, 5))
    none = verify(replace(made, price=(0, 1, 0, 0), demand=made.demand))
    assert (none.optimal, none.bound_gb_s) == (False, 8)
    without = verify(replace(made, price=()))
    assert (without.optimal, without.bound_gb_s, without.model) == (False, None, None)


def test_prices_of_equal_parts_are_a_bound() -> None:
    """Ring of four at 3 GB/s: 4 pairs at distance 1 and 2 at 2, each way: 16 hops over 24 GB/s."""
    verdict = verify(replace(ring(), price=(1,) * 8))
    assert (verdict.optimal, verdict.bound_gb_s) == (True, 6)


def test_a_schedule_of_another_demand_or_price_is_not_equal() -> None:
    made = unequal()
    assert made == unequal()
    assert made != replace(made, price=())
    assert made != replace(made, demand=Demand.of_matrix([[0, 12], [5, 0]]))
