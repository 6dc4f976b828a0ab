"""Printed numbers: equal if ours rounds to them."""

import math
from dataclasses import replace

import pytest

from experiments.reproduction.difference import Difference, come_out, may_be_stopped, printed_number
from tests.experiments.samples import clusters_of_rows


@pytest.mark.parametrize(
    ("printed", "ours", "equal"),
    [
        ("348", 347.826, True), ("348", 347.4, False), ("1.332", 1.33249, True),
        ("1.332", 1.3326, False), ("8/5", 1.6, True), ("8/5", 1.60001, False), ("5", 5.0, True),
        ("<0.01", 0.002, True),
        ("<0.01", 0.02, False),
    ],
)  # fmt: skip
def test_equal_means_rounding_to_the_printed_number(printed: str, ours: float, equal: bool) -> None:
    assert Difference("EF5", "x", printed, ours).equal is equal


def test_shares_are_relative_to_the_printed_number() -> None:
    assert Difference("EF5", "x", "200", 220.0).share == pytest.approx(0.1)
    assert printed_number("<0.01")[0] == 0.01


def test_a_printed_zero_has_no_share() -> None:
    """Nothing is a share of it: ours is equal (0.4 rounds to 0), or infinitely far off."""
    assert [Difference("ET18", "x", "0", ours).share for ours in (0.4, 2, -2)] == [
        0,
        math.inf,
        -math.inf,
    ]


def test_a_number_that_two_tables_print_counts_once() -> None:
    """It comes out if it does in both: 5 hops are printed twice, 1.3 and 1.4 for what is 1.3."""
    twice = [Difference(item, "T_L", "5", 5.0) for item in ("EB7", "EB20")]
    apart = [Difference("EB7", "T_B", shown, 1.3) for shown in ("1.4", "1.3")]
    assert come_out(twice) == (1, 1)
    assert come_out(twice + apart) == come_out(twice + apart[::-1]) == (1, 2)


def test_seconds_near_the_limit_count_only_with_proof() -> None:
    """Of a search that proves nothing, more than half of the limit may be the limit's doing."""
    row = replace(clusters_of_rows()[0], limit_s=60.0, search_status="feasible", generation_s=29.0)
    assert not may_be_stopped(row)
    assert may_be_stopped(replace(row, generation_s=31.0))
    assert not may_be_stopped(replace(row, generation_s=31.0, search_status="optimal"))
    assert not may_be_stopped(replace(row, generation_s=31.0, limit_s=None))
    assert not may_be_stopped(replace(row, generation_s=31.0, search_status=None))
