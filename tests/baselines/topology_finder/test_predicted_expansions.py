"""Predicted times, against schedules that are built and verified."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.bottom_up_search import Found, search
from baselines.topology_finder.building import built, network_of
from baselines.topology_finder.candidate import Candidate
from baselines.topology_finder.predicted_expansions import (
    both_ways,
    degree_expansion,
    line_graph,
    power,
    product,
)
from forestcoll.schedule.cost_model import synchronous

TABLE = BaseTable()

FASTER = {
    "L(UniRing(1,3)*3)": Fraction(26, 27),
    "L(UniRing(1,4)[]UniRing(1,4))": Fraction(31, 32),
    "L^2(UniC(8,{1,3}))": Fraction(31, 32),
    "L(UniC(9,{1,3,4}))": Fraction(26, 27),
    **{
        f"L(UniC({nodes},{{{offsets}}}))": Fraction(2 * nodes - 1, 2 * nodes)
        for nodes, offsets in (
            (8, "1,3"), (10, "1,3"), (11, "1,3"), (13, "1,3"), (14, "1,3"), (15, "1,4"),
            (16, "1,7"),
        )
    },
}  # fmt: skip
"""Line graphs on which a breadth-first broadcast takes less than Corollary 10.1 says."""


def of(nodes: int, degree: int, name: str) -> Candidate:
    sizes = range(2, nodes + 1)
    found = search(sizes, degree, lambda base: TABLE.times_of(base) if base.printed else None)
    return next(one for one in found[nodes, degree] if one.name == name)


def check_all(found: Found) -> None:
    for one in (one for kept in found.values() for one in kept):
        for collective, hops, time in (
            ("allgather", one.hops, one.time),
            ("reduce-scatter", one.reverse_hops, one.reverse_time),
        ):
            takes = synchronous(built(one, collective))
            assert takes.steps == hops, one.name
            assert takes.time_s_per_gb * one.degree == FASTER.get(one.name, time), one.name


@pytest.mark.slow
def test_all_networks_take_the_predicted_time() -> None:
    check_all(search(range(2, 13), 4, TABLE.times_of))


@pytest.mark.slow
def test_powers_and_bidirected_networks_take_the_predicted_time() -> None:
    """They are in no front of fewer than 128 nodes."""
    found = search([2**power for power in range(1, 9)], 4, TABLE.times_of)
    made = {
        key: [one for one in found[key] if set("BP") & set(one.techniques)]
        for key in ((128, 4), (256, 4))
    }
    techniques = {letter for kept in made.values() for one in kept for letter in one.techniques}
    assert {"B", "P"} <= techniques
    check_all(made)


@pytest.mark.slow
def test_networks_of_more_sizes_take_the_predicted_time() -> None:
    check_all(search(range(2, 33), 8, TABLE.times_of))


def test_line_graphs_are_counted_in_the_name() -> None:
    base = of(8, 4, "K_{4,4}")
    once, thrice = line_graph(base), line_graph(line_graph(line_graph(base)))
    assert (once.name, once.spec) == (
        "L(K_{4,4})",
        "line_graph:of=(complete_bipartite:degree=4)",
    )
    assert (thrice.name, thrice.spec) == (
        "L^3(K_{4,4})",
        "line_graph:of=(complete_bipartite:degree=4),times=3",
    )
    assert (thrice.nodes, thrice.hops, thrice.time) == (512, 5, Fraction(7, 8) + Fraction(21, 128))


def test_a_line_graph_of_a_power_keeps_the_power_in_its_name() -> None:
    both = line_graph(line_graph(power(of(8, 2, "Diamond"), 2)))
    assert both.name == "L^2(Diamond^[]2)"
    assert both.spec == "line_graph:of=(cartesian_power:of=(diamond),exponent=2),times=2"
    assert both.techniques == "LP"


def test_products_are_flat() -> None:
    ring, square = of(3, 1, "UniRing(1,3)"), of(4, 2, "K_{2,2}")
    one = product(product(ring, square), ring)
    assert one.name == "K_{2,2}[]UniRing(1,3)[]UniRing(1,3)"
    assert one.spec.count("cartesian_product") == 1
    assert (one.nodes, one.degree, one.hops, one.time) == (36, 4, 6, Fraction(35, 36))


def test_degree_expansions_of_balanced_broadcasts_stay_balanced() -> None:
    """Table 5: BiRing(2,5)*2 in two hops, where theorem 11 has three."""
    wide = degree_expansion(of(5, 2, "BiRing(2,5)"), 2)
    assert (wide.hops, wide.time, wide.factor) == (2, Fraction(9, 10), True)
    other = degree_expansion(of(8, 2, "Diamond"), 2)
    assert (other.hops, other.time, other.factor) == (4, Fraction(15, 16), False)


def test_both_ways_takes_the_worse_direction() -> None:
    one = both_ways(line_graph(of(4, 2, "K_{2,2}")))
    assert (one.degree, one.hops, one.bidirectional) == (4, 3, True)
    assert one.name == "Bi(L(K_{2,2}))"


def test_both_ways_takes_the_worse_direction_of_each_measure() -> None:
    lopsided = replace(of(4, 2, "K_{2,2}"), reverse_hops=3, reverse_time=Fraction(2))
    one = both_ways(lopsided)
    assert (one.hops, one.time) == (one.reverse_hops, one.reverse_time) == (3, 2)


def test_degree_expansions_without_a_common_cycle_follow_theorem_11() -> None:
    """Links of UniRing(1,3)[]UniRing(1,4) are on shortest cycles of 3 or 4 links."""
    mixed = product(of(3, 1, "UniRing(1,3)"), of(4, 1, "UniRing(1,4)"))
    assert mixed.factor
    assert mixed.cycle == 0
    wide = degree_expansion(mixed, 2)
    assert (wide.hops, wide.time) == (mixed.hops + 1, Fraction(23, 24))
    assert not wide.factor
    assert not wide.breadth_first
    even = product(of(3, 1, "UniRing(1,3)"), of(3, 1, "UniRing(1,3)"))
    assert even.cycle == 3
    assert degree_expansion(even, 2).hops == even.hops


def test_a_line_graph_counts_parallel_links() -> None:
    """C(8,{2,3,2,3}) has two links to each neighbour, so 64 links become 64 GPUs."""
    once = line_graph(of(8, 8, "C(8,{2,3,2,3})"))
    assert once.spec == "line_graph:unit=1,of=(circulant:nodes=8,offsets=2+3+2+3)"
    check_all({(64, 8): [once]})
    twice = line_graph(once)
    assert twice.spec == f"{once.spec},times=2"
    assert network_of(twice).num_compute == 512
    assert line_graph(twice).spec == f"{once.spec},times=3"
