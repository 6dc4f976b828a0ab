"""Binary trees over boxes, alone and in pairs, by hand."""

import pytest

from baselines.building.binary_trees import binary_tree, double_binary_tree


def depth(above: tuple[int, ...]) -> int:
    """Edges from the deepest box to the root."""
    depths = []
    for start in range(len(above)):
        box, depth = start, 0
        while above[box] >= 0:
            box, depth = above[box], depth + 1
        depths.append(depth)
    return max(depths)


@pytest.mark.parametrize(
    ("size", "first", "second", "tall"),
    [
        # 0 - 2 - {1, 3}; mirrored 3 - 1 - {2, 0}.
        (4, (-1, 2, 0, 2), (1, 3, 1, -1), 2),
        # 0 - 4 - 2 - {1, 3}; shifted 1 - 0 - 3 - {2, 4}.
        (5, (-1, 2, 4, 2, 0), (1, -1, 3, 0, 3), 3),
        # 0 - 4 - {2, 6} - {1, 3}, {5, 7}; mirrored 7 - 3 - {5, 1} - {6, 4}, {2, 0}.
        (8, (-1, 2, 4, 2, 0, 6, 4, 6), (1, 3, 1, 7, 5, 3, 5, -1), 3),
    ],
)
def test_pairs_of_trees_by_hand(
    size: int, first: tuple[int, ...], second: tuple[int, ...], tall: int
) -> None:
    """Both of depth ceil(log2 size), so that sums go up and down in 2 log2 steps."""
    pair = double_binary_tree(size)
    assert (pair[0].above, pair[1].above) == (first, second)
    assert [depth(tree.above) for tree in pair] == [tall, tall]


@pytest.mark.parametrize("size", range(1, 70))
def test_leaves_of_one_tree_are_inner_in_the_other(size: int) -> None:
    """No box has more than two children in all; only box 0, if there is an odd number, is inner
    twice, with one each time.
    """
    pair = double_binary_tree(size)
    inner = [{above for above in tree.above if above >= 0} for tree in pair]
    assert inner[0] & inner[1] <= ({0} if size % 2 else set())
    children = [above for tree in pair for above in tree.above if above >= 0]
    assert len(children) == 2 * (size - 1)
    assert all(children.count(box) <= 2 for box in range(size))
    for tree in pair:
        assert tree.above.count(-1) == 1
        assert depth(tree.above) <= size.bit_length()
        below = [(box, above) for box, above in enumerate(tree.above) if above >= 0]
        kinds = [(above, tree.first[box]) for box, above in below]
        assert len(set(kinds)) == len(kinds)


def test_a_tree_of_one_box_is_that_box() -> None:
    assert binary_tree(1).above == (-1,)


def test_boxes_play_the_parts_of_others() -> None:
    """Parts 0 - 2 - {1, 3}, played by boxes 2, 3, 0, 1: box 0 hangs from 2, and 3 and 1 from it.

    Box 3 (part 1) is the first child, box 1 (part 3) the second.
    """
    played = binary_tree(4).played_by((2, 3, 0, 1))
    assert played.above == (2, 0, -1, 0)
    assert (played.first[3], played.first[1]) == (True, False)
