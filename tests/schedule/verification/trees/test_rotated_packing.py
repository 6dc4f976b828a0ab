"""Rotated packings: proved from the trees that are given, with the verdict of all of them."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from forestcoll.core.assembly import expand
from forestcoll.errors import VerificationError
from forestcoll.schedule.factored import Shapes
from forestcoll.schedule.transform.rotated_trees import written_out
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.schedule.verification.trees import set_edges
from forestcoll.schedule.verification.trees.rotated_packing import difference, radices_of
from tests.schedule.made.factored import agree, judged
from tests.schedule.made.rotated import ROTATED, rotated
from tests.schedule.mutations_of.factored import MUTATIONS, Mutation


def test_difference_is_by_digits() -> None:
    """Radices 3, 2, 2: digits are subtracted one by one, without a carry."""
    digits = list(itertools.product(range(3), range(2), range(2)))
    one, other = np.arange(12)[:, None], np.arange(12)
    due = [
        [
            digits.index(tuple((a - b) % n for a, b, n in zip(x, y, (3, 2, 2), strict=True)))
            for y in digits
        ]
        for x in digits
    ]
    assert difference(one, other, [3, 2, 2]).tolist() == due


@pytest.mark.parametrize("name", ROTATED)
@pytest.mark.parametrize("together", [1, 2**20])
def test_verdict_is_that_of_all_trees(
    name: str, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many columns are counted together; with the same numbers of batches and edges."""
    monkeypatch.setattr(set_edges, "_ENTRIES_TOGETHER", together)
    forest = rotated(name)
    assert any(radices_of(forest.shapes))
    verdict = verify(forest)
    assert verdict.optimal
    assert verdict == verify(replace(forest, shapes=written_out(forest.shapes)))
    assert agree(verdict, verify(expand(forest)))


def test_loads_of_unlike_offsets_are_those_of_the_trees_written_out() -> None:
    """2 x 3 items, the path 0 1 2 3 4 5: its offset 1 is in four edges, its offset 4 in one."""
    parent = np.array([[-1, 0, 1, 2, 3, 4]], dtype=np.int32)
    shapes = Shapes(
        *(ints(6), np.array([1]), ints(0), np.array([5]), parent.reshape(-1)),
        digits=ints(2),
        radices=ints(2, 3),
    )
    every = written_out(shapes)
    due = set_edges._uses(every.parent.reshape(6, 6), every.multiplicity, 6)
    offsets = set_edges._by_offset(parent, np.array([5]), [2, 3])
    assert dict(zip(*(array.tolist() for array in offsets), strict=True)) == {1: 20, 4: 5}
    found = set_edges._rotated_uses(np.arange(6), offsets, 6, [2, 3])
    assert [array.tolist() for array in found] == [array.tolist() for array in due]


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_changed_forests_get_the_verdict_of_their_expansion(mutate: Mutation) -> None:
    """24 changes of each kind; an expansion that is refused counts as rejected."""
    done = 0
    for seed in range(24 * 20):
        draw = random.Random(f"{mutate.__name__} {seed}")
        changed = mutate(rotated(draw.choice(ROTATED)), draw)
        if changed is None:
            continue
        verdict = judged(lambda changed=changed: changed)
        assert agree(verdict, judged(lambda changed=changed: expand(changed))), seed
        done += 1
        if done == 24:
            break
    assert done == 24 or mutate.__name__ == "split_batch"


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"radices": ints(8, 5)}, r"^the radices of shape 1 multiply to 5; .* its 6 items$"),
        (
            {"radices": ints(8, 1)},
            r"^array shapes\.radices holds 1; its values lie between 2 and 8$",
        ),
        (
            {"radices": ints(8, 9)},
            r"^array shapes\.radices holds 9; its values lie between 2 and 8$",
        ),
        (
            {"radices": ints(8, 6, 6)},
            r"^array shapes\.radices has shape \(3,\); .* ask \(2,\)",
        ),
        ({"radices": np.array([8, 6])}, r"^array shapes\.radices holds int64; it must hold int32$"),
        ({"digits": np.array([1, 1])}, r"^array shapes\.digits holds int64; it must hold int32$"),
        ({"digits": ints(1)}, r"^array shapes\.digits has shape \(1,\); .* ask \(2,\)"),
        (
            {"digits": ints(1, -1)},
            r"^array shapes\.digits holds -1; its values lie between 0 and 31$",
        ),
        (
            {"digits": ints(1, 32)},
            r"^array shapes\.digits holds 32; its values lie between 0 and 31$",
        ),
        ({"digits": ints()}, r"^array shapes\.radices has shape \(2,\); .* ask \(0,\)"),
    ],
    ids=str,
)
def test_radices_fit_the_items(changes: dict[str, np.ndarray], message: str) -> None:
    forest = rotated("dgx_a100:boxes=6")
    with pytest.raises(VerificationError, match=message):
        verify(replace(forest, shapes=replace(forest.shapes, **changes)))


def test_an_edge_of_a_rotation_without_a_link_is_named() -> None:
    """On a torus of 4 x 6, the tree of item 0 steps from 0 to 7, in both directions at once."""
    forest = rotated("torus:dims=4x6")
    parent = forest.shapes.parent.copy()
    parent[7] = 0
    wrong = replace(forest, shapes=replace(forest.shapes, parent=parent))
    with pytest.raises(VerificationError, match=r"a rotated batch goes from .* but no link does$"):
        verify(wrong)


def test_a_wrong_load_between_boxes_is_named() -> None:
    forest = rotated("dgx_a100:boxes=6")
    links = forest.links
    load = links.load.copy()
    load[np.flatnonzero(links.tail // 8 != links.head // 8)[-1]] += 1
    with pytest.raises(VerificationError, match=r"trees are packed|but the links there carry"):
        verify(replace(forest, links=replace(links, load=load)))


def test_every_item_roots_all_rotations() -> None:
    """A tree more than start in a box or enter it: it is missed at the first of six boxes."""
    forest = rotated("dgx_a100:boxes=6")
    amounts = forest.shapes.multiplicity.copy()
    amounts[-1] += 1
    wrong = replace(forest, shapes=replace(forest.shapes, multiplicity=amounts))
    with pytest.raises(VerificationError, match=r"trees are packed from set 0 "):
        verify(wrong)
