"""Fields of JSON objects: right ones are returned, wrong ones named with what is allowed."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule.files.fields import (
    LARGEST,
    amount,
    check_fields,
    check_path_rows,
    check_range,
    check_records,
    check_routes,
    check_rows,
    column,
    entry_of,
    fraction,
    maker,
    node_positions,
    numbers,
    one,
    weights_of,
    whole,
)
from forestcoll.topology import load_topology
from tests.schedule.made.hand import rails2

NET = load_topology("ring:nodes=3")


def row(i: int) -> str:
    return f"rows[{i}]"


def test_right_values_are_returned() -> None:
    record = {"k": LARGEST, "whole": 10**299, "rate": "0/7", "by": "é 1", "on": False}
    assert whole(record, "k") == LARGEST
    assert amount(record, "whole") == 10**299
    assert fraction(record, "rate") == 0
    assert fraction({"rate": "127/25"}, "rate") == Fraction(127, 25)
    assert maker({"method": "by hand"}) == "by hand"
    assert one(record, "on", bool) is False
    assert weights_of({}, NET) == (1, 1, 1)
    assert weights_of({"weights": [0, 2, LARGEST]}, NET) == (0, 2, LARGEST)


def test_columns_are_taken_over_all_records() -> None:
    """Numbers as an array, nodes as positions, list after list."""
    assert column([{"k": 3}, {"k": 4}], "k", int, row) == [3, 4]
    found = numbers([5, -2, 7], -2, 7, row)
    assert (found.dtype, found.tolist()) == (np.int64, [5, -2, 7])
    assert numbers([], 0, 0, row).tolist() == []
    assert node_positions([["gpu2", "gpu0"], [], ["gpu2"]], NET, row).tolist() == [2, 0, 2]


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: whole({"k": 0}, "k", "tree."), "tree.k is 0; it must be positive and at most"),
        (lambda: whole({"k": LARGEST + 1}, "k"), f"k is {LARGEST + 1}; it must be positive"),
        (lambda: whole({"k": True}, "k"), "k is True; it must be an integer"),
        (lambda: amount({"k": 10**300}, "k"), "k is 1000"),
        (lambda: fraction({"r": "1/0"}, "r"), "r is '1/0'; it must be an exact number in quotes"),
        (lambda: fraction({"r": "-1"}, "r"), "r is '-1'; it must be an exact number"),
        (lambda: fraction({"r": 1}, "r"), "r is 1; it must be text"),
        (lambda: maker({"method": "a\nb"}), "method is 'a\\nb'; it must be the printable name"),
        (lambda: weights_of({"weights": [1]}, NET), "weights is [1]; it must be a list of 3 int"),
        (lambda: weights_of({"weights": [1, 1, -1]}, NET), "weights[2] is -1; it must be between"),
        (lambda: one({"on": 1}, "on", bool), "on is 1; it must be true or false"),
        (lambda: column([{"k": 1}, {"k": "2"}], "k", int, row), "rows[1].k is '2'; it must be an"),
        (lambda: numbers([1, 2**64], 0, 9, row), f"rows[1] is {2**64}; it must be between 0 and 9"),
        (lambda: numbers([1, 10], 0, 9, row), "rows[1] is 10; it must be between 0 and 9"),
        (lambda: numbers([1, -1], 0, 9, row), "rows[1] is -1; it must be between 0 and 9"),
        (lambda: node_positions([["gpu0"], ["x"]], NET, row), "rows[1] is 'x'; it must be names"),
        (lambda: node_positions([[0]], NET, row), "rows[0] is 0; it must be names of nodes of"),
        (lambda: check_records([{}, 3], (), row), "rows[1] is 3; it must be an object"),
    ],
)
def test_wrong_values_are_named(read: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidScheduleError) as caught:
        read()
    assert str(caught.value).startswith(message)


def test_fields_are_those_of_the_format() -> None:
    """None missing, none more, but optional ones."""

    def check(*records: dict[str, object]) -> None:
        check_fields(list(records), ("a", "b"), lambda i: f"[{i}].", ("c",))

    check({"a": 1, "b": 2}, {"c": 1, "b": 2, "a": 3})
    with pytest.raises(InvalidScheduleError, match=r"^\[1\]\.b is missing; add it$"):
        check({"a": 1, "b": 2}, {"a": 1, "c": 1})
    with pytest.raises(
        InvalidScheduleError, match=r"^\[0\]\.'d' is not .* fields here are a, b, c"
    ):
        check({"a": 1, "b": 2, "d": 3})


ROUTES = rails2().routes
"""Two links of two paths each, three nodes a path, on four nodes."""


def test_right_numbers_are_taken() -> None:
    """At either end of the range, and none at all."""
    check_range(np.array([3, -1, 7]), -1, 7, entry_of("root"))
    check_range(np.zeros(0, dtype=np.int64), 5, 4, entry_of("root"))
    check_rows("first", np.array([0, 2, 2, 5]), 3, 5)
    check_routes(ROUTES, nodes=4, ends=2)
    check_path_rows(ROUTES)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, 8, -2], r"^root\[1\] is 8; it must be between -1 and 7"),
        ([0, 7, -2], r"^root\[2\] is -2; it must be between -1 and 7"),
    ],
)
def test_the_first_entry_out_of_range_is_named(values: list[int], message: str) -> None:
    with pytest.raises(InvalidScheduleError, match=message):
        check_range(np.array(values), -1, 7, entry_of("root"))


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ([0, 5], "array first has 2 entries; it must have 3"),
        ([1, 2, 5], "array first runs from 1 to 5; it must run from 0 to 5"),
        ([0, 2, 4], "array first runs from 0 to 4; it must run from 0 to 5"),
        ([0, 6, 5], r"first\[2\] is 5; it must be at least 6, as the one before it"),
    ],
)
def test_rows_follow_one_another(first: list[int], message: str) -> None:
    """Two rows of five entries."""
    with pytest.raises(InvalidScheduleError, match=f"^{message}"):
        check_rows("first", np.array(first), 2, 5)


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("tail", 1, 2, r"reduce\.routes\.tail\[1\] is 2; it must be between 0 and 1"),
        ("head", 0, -1, r"reduce\.routes\.head\[0\] is -1"),
        ("multiplicity", 3, 0, r"reduce\.routes\.multiplicity\[3\] is 0; it must be between 1"),
        ("hop", 4, 4, r"reduce\.routes\.hop\[4\] is 4; it must be between 0 and 3"),
        ("first_path", 2, 5, r"array reduce\.routes\.first_path runs from 0 to 5"),
        ("first_hop", 1, 7, r"reduce\.routes\.first_hop\[2\] is 6; it must be at least 7"),
    ],
)
def test_every_array_of_routes_is_looked_at(name: str, at: int, value: int, message: str) -> None:
    """And named with the phase that it belongs to."""
    array = getattr(ROUTES, name).copy()
    array[at] = value
    with pytest.raises(InvalidScheduleError, match=f"^{message}"):
        check_routes(replace(ROUTES, **{name: array}), nodes=4, ends=2, prefix="reduce.")
    with pytest.raises(
        InvalidScheduleError, match=r"routes\.head has 1 entries; routes\.tail has 2"
    ):
        check_routes(replace(ROUTES, head=ROUTES.head[:1]), nodes=4, ends=2)


def test_links_without_a_path_and_paths_without_a_hop_are_named() -> None:
    """All four paths for the first link; a path of one node."""
    nothing = replace(ROUTES, first_path=np.array([0, 4, 4]))
    with pytest.raises(InvalidScheduleError, match="the logical link from 1 to 0 has no path"):
        check_path_rows(nothing)
    short = replace(ROUTES, first_hop=np.array([0, 3, 6, 7, 12]))
    with pytest.raises(
        InvalidScheduleError, match="a path of the logical link from 1 to 0 has less"
    ):
        check_path_rows(short)
