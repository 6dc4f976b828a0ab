"""Circulants with links one way, against breadth-first broadcasts and by hand."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import pytest

from baselines.topology_finder.base_networks import bases, measured
from baselines.topology_finder.one_way_circulants import (
    STORED,
    OneWay,
    best_one_way,
    one_way_times,
    stored_one_way,
    write_one_way,
)


def test_thirteen_gpus_of_degree_three_by_hand() -> None:
    """Three new nodes, then six (2, 4, 10; 3, 6, 7: 1+1, 2+2, 5+5, sums of two), then the rest.

    Each step is balanced, so T_B is the least.
    """
    one = one_way_times(13, (1, 2, 5))
    assert one is not None
    assert (one.hops, one.time) == (3, Fraction(12, 13))


def test_an_unbalanced_step_takes_its_largest_load() -> None:
    """Offsets 1, 3 and 4 of 6: first 1, 3 and 4; then 2 and 5, both by 1 or 4, none by 3."""
    one = one_way_times(6, (1, 3, 4))
    assert one is not None
    assert (one.hops, one.time) == (2, Fraction(3, 6) * (1 + 1))
    even = one_way_times(6, (1, 2))  # 1, 2; then 3 by either, 4 by 2; then 5 by either
    assert even is not None
    assert (even.hops, even.time) == (3, Fraction(2, 6) * (1 + 1 + Fraction(1, 2)))


def test_nodes_that_are_not_reached_in_time_make_no_network() -> None:
    assert one_way_times(6, (2, 4)) is None
    assert one_way_times(13, (1, 2, 5), most=2) is None
    assert one_way_times(13, (1, 2, 5), most=3) is not None


@pytest.mark.parametrize(("nodes", "degree"), [(9, 2), (13, 3), (14, 3), (16, 4), (40, 2), (49, 4)])
def test_times_are_those_of_balanced_breadth_first_broadcasts(nodes: int, degree: int) -> None:
    """In both directions."""
    made = [base for base in bases(nodes, degree) if base.name.startswith("UniC")]
    assert made
    for base in made:
        assert measured(base) == base.times


@pytest.mark.parametrize(("nodes", "degree"), [(8, 2), (12, 2), (12, 3), (13, 3), (18, 3), (12, 4)])
def test_no_set_of_offsets_beats_the_front(nodes: int, degree: int) -> None:
    front = best_one_way(nodes, degree)
    assert [one.hops for one in front] == sorted({one.hops for one in front})
    for offsets in itertools.combinations(range(1, nodes), degree):
        one = one_way_times(nodes, offsets)
        if one is not None:
            assert any(best.hops <= one.hops and best.time <= one.time for best in front), offsets


@pytest.mark.parametrize(("nodes", "degree"), [(24, 2), (24, 3), (24, 4), (60, 2), (30, 3)])
def test_the_stored_front_is_that_of_a_search(nodes: int, degree: int) -> None:
    assert list(stored_one_way(nodes, degree)) == best_one_way(nodes, degree)


def test_beyond_the_stored_sizes_there_is_none() -> None:
    for degree, most in STORED.items():
        assert stored_one_way(most, degree)
        assert stored_one_way(most + 1, degree) == ()
    assert stored_one_way(30, 5) == ()


def test_the_cycle_is_that_of_every_link() -> None:
    """In a ring of 5 with offset 1 it has 5 links; with 1 and 2, three times 2 less 1 is 5."""
    ring, wide = one_way_times(5, (1,)), one_way_times(6, (1, 4))
    assert ring is not None
    assert ring.cycle == 5
    assert wide is not None
    assert wide.cycle == 3  # 1 + 1 + 4
    mixed = one_way_times(8, (1, 4))
    assert mixed is not None
    assert mixed.cycle == 0  # 4 + 4, but 1 + 1 + 1 + 1 + 4


def test_the_table_is_written_as_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    write_one_way([(7, 3), (5, 2)], file)
    lines = file.read_text().splitlines()
    assert lines[0] == "nodes,degree,offsets,hops,time,cycle"
    assert lines[1:] == [
        f"{nodes},{degree},{'+'.join(map(str, one.offsets))},{one.hops},{one.time},{one.cycle}"
        for nodes, degree in ((7, 3), (5, 2))
        for one in best_one_way(nodes, degree)
    ]
    assert isinstance(best_one_way(7, 3)[0], OneWay)
