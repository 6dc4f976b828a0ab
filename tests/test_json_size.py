"""JSON that would fill memory."""

from __future__ import annotations

import pytest

from forestcoll.errors import InvalidScheduleError
from forestcoll.json_size import MOST_OBJECT_BYTES, expect_few_objects, object_bytes


def test_lists_objects_and_values_are_counted() -> None:
    """Two lists of 72 bytes, one object of 200, two commas of 40: 424, as text and as bytes."""
    text = '[[1, 2], {"a": 1}]'
    assert object_bytes(text) == object_bytes(text.encode()) == 2 * 72 + 200 + 2 * 40


def test_the_limit_is_the_most_that_is_allowed() -> None:
    """Three lists take 216 bytes."""
    expect_few_objects("[[], []", "it", InvalidScheduleError, 3 * 72 + 40)
    with pytest.raises(InvalidScheduleError, match=r"^it: holds so many values .* at most 0 MB"):
        expect_few_objects("[[], []", "it", InvalidScheduleError, 3 * 72 + 39)
    with pytest.raises(InvalidScheduleError, match=r"^holds so many values"):
        expect_few_objects("[[], []", "", InvalidScheduleError, 0)


def test_lists_of_nothing_are_refused_before_they_fill_memory() -> None:
    """Four million of 72 + 40 bytes are 448 MB, in 12 MB of text; half as many are not too many."""
    expect_few_objects("[]," * 2_000_000, "it", InvalidScheduleError)
    with pytest.raises(InvalidScheduleError, match="448 MB"):
        expect_few_objects("[]," * 4_000_000, "it", InvalidScheduleError)
    assert MOST_OBJECT_BYTES == 400 * 10**6
