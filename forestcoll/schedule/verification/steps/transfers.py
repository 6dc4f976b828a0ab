"""Transfers of a step schedule in the columns that its checks read.

Part of :func:`forestcoll.schedule.verify`. With or without a clock a transfer has a time at which
it starts and one at which it has arrived: without one, its step and the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.verification.naming import end_name
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["Rows", "keeping_ends", "rows_of", "send_name", "too_few"]

_Times = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Transfers, T of them.

    Parameters
    ----------
    schedule : StepSchedule
        What they are the transfers of.
    chunk, tail, head, first, end : int64 arrays of length T
        What is sent, from ``first`` to ``end`` (excluded), and its two ends.
    start, finish : int64 arrays of length T
        When it is sent and when it is there.
    size : int64 array of length C
        The end of each chunk.
    span : int
        A number above any position in a chunk.
    """

    schedule: StepSchedule
    chunk: _Times
    tail: _Times
    head: _Times
    first: _Times
    end: _Times
    start: _Times
    finish: _Times
    size: _Times
    span: int

    @property
    def ends(self) -> int:
        """Number of nodes that may send and receive."""
        return len(self.schedule.topology.nodes)

    @property
    def gpus(self) -> int:
        """Number of GPUs, which come first among the ends."""
        return self.schedule.topology.num_compute

    def at_tail(self, which: Ints) -> _Times:
        """Return the cell (chunk, sender) of some transfers."""
        return np.asarray(self.chunk[which] * self.ends + self.tail[which])

    def at_head(self, which: Ints) -> _Times:
        """Return the cell (chunk, receiver) of some transfers."""
        return np.asarray(self.chunk[which] * self.ends + self.head[which])


def rows_of(schedule: StepSchedule) -> Rows:
    """Read the transfers; places in chunks are renumbered where they would need too many bits."""
    sends, clock, interval = schedule.sends, schedule.clock, schedule.intervals
    first, size = interval.first.astype(np.int64), schedule.chunks.size.astype(np.int64)
    end = first + interval.amount
    cells = len(size) * len(schedule.topology.nodes)
    if cells * (int(size.max(initial=0)) + 1) >= 2**63:
        places = np.unique(np.concatenate([np.zeros(1, np.int64), first, end, size]))
        first, end, size = (np.searchsorted(places, array) for array in (first, end, size))
    return Rows(
        schedule=schedule,
        chunk=sends.chunk.astype(np.int64),
        tail=sends.tail.astype(np.int64),
        head=sends.head.astype(np.int64),
        first=first,
        end=end,
        start=(sends.step if clock is None else clock.start).astype(np.int64),
        finish=(sends.step + np.int64(1) if clock is None else clock.end).astype(np.int64),
        size=size,
        span=int(size.max(initial=0)) + 1,
    )


def keeping_ends(topology: Topology) -> npt.NDArray[np.bool_]:
    """Tell of each end whether it keeps what it gets and sends it as often as it likes: as GPUs."""
    nodes = [topology.nodes[position] for position in topology.ends]
    return np.array([n.kind is NodeKind.COMPUTE or (n.multicast and n.stores) for n in nodes])


def too_few(rows: Rows, cells: Ints, least: int) -> int | None:
    """Return the first chunk that is in too few cells (chunk, end) of GPUs, if there is one.

    This check comes first: it avoids arrays of chunks times GPUs for a schedule with too few
    transfers.
    """
    different = np.unique(cells)
    gpus = different[different % rows.ends < rows.gpus]
    found = np.bincount(gpus // rows.ends, minlength=len(rows.size))
    short = np.flatnonzero(found < least)
    return int(short[0]) if len(short) else None


def send_name(schedule: StepSchedule, send: int) -> str:
    """Name a transfer: its step, its chunk or what of it, and its ends."""
    sends = schedule.sends
    tail, head = (end_name(schedule, int(end[send])) for end in (sends.tail, sends.head))
    what = f"step {sends.step[send]}, chunk {sends.chunk[send]}"
    if sends.interval is not None:
        first, amount = (int(a[send]) for a in (sends.interval.first, sends.interval.amount))
        if (first, amount) != (0, int(schedule.chunks.size[sends.chunk[send]])):
            what += f" from unit {first} to {first + amount}"
    return f"{what}, {tail} -> {head}"
