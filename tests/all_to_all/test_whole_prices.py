"""Whole prices from the floats of a solver."""

from fractions import Fraction

import pytest

from forestcoll.all_to_all import whole_prices
from forestcoll.all_to_all.whole_prices import best_whole_prices
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.topology import load_topology
from tests.hand_networks import network_of

LINE = network_of("a b c", "a - b: 2, b - c: 3", "line")
"""Links in order: a b, b a, b c, c b."""


def test_noise_is_dropped_and_prices_become_small_numbers() -> None:
    """Of prices 1/3 and 1 with noise, 1 and 2 prove most for a byte from a to c.

    They prove (1 + 2) / (2 x 1 + 3 x 2) = 3/8, where 0 and 1 prove 1/3, 1 and 3 prove 4/11.
    """
    demand = Demand.of_matrix([[0, 0, 1], [0, 0, 0], [0, 0, 0]])
    found = best_whole_prices(LINE, demand, [0.3333333331, 1e-9, 1.0, -1e-12])
    assert found.price == (1, 0, 2, 0)
    assert found.inverse_rate == Fraction(3, 8)


def test_the_best_of_all_scales_is_taken() -> None:
    """Only b > a binds: what rounds all else to 0 proves most."""
    demand = Demand.of_matrix([[0, 0, 0], [8, 0, 0], [0, 0, 0]])
    found = best_whole_prices(LINE, demand, [0.01, 1.0, 0.01, 0.01])
    assert found.price == (0, 1, 0, 0)
    assert found.inverse_rate == 4


def test_sevenths_that_no_scale_divides_are_found_by_the_least_price() -> None:
    """Seven prices of 1 to 7 over 7, and equal parts on a ring of 4."""
    ring = load_topology("ring:nodes=4")
    prices = [1 / 7, 2 / 7, 3 / 7, 4 / 7, 5 / 7, 6 / 7, 1.0, 1.0]
    found = best_whole_prices(ring, None, prices)
    exact = PriceBound.of(ring, None, (1, 2, 3, 4, 5, 6, 7, 7))
    assert found.inverse_rate >= exact.inverse_rate


@pytest.mark.parametrize("large", [3, 300])
def test_fewer_scales_for_large_networks(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs a search from every GPU: 5 tries at most beyond the limit, up to 20 below."""
    monkeypatch.setattr(whole_prices, "_LARGE", large)
    tries: list[object] = []
    true = PriceBound.of

    def counted(*given: object) -> PriceBound:
        tries.append(given)
        return true(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(PriceBound, "of", counted)
    best_whole_prices(load_topology("ring:nodes=4"), None, [0.123, 0.456, 0.789, 1.0] * 2)
    assert (len(tries) <= 5) == (large == 3)
