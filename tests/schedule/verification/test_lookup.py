"""Look-up of numbers in a hash table: as by binary search."""

import random

import numpy as np
import pytest

from forestcoll.schedule.verification import lookup
from forestcoll.schedule.verification.lookup import Lookup


@pytest.mark.parametrize("size", [0, 1, 2, 1000])
@pytest.mark.parametrize(("places", "small"), [(1, 0), (4, 0), (4, 2**16)])
def test_numbers_are_found_where_they_are(
    size: int, places: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few places in the table, many numbers share one and are searched for; small ones not."""
    monkeypatch.setattr(lookup, "_PLACES", places)
    monkeypatch.setattr(lookup, "_SMALL", small)
    draw = random.Random(size)
    known = np.array(sorted(draw.sample(range(5000), size)), dtype=np.int64)
    index = {number: place for place, number in enumerate(known.tolist())}
    table = Lookup.of(known)
    wanted = np.arange(5001)
    assert table.find(wanted).tolist() == [index.get(number, size) for number in range(5001)]
    assert table.find(np.array([-1, 2**40])).tolist() == [size, size]
    if small:
        assert table.table[known].tolist() == list(range(size))


@pytest.mark.parametrize("largest", [2**16 - 1, 2**16])
def test_the_largest_number_with_a_place_of_its_own(largest: int) -> None:
    known = np.array([1, largest])
    assert (Lookup.of(known).shift is None) == (largest < 2**16)
    assert Lookup.of(known).find(np.array([0, 1, 2**16 - 1, 2**16])).tolist() == [
        2, 0, *((1, 2) if largest < 2**16 else (2, 1)),
    ]  # fmt: skip


def test_large_numbers_are_found() -> None:
    known = np.array([0, 2**40, 2**62, 2**63 - 1])
    assert Lookup.of(known).find(known[::-1].copy()).tolist() == [3, 2, 1, 0]
    assert Lookup.of(known).find(np.array([1, 2**63 - 2])).tolist() == [4, 4]
