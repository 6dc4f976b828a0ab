"""Times: in order, of steps and messages as they say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import StepSchedule, cost, finish_s_per_gb, verify
from tests.schedule.literals import LITERALS
from tests.schedule.made.steps import relay
from tests.schedule.mutations_of.steps import CLOCK_MUTATIONS


def with_clock(made: StepSchedule, **changes: object) -> StepSchedule:
    """The schedule with some columns of its clock changed by functions of them."""
    assert made.clock is not None
    return replace(made, clock=replace(made.clock, **changes))


def plus(column: np.ndarray, row: int, by: int) -> np.ndarray:
    changed = column.copy()
    changed[row] += by
    return changed


def test_a_message_is_one() -> None:
    """Its transfers start together, end together, and have the same ends."""
    made = LITERALS["TACCL, contiguous"].make()
    clock = made.clock
    assert clock is not None
    assert clock.message is not None
    row = int(np.flatnonzero(clock.message == 0)[0])
    with pytest.raises(VerificationError, match="another end than the rest of message 0"):
        verify(with_clock(made, end=plus(clock.end, row, 1)))
    other = np.where(clock.message == 1, 0, clock.message).astype(np.int32)
    with pytest.raises(VerificationError, match="another sender than the rest of message 0"):
        verify(with_clock(made, message=other))
    message = np.full_like(clock.message, -1)
    verify(with_clock(made, message=message))  # without a name they are as they were


@pytest.mark.parametrize("mutation", CLOCK_MUTATIONS)
def test_a_spoiled_clock_is_refused(mutation: str) -> None:
    """Data cannot be sent before it is there, nor faster than the link is."""
    mutate, message = CLOCK_MUTATIONS[mutation]
    with pytest.raises(VerificationError, match=message):
        verify(mutate(relay()))


def test_a_clock_counts_in_exact_time() -> None:
    """Two hops of 3 us for 3 kB: 2 s per GB; a clock that is 1 % fast is refused."""
    assert verify(relay()).finish_s_per_gb == finish_s_per_gb(relay()) == 2
    assert verify(relay()).time_s_per_gb == cost(relay()).time_s_per_gb == 1
    with pytest.raises(VerificationError, match=r"carries 100/99 GB/s"):
        verify(relay(Fraction(99, 100)))
