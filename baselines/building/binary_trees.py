"""Binary trees over boxes as NCCL numbers them, alone or in pairs.

Problem: trees of low depth in which, as a pair, every box is inner in one only.
Input:   a number of boxes.
Output:  the box above each.
Cost:    linear in the boxes.
Source:  Sanders, Speck and Traff, "Two-tree algorithms for full bandwidth broadcast, reduction and
         scan" (2009), in the numbering of NCCL 2.4 and later.

Box 0 is the root. Another box b, divided by 2^i and no higher power of two, hangs from b + 2^i or
b - 2^i, that which 2^(i+1) divides and no higher power does, or, if this is no box, from b - 2^i;
so odd boxes are leaves. The second tree of a pair is the first one mirrored (box b plays B - 1 - b)
or, if B is odd, shifted (b plays b - 1): leaves become inner boxes. If B is odd, box 0 is inner in
both, with one child in each. So no box has more than two children in the pair.
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
        The box that each hangs from, -1 at the root.
    first : tuple of bool
        Whether it is the first child there, or the second.
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
