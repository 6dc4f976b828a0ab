"""Numbers of a file that are in range, and rows that follow one another."""

from dataclasses import replace

import numpy as np
import pytest

from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule.files.ranges import (
    check_path_rows,
    check_range,
    check_routes,
    check_rows,
    entry_of,
)
from tests.schedule.made.hand import rails2

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
