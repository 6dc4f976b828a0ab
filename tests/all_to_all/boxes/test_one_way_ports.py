"""Ports at limits: by hand, and against the definition."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.all_to_all.boxes.one_way_ports import PortLimits, ports_at_limits


def test_without_limits_all_ports_share() -> None:
    assert ports_at_limits(7, [PortLimits(Fraction(2)), PortLimits(Fraction(1))]) == [None, None]
    assert ports_at_limits(0, [PortLimits(Fraction(2))]) == [None]


def test_limits_that_do_not_bind_change_nothing() -> None:
    """12 bytes over ports of 1, 2 and 3: 2, 4 and 6."""
    wide = [Fraction(1), Fraction(2), Fraction(3)]
    limits = [PortLimits(wide[0], low=1), PortLimits(wide[1], high=5), PortLimits(wide[2])]
    assert ports_at_limits(12, limits) == [None] * 3
    closer = [PortLimits(wide[0], low=3), PortLimits(wide[1], high=3), PortLimits(wide[2])]
    assert ports_at_limits(12, closer) == [3, 3, None]


def test_amounts_outside_the_limits_of_ports_have_no_loads() -> None:
    one = Fraction(1)
    assert ports_at_limits(5, [PortLimits(one, high=2), PortLimits(one, high=2)]) is None
    assert ports_at_limits(4, [PortLimits(one, high=2), PortLimits(one, high=2)]) is not None
    assert ports_at_limits(5, [PortLimits(one, low=4), PortLimits(one, low=2)]) is None
    assert ports_at_limits(6, [PortLimits(one, low=4), PortLimits(one, low=2)]) == [4, 2]


@pytest.mark.parametrize("seed", range(40))
def test_loads_add_up_and_the_busiest_port_is_the_least_busy(seed: int) -> None:
    """Of the ports at no limit all are equally busy; those below them are full by their limits.

    So no other loads are better: to relieve a port that is as busy, another one would have to take
    more than it can; one that is busier carries what it must.
    """
    draw = np.random.default_rng(seed)
    count = int(draw.integers(1, 6))
    limits = []
    for wide in draw.integers(1, 9, count).tolist():
        low = int(draw.integers(0, 30)) if draw.random() < 0.4 else 0
        high = low + int(draw.integers(0, 30)) if draw.random() < 0.4 else None
        limits.append(PortLimits(Fraction(wide), low, high))
    total = sum(one.low for one in limits) + int(draw.integers(0, 60))
    found = ports_at_limits(total, limits)
    if found is None:
        assert all(one.high is not None for one in limits)
        assert sum(one.high or 0 for one in limits) < total
        return
    free = sum((one.wide for one, at in zip(limits, found, strict=True) if at is None), Fraction(0))
    left = total - sum(at for at in found if at is not None)
    if not free:
        assert left == 0
        return
    time = left / free
    for one, at in zip(limits, found, strict=True):
        load = time * one.wide if at is None else Fraction(at)
        assert load >= one.low
        assert one.high is None or load <= one.high
        if at is not None:
            assert (at == one.low and load >= time * one.wide) or (
                at == one.high and load <= time * one.wide
            )
