"""Clocks of step schedules: start and end times of transfers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.sends import (
    Sends,
    TimedSend,
    intervals_of,
    paths_of,
)

__all__ = ["Clock", "timed"]


@dataclass(frozen=True, eq=False)
class Clock(ByValue):
    """Start and end of each transfer, for data of one size.

    A transfer occupies each link of its path for as long as its bytes take to leave, at an even
    rate. A later link is occupied later, by the latencies of the links before it. So latency does
    not occupy a link. The rates on a link never add up to more than its bandwidth.

    Parameters
    ----------
    size_bytes : int
        The size of the data, M, for which these are the times.
    tick_us : Fraction
        The length of a tick; in a schedule of epochs, that of an epoch.
    start, end : int64 arrays of length T
        In ticks from the beginning. The sender has the data by the start, the receiver by the end.
    left : int64 array of length T, optional
        When the last byte has left its sender; it must arrive by the end. If not given, as late as
        that allows: the end less the longest latency of its paths.
    message : int32 array of length T, optional
        Transfers with the same number (from 0) are one message: they have the same ends and path,
        start together and end together. -1: a message of its own; all -1 if not given.
    """

    size_bytes: int
    tick_us: Fraction
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64] | None = None
    message: npt.NDArray[np.int32] | None = field(default=None, hash=False)

    @property
    def finish_us(self) -> Fraction:
        """When the last transfer ends, in microseconds."""
        return int(self.end.max(initial=0)) * self.tick_us

    def taken(self, which: npt.NDArray[np.int64]) -> Clock:
        """Return the times of some of the transfers, in the order given."""
        return replace(
            self,
            start=self.start[which],
            end=self.end[which],
            left=None if self.left is None else self.left[which],
            message=None if self.message is None else self.message[which],
        )


def timed(
    sends: Iterable[TimedSend], size_bytes: int, tick_us: Fraction = Fraction(1)
) -> tuple[Sends, Clock]:
    """Gather transfers with their times, in any order; their steps number their starts.

    Raises ValueError if only some give their interval of the chunk, or the time when it has left.
    """
    rows = sorted(sends, key=lambda row: (row.start, *row[2:5], row.first))
    start, end = (np.array([row[i] for row in rows], dtype=np.int64) for i in range(2))
    chunk, tail, head = (np.array([row[i] for row in rows], dtype=np.int32) for i in range(2, 5))
    message = np.array([row.message for row in rows], dtype=np.int32)
    left = [row.left for row in rows if row.left is not None]
    if left and len(left) < len(rows):
        raise ValueError("some transfers say when they have left their sender and others do not")
    clock = Clock(
        size_bytes=size_bytes,
        tick_us=tick_us,
        start=start,
        end=end,
        left=np.array(left, dtype=np.int64) if left else None,
        message=None if (message == -1).all() else message,
    )
    # Transfers that start together share a step. A step is no barrier here: only times count.
    step = np.unique(start, return_inverse=True)[1].astype(np.int32)
    adds = np.array([row.reduce for row in rows], dtype=np.bool_)
    return Sends(step, chunk, tail, head, adds, intervals_of(rows), paths_of(rows)), clock
