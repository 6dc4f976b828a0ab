"""Forests written out from trees with paths."""

from fractions import Fraction

import pytest

from forestcoll.forest_over_time.timed_trees import TimedTree
from forestcoll.forest_over_time.written_forest import written_forest
from forestcoll.schedule import verify
from forestcoll.topology.symmetry.parallel_planes import merged_planes, unmerged
from tests.hand_networks import network_of


def test_every_tree_keeps_its_path():
    """Two of three trees of a go over v, one over w; b sends all over w."""
    network = network_of("a b [v] [w]", "a b - v: 2, a b - w: 3")
    trees = [
        (TimedTree(0, (-1, 0), ((), (0, 2, 1))), 2),
        (TimedTree(0, (-1, 0), ((), (0, 3, 1))), 1),
        (TimedTree(1, (1, -1), ((1, 3, 0), ())), 3),
    ]
    forest = written_forest(unmerged(network), (1, 1), 3, trees)
    verify(forest)
    assert (forest.k, forest.congestion) == (3, 1)
    paths = forest.routes.paths()[0, 1]
    assert [(path.nodes[1], path.multiplicity) for path in paths] == [(2, 2), (3, 1)]


def test_planes_carry_whole_trees():
    """Switches of 1 and 2 GB/s are one; three times as many trees divide over them."""
    network = network_of("a b [v] [w]", "a b - v: 1, a b - w: 2")
    planes = merged_planes(network)
    trees = [
        (TimedTree(0, (-1, 0), ((), (0, 2, 1))), 1),
        (TimedTree(1, (1, -1), ((1, 2, 0), ())), 1),
    ]
    forest = written_forest(planes, (1, 1), 1, trees)
    verify(forest)
    assert forest.k == 3
    assert forest.algbw_gb_s == 6
    assert forest.congestion == pytest.approx(Fraction(1))
