"""How long and on how many cores: what is no limit is refused."""

from __future__ import annotations

import math
import re
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forestcoll import generate
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.limits import Limits, check_seconds
from forestcoll.topology import load_topology


def test_no_threads_are_too_few() -> None:
    """Nobody would do the work."""
    with pytest.raises(InvalidParameterError, match="threads is 0; it must be from 1 to 1024"):
        generate(load_topology("ring:nodes=3"), threads=0)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"seconds": -0.1}, "seconds is -0.1; it must be from 0 to 10000000"),
        ({"seconds": float("inf")}, "seconds is inf; it must be from 0 to 10000000"),
        ({"seconds": float("nan")}, "seconds is nan; it must be from 0 to 10000000"),
        ({"seconds": True}, "seconds is True; it must be a number"),
        ({"seconds": "9"}, "seconds is '9'; it must be a number"),
        ({"threads": 0}, "threads is 0; it must be from 1 to 1024"),
        ({"threads": 1.0}, "threads is 1.0; it must be a whole number"),
        ({"threads": True}, "threads is True; it must be a whole number"),
        ({"threads": None}, "threads is None; it must be a whole number"),
    ],
)
def test_invalid_limits_are_refused_by_name(limits: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=f"^{re.escape(message)}"):
        Limits(**limits)


def test_any_real_number_is_a_time_and_none_is_no_limit() -> None:
    """Zero leaves no time, which may be asked for."""
    for seconds in (None, 0, 0.5, Fraction(1, 3), np.float64(2)):
        assert Limits(seconds, np.int64(2)).seconds is seconds
    assert (Limits().seconds, Limits().threads) == (None, 1)
    with pytest.raises(
        InvalidParameterError, match=r"^the time for tea is -1; it must be from 0 to"
    ):
        check_seconds(-1, "the time for tea")


def test_searches_that_follow_each_other_share_the_time() -> None:
    assert Limits(seconds=9, threads=2).shared(3) == Limits(seconds=3, threads=2)
    assert Limits(threads=2).shared(3) == Limits(threads=2)


def test_a_deadline_is_shared_by_successive_searches() -> None:
    """10 s from now: at most 10 s are left, and none once it has passed; without a limit all."""
    limits = Limits(seconds=10, threads=2)
    left = limits.until(limits.deadline)
    assert left.seconds is not None
    assert 9 < left.seconds <= 10
    assert left.threads == 2
    assert limits.until(time.monotonic() - 1).seconds == 0
    assert Limits().deadline == math.inf
    assert Limits().until(math.inf) == Limits()
