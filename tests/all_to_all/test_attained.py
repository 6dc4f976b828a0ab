"""A schedule beside the best bound known."""

from dataclasses import replace
from fractions import Fraction

from forestcoll.all_to_all.attained import Attained
from forestcoll.all_to_all.best_flow import best_flow
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.schedule import verify


def test_congestion_equals_that_of_verify() -> None:
    """Of equal parts in parts of a pair, of a demand in bytes."""
    for demand in (None, Demand.of_matrix([[0, 5, 0], [1, 0, 7], [2, 2, 0]])):
        made = best_flow("ring:nodes=3", demand)
        found = Attained(made, PriceBound.of(made.topology, demand, made.price))
        assert found.congestion == verify(made).congestion
        assert found.is_optimal
        less = replace(found.bound, inverse_rate=found.bound.inverse_rate * Fraction(999, 1000))
        assert not Attained(made, less).is_optimal
