"""Forests of equal trees, whose multiples are dealt out evenly over equal-cost paths."""

import numpy as np
import pytest

from baselines.building.equal_trees import edges_of, forest_of, forest_of_rows, total_of_links
from baselines.networks.switch_paths import Router
from forestcoll.errors import VerificationError
from forestcoll.schedule import verify
from forestcoll.topology import load_topology


def test_trees_are_multiplied_until_equal_paths_get_equal_shares() -> None:
    """Two GPUs over three spines: one tree each way becomes three, one over every spine."""
    router = Router(load_topology("fat_tree:leaves=2,hosts=1,spines=3"))
    forest = forest_of(router, "by hand", {(-1, 0): 1, (1, -1): 1})
    assert forest.multiplicity.tolist() == [3, 3]
    assert forest.k == 3
    for paths in forest.routes.paths().values():
        assert [path.multiplicity for path in paths] == [1, 1, 1]
    assert verify(forest).collective == "allgather"


def test_no_more_trees_are_made_than_that_takes() -> None:
    """Two trees over four spines share them out once doubled, and not four times as many."""
    router = Router(load_topology("fat_tree:leaves=2,hosts=1,spines=4"))
    forest = forest_of(router, "by hand", {(-1, 0): 2, (1, -1): 2})
    assert forest.multiplicity.tolist() == [4, 4]


def test_weights_are_the_trees_of_each_root() -> None:
    """Of three GPUs all linked, ranks 0, 1 and 2 have 4, 2 and 0 trees: weights 2, 1, 0, k = 2."""
    router = Router(load_topology("complete:nodes=3"))
    forest = forest_of(router, "by hand", {(-1, 0, 0): 1, (-1, 0, 1): 3, (1, -1, 1): 2})
    assert forest.root.tolist() == [0, 0, 1]
    assert (forest.weights, forest.k) == ((2, 1, 0), 2)
    assert forest.congestion == 3 + 2  # over 1 -> 2 for ranks 0 and 1
    verify(forest)


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        ({}, "there are no trees"),
        ({(-1, 0, 0): 1, (1, -1): 1}, "tree 1 has 2 parents; it must have 3"),
        ({(-1, 0, 3): 1}, "tree 0 has parents from -1 to 3; they must be ranks from 0 to 2"),
        ({(-1, 0, -2): 1}, "parents from -2 to 0"),
        ({(1, 2, 0): 1}, "parents from 0 to 2; .* and -1 at the root"),
        ({(-1, 0, 0): 0}, "tree 0 has 0 copies"),
        ({(-1, 0, 0): 0.5}, r"tree 0 has 0\.5 copies; it must have a whole number"),
        ({(-1, 0, 0): 1.5}, r"tree 0 has 1\.5 copies"),
    ],
)
def test_what_is_no_tree_is_named(trees: dict[tuple[int, ...], int], message: str) -> None:
    with pytest.raises(VerificationError, match=message):
        forest_of(Router(load_topology("complete:nodes=3")), "by hand", trees)


def test_edges_are_counted_once_each() -> None:
    """Trees 1 -> 2 -> 0 (twice) and 0 -> 1 -> 2 (once): 2 -> 0 twice, 1 -> 2 three times.

    Among 50 ranks, where a table of all pairs would be much larger than the trees, it is the same.
    """
    few = edges_of(np.array([[2, -1, 1], [-1, 0, 1]], dtype=np.int32), [2, 1])
    assert [column.tolist() for column in few] == [[0, 1, 2], [1, 2, 0], [1, 3, 2]]
    long = np.full((2, 50), -1, dtype=np.int32)
    long[:, :3] = [[2, -1, 1], [-1, 0, 1]]
    assert [column.tolist() for column in edges_of(long, [2, 1])] == [
        column.tolist() for column in few
    ]


def test_equal_rows_become_one_tree() -> None:
    """In the order of the first copies, as the mapping has them."""
    router = Router(load_topology("complete:nodes=3"))
    rows = np.array([[-1, 0, 0], [1, -1, 1], [-1, 0, 0], [2, 2, -1]])
    forest = forest_of_rows(router, "by hand", rows, [1, 2, 1, 2])
    assert forest.parent.tolist() == [[-1, 0, 0], [1, -1, 1], [2, 2, -1]]
    assert forest.multiplicity.tolist() == [2, 2, 2]
    assert forest == forest_of(router, "by hand", {(-1, 0, 0): 2, (1, -1, 1): 2, (2, 2, -1): 2})
    verify(forest)


@pytest.mark.parametrize("size", [3, 300])
def test_amounts_on_a_link_are_added_up(size: int) -> None:
    """By a table of all pairs or, among many ranks, by sorting; beyond 64 bits too."""
    key = np.array([2 * size + 1, 1, 2 * size + 1])
    amounts = np.array([2**63, 1, 2**63], dtype=object)
    found = total_of_links(key, amounts, size)
    assert [column.tolist() for column in found] == [[0, 2], [1, 1], [1, 2**64]]
