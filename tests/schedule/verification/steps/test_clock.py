"""Times: in order, of steps and messages as they say."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import cost, makespan_s_per_gb, verify
from forestcoll.schedule.verification.steps.clock import check_times
from tests.schedule.literals import LITERALS
from tests.schedule.made.steps import plus, relay, with_clock
from tests.schedule.mutations_of.steps import CLOCK_MUTATIONS


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
    assert verify(relay()).makespan_s_per_gb == makespan_s_per_gb(relay()) == 2
    assert verify(relay()).time_s_per_gb == cost(relay()).time_s_per_gb == 1
    with pytest.raises(VerificationError, match=r"carries 100/99 GB/s"):
        verify(relay(Fraction(99, 100)))


@pytest.mark.parametrize("tick", [Fraction(0), Fraction(-1, 2), 0.5, 1])
def test_a_tick_is_a_positive_fraction(tick: object) -> None:
    made = with_clock(relay(), tick_us=tick)
    assert made.clock is not None
    with pytest.raises(VerificationError, match="it must be a positive Fraction"):
        check_times(made, made.clock)


@pytest.mark.parametrize("tick", [Fraction(10**300), Fraction(1, 10**300)])
def test_a_tick_has_at_most_300_digits(tick: Fraction) -> None:
    """10^300 has 301 digits, above or below the line; one less has 300."""
    made = with_clock(relay(), tick_us=tick)
    assert made.clock is not None
    with pytest.raises(VerificationError, match="more than 300 digits"):
        check_times(made, made.clock)
    one_less = max(tick.numerator, tick.denominator) - 1
    shorter = replace(made.clock, tick_us=Fraction(1, one_less))
    check_times(made, shorter)


@pytest.mark.parametrize("row", [0, 1])
@pytest.mark.parametrize("by", [-3, -4])
def test_a_transfer_ends_after_it_starts(row: int, by: int) -> None:
    """Each of the two takes 3 ticks: at most 2 of them can go."""
    clock = relay().clock
    assert clock is not None
    made = with_clock(relay(), start=clock.start + 10, end=plus(clock.end + 10, row, by))
    assert made.clock is not None
    with pytest.raises(VerificationError, match=r"ends at tick \d+, not after it starts"):
        check_times(made, made.clock)
    shorter = replace(made.clock, end=plus(clock.end + 10, row, -2))
    check_times(made, shorter)


def test_times_count_from_zero() -> None:
    """The first transfer may start at 0 and none before; no end is below 0 either."""
    clock = relay().clock
    assert clock is not None
    check_times(relay(), clock)
    for column in ("start", "end"):
        made = with_clock(relay(), **{column: plus(getattr(clock, column), 0, -10)})
        assert made.clock is not None
        with pytest.raises(VerificationError, match=rf"clock\.{column} holds -"):
            check_times(made, made.clock)


def test_starts_and_steps_rise_together() -> None:
    """A start that comes before another of an earlier step, and two steps at one start."""
    clock = relay().clock
    assert clock is not None
    for start in ([4, 3], [3, 3]):
        made = with_clock(relay(), start=np.array(start), end=np.array(start) + 3)
        assert made.clock is not None
        with pytest.raises(VerificationError, match="must number the starts"):
            check_times(made, made.clock)


def test_data_leaves_in_the_time_of_its_transfer() -> None:
    """From 0 to 3 and from 3 to 6: it leaves after the start, at the latest at the end."""
    for left in ([1, 4], [3, 6]):
        made = with_clock(relay(), left=np.array(left))
        assert made.clock is not None
        check_times(made, made.clock)
    for left, row in (([0, 6], 0), ([4, 6], 0), ([3, 3], 1), ([3, 7], 1)):
        made = with_clock(relay(), left=np.array(left))
        assert made.clock is not None
        with pytest.raises(VerificationError, match=rf"leaves at tick {left[row]}, not in its"):
            check_times(made, made.clock)


def test_messages_are_numbered_below_the_transfers() -> None:
    """Two transfers have the messages -1 (none), 0 and 1."""
    for good in ([-1, -1], [0, 1], [1, -1]):
        made = with_clock(relay(), message=np.array(good))
        assert made.clock is not None
        check_times(made, made.clock)
    for bad in ([-2, 0], [0, 2]):
        made = with_clock(relay(), message=np.array(bad))
        assert made.clock is not None
        with pytest.raises(VerificationError, match=r"clock\.message holds"):
            check_times(made, made.clock)


def test_a_message_has_one_receiver_and_one_sender() -> None:
    """The two hops of a relay differ in all: sender first; with the same sender, the receiver."""
    made = with_clock(relay(), message=np.array([0, 0]))
    assert made.clock is not None
    with pytest.raises(VerificationError, match="another sender than the rest of message 0"):
        check_times(made, made.clock)
    forked = replace(made, sends=replace(made.sends, tail=np.zeros_like(made.sends.tail)))
    assert forked.clock is not None
    with pytest.raises(VerificationError, match="another receiver than the rest of message 0"):
        check_times(forked, forked.clock)
    same = replace(forked.sends, head=np.ones_like(made.sends.head))
    joined = replace(forked, sends=same)
    assert joined.clock is not None
    with pytest.raises(VerificationError, match="another start than the rest of message 0"):
        check_times(joined, joined.clock)
