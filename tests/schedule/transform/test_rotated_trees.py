"""Rotations written out: the trees of a forest that keeps all of them, in the same order."""

from dataclasses import replace

import numpy as np
import pytest

from forestcoll.core.assembly import expand, tree_depths, trees
from forestcoll.errors import VerificationError
from forestcoll.generation import generate
from forestcoll.schedule.factored import Shapes
from forestcoll.schedule.transform.rotated_trees import written_out
from forestcoll.topology import load_topology
from tests.schedule.made.rotated import ROTATED, rotated


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def test_the_rotations_of_a_path_of_two_digits() -> None:
    """2 x 2 items, the path 0 -> 1 -> 3 -> 2. By item 3, whose digits are 1 1, it is 3 2 0 1."""
    shapes = Shapes(
        *(ints(4), np.array([1]), ints(0), np.array([5]), ints(-1, 0, 3, 1)),
        digits=ints(2),
        radices=ints(2, 2),
    )
    written = written_out(shapes)
    assert written.parent.reshape(4, 4).tolist() == [
        [-1, 0, 3, 1],
        [1, -1, 0, 2],
        [1, 3, -1, 2],
        [2, 0, 3, -1],
    ]
    assert written.root.tolist() == [0, 1, 2, 3]
    assert written.multiplicity.tolist() == [5] * 4
    assert written.batches.tolist() == [4]
    assert not written.is_rotated


def test_shapes_without_rotations_are_returned_as_they_are() -> None:
    shapes = Shapes(ints(2), np.array([1]), ints(0), np.array([1]), ints(-1, 0))
    assert written_out(shapes) is shapes


@pytest.mark.parametrize("name", ROTATED)
def test_expansion_gives_the_trees_of_the_forest_that_lists_all(name: str) -> None:
    collective, _, spec = name.rpartition(" ")
    listed = generate(
        load_topology(spec), collective=collective or "allgather", factored=True
    ).schedule
    forest = rotated(name)
    assert forest.shapes.is_rotated
    assert not listed.shapes.is_rotated
    assert len(forest.shapes.root) < len(listed.shapes.root)
    assert forest.num_trees == listed.num_trees
    assert written_out(forest.shapes) == listed.shapes
    assert expand(forest) == expand(listed)
    assert list(trees(forest)) == list(trees(listed))
    assert [a.tolist() for a in tree_depths(forest)] == [a.tolist() for a in tree_depths(listed)]


@pytest.mark.parametrize(
    "changes",
    [
        {"radices": ints(8, 5)},
        {"radices": ints(8, 6, 1), "digits": ints(1, 2)},
        {"radices": ints(8, -1)},
        {"radices": ints(8, 6, 2)},
        {"radices": np.array([8, 6])},
        {"digits": ints(1)},
        {"digits": ints(1, 1, 0)},
        {"digits": ints(-1, 3)},
        {"digits": np.array([1, 1])},
        {"digits": ints()},
    ],
    ids=str,
)
def test_shapes_that_do_not_fit_together_are_refused(changes: dict[str, np.ndarray]) -> None:
    forest = rotated("dgx_a100:boxes=6")
    assert forest.shapes.digits.tolist() == [1, 1]
    assert forest.shapes.radices.tolist() == [8, 6]
    wrong = replace(forest, shapes=replace(forest.shapes, **changes))
    with pytest.raises(VerificationError, match=r"^not to be expanded: "):
        expand(wrong)


def test_a_shape_without_trees_allocates_nothing_for_its_items() -> None:
    many = 2**30
    shapes = Shapes(
        *(ints(many), np.array([0]), ints(), np.array([], dtype=np.int64), ints()),
        digits=ints(1),
        radices=ints(many),
    )
    assert len(written_out(shapes).parent) == 0
