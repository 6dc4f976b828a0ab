"""Checks of the times of a schedule with a clock.

Part of :func:`forestcoll.schedule.verify`: times are in order, and messages are valid. Other
modules check that senders have their data in time, and that links are wide enough.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from forestcoll.schedule.clock import Clock
from forestcoll.schedule.exact_sums import first
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.verification.arrays import DIGITS, check_array, check_count
from forestcoll.schedule.verification.naming import fail
from forestcoll.schedule.verification.steps.transfers import send_name

__all__ = ["check_times"]

_NEVER = int(np.iinfo(np.int64).max)


def check_times(schedule: StepSchedule, clock: Clock) -> None:
    """Check that times are ordered whole numbers, and that a step's transfers start together."""
    count = len(schedule.sends)
    check_count("the size that the clock is for", clock.size_bytes, "bytes")
    if not isinstance(clock.tick_us, Fraction) or clock.tick_us <= 0:
        fail(f"a tick is {clock.tick_us!r} us; it must be a positive Fraction")
    if max(clock.tick_us.numerator, clock.tick_us.denominator) >= 10**DIGITS:
        fail(f"a tick is a fraction of more than {DIGITS} digits; take a simpler one")
    check_array("clock.start", clock.start, (count,), 0, _NEVER - 1)
    check_array("clock.end", clock.end, (count,), 0, _NEVER - 1)
    if (send := first(clock.end <= clock.start)) is not None:
        name = send_name(schedule, send)
        fail(f"{name} ends at tick {clock.end[send]}, not after it starts")
    later = np.diff(clock.start) > 0
    same = np.diff(schedule.sends.step) == 0
    if (send := first((np.diff(clock.start) < 0) | (later == same))) is not None:
        fail(f"{send_name(schedule, send + 1)}: steps must number the starts of the transfers")
    if clock.left is not None:
        check_array("clock.left", clock.left, (count,), 0, _NEVER - 1)
        if (send := first((clock.left <= clock.start) | (clock.left > clock.end))) is not None:
            fail(f"{send_name(schedule, send)} leaves at tick {clock.left[send]}, not in its time")
    if clock.message is not None:
        _check_messages(schedule, clock)


def _check_messages(schedule: StepSchedule, clock: Clock) -> None:
    """Check that the transfers of a message have the same ends, times and path."""
    sends, message = schedule.sends, clock.message
    assert message is not None
    check_array("clock.message", message, (len(sends),), -1, max(len(sends) - 1, 0))
    order = np.argsort(message, kind="stable")
    order = order[message[order] >= 0]
    together = message[order][1:] == message[order][:-1]
    for what, column in (
        ("sender", sends.tail),
        ("receiver", sends.head),
        ("path", sends.path),
        ("start", clock.start),
        ("end", clock.end),
        ("time of leaving", clock.left),
    ):
        if column is None:
            continue
        if (at := first(together & (column[order][1:] != column[order][:-1]))) is not None:
            name = send_name(schedule, int(order[at + 1]))
            fail(f"{name} has another {what} than the rest of message {message[order[at]]}")
