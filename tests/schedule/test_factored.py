"""Factored forests: the verdict of the forest they stand for, without writing it out."""

import pytest

from forestcoll.core.assembly import trees
from tests.schedule.made.factored import CLUSTERS, RANDOM, factored


@pytest.mark.parametrize("name", [*CLUSTERS, *RANDOM[::5]])
def test_links_carry_their_loads_exactly(name: str) -> None:
    """The trees that use each logical link, counted one by one, are what the factored form says."""
    forest = factored(name)
    load = dict.fromkeys(
        zip(forest.links.tail.tolist(), forest.links.head.tolist(), strict=True), 0
    )
    for tree in trees(forest):
        for parent, child in tree.edges:
            edge = (child, parent) if forest.reduction else (parent, child)
            load[edge] += tree.multiplicity
    assert list(load.values()) == forest.links.load.tolist()


def test_equal_sets_share_their_packing() -> None:
    """32 boxes are 32 sets of 8 GPUs of one shape, in a set of 32 items."""
    forest = factored("dgx_a100:boxes=32")
    assert forest.shapes.items.tolist() == [8, 32]
    assert forest.sets.shape.tolist() == [0] * 32 + [1]
    assert len(forest.shapes.root) < 50
