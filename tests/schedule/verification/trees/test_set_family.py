"""Items of tight sets: numbers, levels and names."""

from dataclasses import replace

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule.factored import Sets
from forestcoll.schedule.verification.trees.set_family import Family, item_name, set_name
from tests.schedule.made.factored import factored


def test_items_are_numbered_set_by_set() -> None:
    """Three boxes of eight GPUs, and the three boxes in the set of all: 27 items."""
    forest = factored("dgx_a100:boxes=3")
    family = Family.of(forest)
    assert family.first.tolist() == [0, 8, 16, 24, 27]
    assert family.level.tolist() == [1, 1, 1, 0]
    assert family.child.tolist() == [-1] * 24 + [0, 1, 2]
    assert family.rank[24:].tolist() == [0, 8, 16]
    assert family.size.tolist() == [1] * 24 + [8] * 3
    assert family.due.tolist() == [1] * 24 + [8] * 3
    assert family.of_rank.tolist() == list(range(24))
    assert family.of_set.tolist() == [24, 25, 26]
    assert set_name(forest, family, 3) == "set 3 (24 GPUs from b0.gpu0 on)"
    assert item_name(forest, family, 9) == "b1.gpu1"
    assert item_name(forest, family, 24) == "set 0 (8 GPUs from b0.gpu0 on)"
    assert item_name(forest, family, 25) == "set 1 (8 GPUs from b1.gpu0 on)"


def test_sets_hold_a_gpu() -> None:
    """The GPUs of set 1 move to set 0."""
    forest = factored("dgx_a100:boxes=3")
    moved = np.where(forest.sets.set_of == 1, 0, forest.sets.set_of).astype(np.int32)
    sets = Sets(moved, forest.sets.parent, forest.sets.shape)
    with pytest.raises(VerificationError, match=r"^set 1 holds no GPU; leave it out$"):
        Family.of(replace(forest, sets=sets))


def test_sums_beyond_64_bits_are_exact() -> None:
    """24 GPUs, each with 2^60 trees: more than a signed number of 64 bits holds."""
    forest = replace(factored("dgx_a100:boxes=3"), k=2**60)
    assert Family.of(forest).due.tolist() == [2**60] * 24 + [2**63] * 3


def test_sets_in_sets_are_as_large_as_what_they_hold() -> None:
    """Ranks 0 and 1 are set 0; with rank 2 they are set 1; with rank 3 all."""
    forest = factored("ring:nodes=4")
    nested = Sets(*(np.array(a, dtype=np.int32) for a in ([0, 0, 1, 2], [1, 2, -1], [0, 0, 0])))
    family = Family.of(replace(forest, sets=nested, k=1))
    assert family.level.tolist() == [2, 1, 0]
    assert family.first.tolist() == [0, 2, 4, 6]
    assert family.rank.tolist() == [0, 1, 0, 2, 0, 3]
    assert family.child.tolist() == [-1, -1, 0, -1, 1, -1]
    assert family.size.tolist() == family.due.tolist() == [1, 1, 2, 1, 3, 1]
    assert family.of_rank.tolist() == [0, 1, 3, 5]
    assert family.of_set.tolist() == [2, 4]
