"""The bottom-up search, by hand and against all expansions without dominance."""

from __future__ import annotations

from fractions import Fraction

import pytest

from baselines.topology_finder import bottom_up_search
from baselines.topology_finder.base_networks import Base, Times
from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.bottom_up_search import search
from baselines.topology_finder.candidate import Candidate
from baselines.topology_finder.finder import front

TABLE = BaseTable()


def names(kept: list[Candidate]) -> set[str]:
    return {one.name for one in kept}


def test_every_expansion_is_tried() -> None:
    sizes = [*range(2, 65), *(2**power for power in range(7, 10))]
    found = search(sizes, 4, TABLE.times_of)
    techniques = {letter for kept in found.values() for one in kept for letter in one.techniques}
    assert techniques == {"L", "D", "P", "X", "B"}
    assert "L(K_{4,4})" in names(found[32, 4])
    assert "UniC(13,{1,2,5})" in names(found[13, 3])
    assert "UniC(16,{1,7})[]UniC(16,{1,7})" in names(found[256, 4])


def test_expansions_of_printed_base_networks_are_tried() -> None:
    sizes = [size for size in range(2, 257) if 256 % size == 0 or 12 % size == 0]
    found = search(sizes, 4, lambda base: TABLE.times_of(base) if base.printed else None)
    assert "L(K_{2,2})" in names(found[8, 2])
    assert "UniRing(1,3)[]UniRing(1,4)" in names(found[12, 2])
    assert "DBJMod(2,4)^[]2" in names(found[256, 4])


def test_only_given_numbers_of_nodes_are_searched() -> None:
    assert {nodes for nodes, _ in search([2, 3, 6], 2, TABLE.times_of)} == {2, 3, 6}


def test_a_base_without_times_is_left_out() -> None:
    def rings_alone(base: Base) -> Times | None:
        return base.times if "Ring" in base.name else None

    found = search([3, 9], 4, rings_alone)
    assert names(found[3, 2]) == {"BiRing(2,3)"} | names(found[3, 2])
    assert not any("Pi" in one.name or "C(" in one.name for one in found[9, 4])


def test_dropped_candidates_belong_to_no_front(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a dominance that drops nothing, the fronts of T_L and T_B are the same."""
    sizes = [size for size in range(2, 37) if 36 % size == 0]
    kept = search(sizes, 4, TABLE.times_of)
    monkeypatch.setattr(bottom_up_search, "pareto", list)
    every = search(sizes, 4, TABLE.times_of)
    assert sum(map(len, every.values())) > sum(map(len, kept.values()))
    for key, candidates in every.items():
        for both in (False, True):
            for collective in ("allgather", "reduce-scatter", "allreduce"):
                expected, found = (
                    front(some, bidirectional=both, collective=collective)
                    for some in (candidates, kept[key])
                )
                assert [times(one) for one in found] == [times(one) for one in expected]


def times(one: Candidate) -> tuple[int, Fraction, int, Fraction]:
    return one.hops, one.time, one.reverse_hops, one.reverse_time


def test_networks_with_self_loops_are_not_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A self-loop carries nothing, so its GPU would lack a link in every expansion."""
    monkeypatch.setattr(bottom_up_search, "pareto", list)
    found = search([4, 8, 16, 32], 8, TABLE.times_of)
    every = [one for kept in found.values() for one in kept]
    assert {one.name for one in every if one.self_loops} >= {"DBJ(4,2)", "DBJ(2,4)", "Pi_{2,8}"}
    assert not any(one.self_loops and one.techniques for one in every)
    assert {letter for one in every for letter in one.techniques} == {"L", "D", "P", "X", "B"}
