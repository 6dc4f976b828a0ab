"""Fronts, against the tables of the BFB paper and against all small networks."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.breadth_first import broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.bottom_up_search import search
from baselines.topology_finder.finder import Question, bounds_of, find, front
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.topology import load_topology

TABLE = BaseTable()

TABLE_7 = {
    32: [(3, 1.0), (4, 0.969)],
    64: [(3, 1.312), (4, 1.0), (6, 0.984)],
    128: [(4, 1.031), (5, 1.0), (10, 0.992)],
    256: [(4, 1.328), (5, 1.016), (7, 1.0), (10, 0.996)],
    512: [(5, 1.039), (6, 1.008), (11, 1.0), (16, 0.998)],
    1024: [(5, 1.332), (6, 1.020), (8, 1.004), (11, 1.0), (20, 0.999)],
}
"""T_L / alpha and T_B B / M of the printed front at degree 4 (NSDI 2025)."""

BETTER = {(128, 10): 8, (512, 11): 9}
"""Circulants, and their line graphs, that need fewer hops than the printed rows."""

TABLE_5 = {5: 2, 6: 4, 7: 4, 8: 4, 9: 4, 10: 4, 11: 4, 12: 4}
"""T_L / alpha of the best allreduce at degree 4."""


WITH_ONE_WAY = {
    64: [(3, "21/16"), (4, "1"), (5, "63/64")],
    256: [(4, "85/64"), (5, "65/64"), (6, "1"), (10, "255/256")],
    512: [(5, "133/128"), (6, "129/128"), (9, "1"), (12, "511/512")],
    1024: [(5, "341/256"), (6, "261/256"), (7, "257/256"), (11, "1"), (16, "1023/1024")],
}
"""Fronts with one-way circulants, which the paper does not have."""


@pytest.mark.parametrize("nodes", TABLE_7)
def test_table_7_is_found(nodes: int) -> None:
    found = [(one.hops, float(one.time)) for one in find(Question(nodes, 4, printed=True), TABLE)]
    printed = [(BETTER.get((nodes, hops), hops), time) for hops, time in TABLE_7[nodes]]
    assert len(found) == len(printed)
    for (hops, time), (printed_hops, printed_time) in zip(found, printed, strict=True):
        assert hops == printed_hops
        assert time == pytest.approx(printed_time, abs=0.0006)  # 1.3125 is printed as 1.312


@pytest.mark.parametrize("nodes", WITH_ONE_WAY)
def test_one_way_circulants_need_fewer_hops_than_table_7(nodes: int) -> None:
    found = [(one.hops, one.time) for one in find(Question(nodes, 4), TABLE)]
    assert found == [(hops, Fraction(time)) for hops, time in WITH_ONE_WAY[nodes]]


@pytest.mark.parametrize("nodes", TABLE_5)
def test_table_5_is_found(nodes: int) -> None:
    (best,) = find(Question(nodes, 4), TABLE)
    assert best.optimal
    assert best.hops + best.reverse_hops == TABLE_5[nodes]


def test_unequal_directions_both_count() -> None:
    """Generalized Kautz graphs of 200 nodes: an allgather of 1.273, a reduce-scatter of 1.7."""
    found = search([n for n in range(2, 201) if 200 % n == 0], 4, TABLE.times_of)[200, 4]
    least = {each: front(found, collective=each)[0] for each in ("allgather", "reduce-scatter")}
    assert round(float(least["allgather"].time), 3) == 1.273
    assert least["allgather"].hops == least["reduce-scatter"].reverse_hops == 4


def test_an_allreduce_takes_both_directions() -> None:
    """Neither direction alone decides which of two networks is faster."""
    (one,) = find(Question(12, 4), TABLE)
    lopsided = replace(one, name="lopsided", hops=1, time=Fraction(1, 2), reverse_hops=9)
    assert front([one, lopsided]) == [one, lopsided]
    assert front([one, replace(lopsided, reverse_time=Fraction(2))]) == [one]
    assert front([one, lopsided], collective="allgather") == [lopsided]


def test_the_moore_bound_for_links_both_ways_is_higher() -> None:
    """Ten nodes within two hops at degree 3 (Petersen), where one way there are 13."""
    assert bounds_of(Question(12, 3)).hops == 2
    assert bounds_of(Question(12, 3, bidirectional=True)).hops == 3
    assert bounds_of(Question(10, 3, bidirectional=True)).hops == 2


def test_links_both_ways_are_a_harder_question() -> None:
    one_way, both_ways = (find(Question(64, 4, bidirectional=b), TABLE) for b in (False, True))
    assert all(one.bidirectional for one in both_ways)
    for one in both_ways:
        assert any(other.hops <= one.hops and other.time <= one.time for other in one_way)


def test_no_circulant_beats_the_front() -> None:
    """All circulants of degree 4 with links both ways, to 24 nodes, whatever their offsets."""
    for nodes in range(7, 25):
        best = find(Question(nodes, 4, bidirectional=True), TABLE)
        for offsets in itertools.combinations(range(1, (nodes + 1) // 2), 2):
            if math.gcd(nodes, *offsets) == 1:
                hops, time = circulant(nodes, offsets)
                assert any(one.hops <= hops and one.time <= time for one in best), offsets


def circulant(nodes: int, offsets: tuple[int, ...]) -> tuple[int, Fraction]:
    spec = f"circulant:nodes={nodes},offsets={'+'.join(map(str, offsets))}"
    ranks = np.arange(nodes, dtype=np.int32)
    alike = Alike(np.zeros(nodes, dtype=np.int32), (np.add.outer(ranks, ranks) % nodes).ravel())
    times = broadcast_times(BroadcastNetwork.of(load_topology(spec)), alike)
    return len(times.longest), times.time_s_per_gb * 2 * len(offsets)


def test_bounds_are_below_everything_found() -> None:
    for nodes, degree, both in itertools.product((12, 30, 60), (2, 3, 4), (False, True)):
        asked = Question(nodes, degree, bidirectional=both)
        bounds = bounds_of(asked)
        for one in find(asked, TABLE):
            assert bounds.hops <= min(one.hops, one.reverse_hops)
            assert bounds.time <= min(one.time, one.reverse_time)


@pytest.mark.parametrize(
    ("nodes", "degree", "message"),
    [
        (1, 4, "nodes is 1; it must be from 2 to 4096"),
        (10**9, 4, "nodes is 1000000000"),
        (8, 0, "degree is 0; it must be from 1 to 64"),
        (8, 65, "degree is 65"),
    ],
)
def test_numbers_out_of_bounds_are_refused(nodes: int, degree: int, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Question(nodes, degree)


def test_unknown_sizes_are_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(UnsupportedError, match=r"7 nodes of degree 3 .*nearest .* nodes is 8"):
        find(Question(7, 3, bidirectional=True), TABLE)
    with pytest.raises(UnsupportedError, match=r"2 nodes of degree 2 .*nearest .* nodes is 3"):
        find(Question(2, 2), TABLE)
