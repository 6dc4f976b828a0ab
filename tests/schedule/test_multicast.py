"""Physical trees: their walks, loads and tree_depths, by hand."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from forestcoll.schedule.multicast import Walks
from tests.schedule.mutations_of.multicast import A, B, C, D, W, X, star, with_rows

WALKS = Walks(np.array([0, 2, 5, 7]), np.array([4, 0, 1, 5, 2, 3, 4], dtype=np.int32))
"""4 -> 0, 1 -> 5 -> 2 and 3 -> 4."""


def test_walks_know_their_ends() -> None:
    assert len(WALKS) == 3
    assert (WALKS.tail.tolist(), WALKS.head.tolist()) == ([4, 1, 3], [0, 2, 4])
    assert WALKS.nodes(1) == (1, 5, 2)


def test_some_of_the_walks_are_taken_in_the_order_asked() -> None:
    """One of them twice, or none at all."""
    some = WALKS.taken(np.array([2, 0, 2]))
    assert [some.nodes(i) for i in range(len(some))] == [(3, 4), (4, 0), (3, 4)]
    assert len(WALKS.taken(np.zeros(0, dtype=np.int64))) == 0


@pytest.mark.parametrize("reduction", [False, True])
def test_a_multicast_switch_carries_each_tree_once(reduction: bool) -> None:
    """Four stars around w: each GPU sends one tree into it, and gets the three of the others."""
    forest = star(reduction)
    links = forest.topology.links
    load = {(e.tail, e.head): n for e, n in zip(links, forest.loads(), strict=True)}
    for gpu in (A, B, C, D):
        assert (load[gpu, W], load[W, gpu]) == ((3, 1) if reduction else (1, 3))
        assert load[gpu, X] == load[X, gpu] == 0
    assert forest.loads(np.zeros(len(forest.walk), dtype=np.bool_)) == (0,) * len(links)


def test_loads_are_those_of_the_hops_one_by_one() -> None:
    """Few walks, whose links are searched for, and copies of them, for which a table is smaller."""
    forest = star()
    links = [(link.tail, link.head) for link in forest.topology.links]
    for copies in (1, 30):
        walks, which = len(forest.walks), np.tile(np.arange(len(forest.walks)), copies)
        last = (forest.walk + (copies - 1) * walks).astype(np.int32)
        many = replace(forest, walks=forest.walks.taken(which), walk=last)
        found = dict.fromkeys(links, 0)
        for tree in many.trees():
            for nodes in tree.walks:
                for ends in pairwise(nodes):
                    found[ends] += tree.multiplicity
        assert many.loads() == tuple(found.values())


def test_a_measured_forest_has_its_own_loads() -> None:
    """Its congestion is that of the busiest link: three trees over the bandwidth."""
    forest = replace(star(), congestion=Fraction(1))
    made = forest.measured()
    assert made.loads() == replace(made).loads() == forest.loads()
    assert made.congestion == max(
        load / link.bandwidth_gb_s
        for load, link in zip(made.loads(), made.topology.links, strict=True)
    )


def test_loads_beyond_64_bits_are_exact() -> None:
    """2^62 stars of each GPU: three of them over a link are more than 64 bits hold."""
    forest = star()
    many = replace(forest, multiplicity=np.full(4, 2**62))
    assert max(many.loads()) == 3 * 2**62


@pytest.mark.parametrize("reduction", [False, True])
def test_depths_count_walks_or_links(reduction: bool) -> None:
    """A chain a -> w -> b -> x -> c, then w -> d: a walk through x is one walk of two links."""
    rows = [[(A, W), (W, B), (B, X, C), (W, D)]]
    if reduction:
        rows = [[walk[::-1] for walk in row] for row in rows]
    forest = with_rows(star(reduction), rows)
    assert forest.depths().tolist() == [1, 2, 3, 2]
    assert forest.depths(links=True).tolist() == [1, 2, 4, 2]
    assert forest.tree_depths().tolist() == [3]
    near, far = forest.ends()
    walks = [(int(near[i]), int(far[i])) for i in forest.walk]
    assert walks == [(A, W), (W, B), (B, C), (W, D)]


@pytest.mark.parametrize("reduction", [False, True])
def test_loopback_is_at_the_end_of_no_tree(reduction: bool) -> None:
    """Depths of a -> w -> b and c, with w -> a: the data are back at a when they are at b and c."""
    rows = [[(A, W), (W, A), (W, B), (W, C), (B, D)]]
    if reduction:
        rows = [[walk[::-1] for walk in row] for row in rows]
    forest = with_rows(star(reduction), rows)
    assert forest.loopback.tolist() == [False, True, False, False, False]
    assert forest.depths().tolist() == [1, 2, 2, 2, 3]
    assert not star(reduction).loopback.any()


def test_trees_are_written_out_as_they_were_given() -> None:
    rows = [[(A, W), (W, B), (W, C), (W, D)], [(B, W), (W, A), (A, X, C), (W, D)]]
    trees = list(with_rows(star(), rows).trees())
    assert [(tree.root, tree.multiplicity) for tree in trees] == [(0, 1), (1, 1)]
    assert [list(tree.walks) for tree in trees] == rows
