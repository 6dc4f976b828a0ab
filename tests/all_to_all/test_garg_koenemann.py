"""Phases of multiplicative weights."""

import math
import time

import pytest

from forestcoll.all_to_all.flow_problem import flow_problem
from forestcoll.all_to_all.garg_koenemann import phases
from tests.all_to_all.rates import (
    delivered,
    line,
)


def test_phases_alone_come_as_close_as_is_asked() -> None:
    """Garg and Koenemann from equal prices on a line of three, whose rate is 3/2."""
    demands = flow_problem(line((6, 3)))
    price, bound, rate = 1 / demands.bandwidth, math.inf, 0.0
    for phase in phases(demands, lambda: price, 1.0, time.perf_counter() + 20):
        bound = min(bound, demands.bound_gb_s(phase.price))
        rate = max(rate, 1 / float((phase.flow.sum(axis=0) / demands.bandwidth).max()))
        assert delivered(demands, phase.flow) == pytest.approx(1)
        assert rate <= 1.5 * (1 + 1e-9) <= bound * (1 + 2e-9)
        if bound <= 1.03 * rate:
            break
    assert bound <= 1.03 * rate
