"""Trees with their latency and loads."""

import numpy as np

from forestcoll import generate
from forestcoll.forest_over_time.timed_trees import TimedTree, trees_of
from tests.forest_over_time.on_paths import Parts, columns_of_path
from tests.hand_networks import network_of


def test_columns_of_the_path_by_hand():
    """The tree of a and that of c use all four links together; that of b both links from b."""
    _, (of_ends, of_middle) = columns_of_path()
    assert (of_ends.latency, of_middle.latency) == (2, 1)
    assert of_ends.loads.tolist() == [1, 1, 1, 1]
    assert of_middle.loads.tolist() == [0, 1, 1, 0]


def test_a_moved_tree_is_a_tree_of_the_other_root():
    parts, (column, _) = columns_of_path()
    moved = column.tree.moved(parts.orbits[0].nodes[1], [0, 1, 2])
    assert moved == TimedTree(2, (1, 2, -1), ((1, 0), (2, 1), ()))
    assert moved.edges() == [(2, 1), (1, 0)]


def test_trees_are_cut_where_paths_change():
    """Between two GPUs behind two switches of 1 and 2 GB/s, a third goes over the first."""
    network = network_of("a b [v] [w]", "a b - v: 1, a b - w: 2")
    forest = generate(network).schedule
    found = set(trees_of(forest, range(4)))
    assert {tree.paths[1 - tree.root][1] for tree in found if tree.root == 0} == {2, 3}


def test_loads_count_every_hop():
    parts = Parts.of(network_of("a b c [v]", "a b c - v: 1"), alpha_us=10)
    column = parts.column(0, -1, 0, 1)
    assert column.latency == 20
    assert np.array_equal(column.loads, np.full(6, 2.0))
