"""The path of three GPUs whose middle sums up, as the tests of common slots share it."""

from forestcoll.forest_over_time.slot_program import SlottedTree
from tests.forest_over_time.on_paths import columns_of_path


def of_middle(first: int) -> SlottedTree:
    """Return the tree of b, which sends to both ends in one slot."""
    return SlottedTree(1, columns_of_path()[1][1].tree, (first, -1, first))
