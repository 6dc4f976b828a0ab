"""Sums of distances of expansions, against the networks themselves."""

from __future__ import annotations

from fractions import Fraction

import pytest

from baselines.topology_finder import bottom_up_search
from baselines.topology_finder.all_to_all import all_to_all_rate
from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.bottom_up_search import search
from baselines.topology_finder.building import network_of
from baselines.topology_finder.candidate import Candidate
from baselines.topology_finder.distances import Distances
from forestcoll.all_to_all.linear_optimum import all_to_all_rate as by_a_program
from forestcoll.solver.linear_program import Settings

TABLE = BaseTable()


def every(sizes: list[int], degree: int, monkeypatch: pytest.MonkeyPatch) -> list[Candidate]:
    """Return all expansions, also those that are no longer of use."""
    monkeypatch.setattr(bottom_up_search, "pareto", list)
    found = search(sizes, degree, TABLE.times_of, TABLE.distances_of)
    return [one for kept in found.values() for one in kept]


A_LONG_ONE = pytest.param([2, 3, 4, 6, 8, 12, 16, 24, 48], marks=pytest.mark.slow)


@pytest.mark.parametrize("sizes", [A_LONG_ONE, [7, 14, 28, 5, 10, 20]])
def test_no_sum_is_more_than_the_network_has(
    sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line graphs of base networks, products and degree expansions are exact."""
    exact = set()
    for one in every(sizes, 4, monkeypatch):
        if one.distances is None:
            assert set(one.techniques) & set("BD"), one.name
            continue
        quick = all_to_all_rate(network_of(one), Fraction(1))
        total = quick.mean_hops * one.nodes * (one.nodes - 1)
        assert one.distances.total <= total, one.name
        if one.distances.total == total:
            exact.add(one.techniques)
            assert one.distances.bound <= quick.bound
        else:
            assert "L" in one.techniques, one.name
            assert one.distances.total >= 0.9 * total, one.name
        if one.distances.rate is not None:
            assert quick.attained <= float(one.distances.rate) * (1 + 1e-9), one.name
    assert exact >= {"", "L", "D"}


def test_the_bound_of_a_product_is_that_of_its_slower_dimension() -> None:
    """K_3 [] a ring of 4: a link of the ring carries 3/2 for each of 3, one of K_3 1 for each of 4.

    With 6 links from each GPU of K_3 and the ring together, all distances would allow more.
    """
    complete = Distances(6, 6, Fraction(1), Fraction(1))
    ring = Distances(4 * 4, 8, Fraction(1, 2), Fraction(1, 2))
    made = complete.product(3, ring, 4)
    assert made.rate == made.bound == min(Fraction(1, 4), Fraction(1, 6))
    assert made.total == 6 * 16 + 16 * 9
    assert made.bound < Fraction(12 * 4, made.total)


def test_rates_of_products_and_powers_are_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = set()
    for one in every([3, 4, 5, 9, 12, 15, 16], 4, monkeypatch):
        if one.distances is not None and one.distances.rate is not None and one.techniques:
            best = by_a_program(network_of(one), settings=Settings(seconds=60)).rate_gb_s
            assert best == pytest.approx(float(one.distances.rate), rel=1e-6), one.name
            checked.add(one.techniques)
    assert "X" in checked


def test_a_power_is_a_product_of_equals() -> None:
    one = Distances(7 * 12, 21, Fraction(1, 4), Fraction(1, 4))
    assert one.power(7, 2) == one.product(7, one, 7)
    assert one.power(7, 3) == one.product(7, one, 7).product(49, one, 7)


def test_a_line_graph_by_hand() -> None:
    """The ring of 3 is its own line graph; of K_3, six links: 1, 1, 2, 2, 2 or 1, 1, 2, 2, 3."""
    ring = Distances(9, 6, Fraction(1, 3))
    assert ring.line_graph(3, 1, 2).total == 9
    complete = Distances(6, 6, Fraction(1))
    made = complete.line_graph(3, 2, 1)
    assert made.total == 4 * 6 + 36 - 12
    assert made.bound == Fraction(12, 48)


def test_a_degree_expansion_by_hand() -> None:
    """The ring of 3, twice: two copies of a node are three links apart."""
    made = Distances(9, 6, Fraction(1, 3)).degree_expansion(3, 1, 2, 3)
    assert made == Distances(4 * 9 + 3 * 2 * 3, 24, Fraction(12, 54))
