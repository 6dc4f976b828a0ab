"""Clocks: transfers with their times, gathered in the order of their starts."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.schedule.clock import Clock, timed
from forestcoll.schedule.sends import TimedSend


def test_transfers_are_sorted_by_start_and_steps_number_the_starts() -> None:
    """Starts 0, 0, 4, 9: steps 0, 0, 1, 2; within a step by chunk and ends."""
    rows = [
        TimedSend(9, 12, 0, 2, 3, reduce=True),
        TimedSend(0, 4, 1, 1, 2),
        TimedSend(4, 5, 0, 1, 2),
        TimedSend(0, 3, 0, 0, 1),
    ]
    sends, clock = timed(rows, size_bytes=8, tick_us=Fraction(1, 3))
    assert sends.step.tolist() == [0, 0, 1, 2]
    assert sends.chunk.tolist() == [0, 1, 0, 0]
    assert (sends.tail.tolist(), sends.head.tolist()) == ([0, 1, 1, 2], [1, 2, 2, 3])
    assert sends.reduce.tolist() == [False, False, False, True]
    assert (clock.start.tolist(), clock.end.tolist()) == ([0, 0, 4, 9], [3, 4, 5, 12])
    assert (clock.size_bytes, clock.tick_us) == (8, Fraction(1, 3))
    assert clock.finish_us == 4  # 12 thirds


def test_columns_without_values_are_none() -> None:
    """Messages, times of leaving, parts of chunks and paths."""
    sends, clock = timed([TimedSend(0, 1, 0, 0, 1)], 1)
    assert (clock.left, clock.message, sends.interval, sends.path) == (None,) * 4
    rows = [
        TimedSend(1, 3, 0, 0, 1, first=2, amount=2, left=2, message=0, path=5),
        TimedSend(1, 3, 0, 0, 1, first=0, amount=2, left=3, message=0),
    ]
    sends, clock = timed(rows, 1)
    assert clock.left is not None
    assert clock.message is not None
    assert sends.interval is not None
    assert sends.interval.first.tolist() == [0, 2]
    assert clock.left.tolist() == [3, 2]
    assert clock.message.tolist() == [0, 0]
    assert sends.paths.tolist() == [-1, 5]


def test_all_or_none_say_when_they_have_left() -> None:
    rows = [TimedSend(0, 2, 0, 0, 1, left=1), TimedSend(0, 2, 1, 0, 1)]
    with pytest.raises(ValueError, match="some transfers say when they have left"):
        timed(rows, 1)


def test_nothing_is_finished_at_once() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert Clock(1, Fraction(7), none, none).finish_us == 0
