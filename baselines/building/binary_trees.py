"""Binary trees over boxes as NCCL numbers them, alone or in pairs.

Problem: a pair of shallow trees in which every box is an inner node of only one.
Output:  the parent of each box.
Source:  Sanders, Speck and Traff, "Two-tree algorithms for full bandwidth broadcast, reduction and
         scan" (2009), in the numbering of NCCL 2.4 and later.

Box 0 is the root. Let 2^i be the highest power of two that divides another box b. The parent of b
is b + 2^i or b - 2^i: the one whose highest power is 2^(i+1). If that is no box, it is b - 2^i. So
odd boxes are leaves. The second tree is the first one mirrored (box b plays B - 1 - b) or, for odd
B, shifted (b plays b - 1): leaves become inner boxes. For odd B, box 0 is inner in both trees, with
one child in each. So no box has more than two children in the pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forestcoll.topology.families.direct_connect import above_in_binary_tree

__all__ = ["BoxTree", "binary_tree", "double_binary_tree"]


@dataclass(frozen=True, slots=True)
class BoxTree:
    """A tree over boxes.

    Parameters
    ----------
    above : tuple of int
        The parent of each box, -1 at the root.
    first : tuple of bool
        Whether it is the first child of its parent, or the second.
    """

    above: tuple[int, ...]
    first: tuple[bool, ...]

    def played_by(self, boxes: Sequence[int]) -> BoxTree:
        """Return the tree in which ``boxes[b]`` plays the part of box b."""
        above, first = [-1] * len(boxes), [False] * len(boxes)
        for part, box in enumerate(boxes):
            if self.above[part] >= 0:
                above[box] = boxes[self.above[part]]
            first[box] = self.first[part]
        return BoxTree(tuple(above), tuple(first))


def binary_tree(size: int) -> BoxTree:
    """Return NCCL's binary tree over so many boxes, whose root 0 has a single child.

    Examples
    --------
    >>> binary_tree(5).above
    (-1, 2, 4, 2, 0)
    """
    above = above_in_binary_tree(size)
    return BoxTree(tuple(above), tuple(box < parent for box, parent in enumerate(above)))


def double_binary_tree(size: int) -> tuple[BoxTree, BoxTree]:
    """Return NCCL's pair of trees: the binary tree, and the same mirrored (odd size: shifted).

    Examples
    --------
    >>> [tree.above for tree in double_binary_tree(4)]
    [(-1, 2, 0, 2), (1, 3, 1, -1)]
    """
    tree, boxes = binary_tree(size), range(size)
    second = [*boxes[1:], 0] if size % 2 else boxes[::-1]
    return tree, tree.played_by(second)
