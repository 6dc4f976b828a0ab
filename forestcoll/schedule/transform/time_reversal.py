"""Step schedules backwards in time, on the network with every link reversed.

Problem: sum up what a schedule hands out, or hand out what it sums up.
Input:   a step schedule on the reversed network.
Output:  its mirror image on the network itself: the last step comes first, receivers send.
Cost:    a sort of the transfers.
Source:  a reduce-scatter is an allgather backwards in time on the network with every link turned
         round (Zhao et al., NSDI 2025, sections 4 and 6).

Of a clock too everything is mirrored, but for one thing: bytes leave first and arrive later,
whichever way time runs. Forwards a link is busy from when the links before it on the path have
passed the bytes on; backwards from when those behind it have. On each link this transfers what
loads it by the link's latency and by what time the transfer has to spare on its way. So the rates
on a link are those of before, all moved alike, if the paths of each transfer have one latency and
it ends when its last byte arrives; where it is otherwise they may come to overlap, and what passes
a switch as it comes in may pass it too late. A switch that gets what it does not send on would send
what it did not get. ``verify`` finds all three.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from forestcoll.errors import UnsupportedError
from forestcoll.schedule.clock import Clock
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.transform.reverse import reversed_paths, reversed_routes
from forestcoll.topology.model import Topology

__all__ = ["time_reversed"]

_MIRRORED = {
    "allgather": "reduce-scatter",
    "broadcast": "reduce",
    "reduce-scatter": "allgather",
    "reduce": "broadcast",
    "all-to-all": "all-to-all",
}


def time_reversed(schedule: StepSchedule, topology: Topology) -> StepSchedule:
    """Turn a schedule on the reversed network into its mirror image on the network.

    An allgather becomes a reduce-scatter, a broadcast a reduce, and the other way round; what was
    copied is added. In an all-to-all chunks go from their targets to their roots.

    Parameters
    ----------
    schedule : StepSchedule
        A schedule on ``topology.reversed()``.
    topology : Topology

    Raises
    ------
    UnsupportedError
        If copies are turned round and a GPU gets what it has: backwards it would be counted twice.
        If sums are, and a GPU sends one twice, or the root one: it would be handed out twice. Of an
        allreduce, which is both.
    """
    if schedule.collective not in _MIRRORED:
        raise UnsupportedError(
            f"unsupported: an {schedule.collective} is not to be turned round in time; turn its "
            f"phases round and put them in turn"
        )
    _check_once(schedule)
    collective = _MIRRORED[schedule.collective]
    sends, chunks, clock = schedule.sends, schedule.chunks, schedule.clock
    step = np.int32(schedule.num_steps - 1) - sends.step
    if clock is not None:
        clock = _backwards(clock)
        step = np.unique(clock.start, return_inverse=True)[1].astype(np.int32)
    first = schedule.intervals.first
    order = np.lexsort((first, sends.tail, sends.head, sends.chunk, step))
    rows = sends.taken(order)
    path = rows.path
    if path is not None:
        path = np.append(reversed_paths(schedule.routes), np.int32(-1))[path].astype(np.int32)
    if collective == "all-to-all":
        chunks = Chunks(chunks.size, chunks.whole, chunks.target, chunks.root)
    adds = np.full(len(order), collective in ("reduce-scatter", "reduce"))
    return StepSchedule(
        topology=topology,
        method=schedule.method,
        collective=collective,
        chunks=chunks,
        sends=Sends(step[order], rows.chunk, rows.head, rows.tail, adds, rows.interval, path),
        routes=reversed_routes(schedule.routes),
        clock=None if clock is None else _taken(clock, order),
        weights=schedule.weights,
    )


def _check_once(schedule: StepSchedule) -> None:
    """Every GPU gets a unit once at most, and the root does not.

    Of what is to be copied backwards, sums and the chunks of an all-to-all: it sends it once at
    most, and where it ends does not.
    """
    sends, interval, nodes = schedule.sends, schedule.intervals, len(schedule.topology.nodes)
    aimed = schedule.collective == "all-to-all"
    at, what = (sends.tail, "sends") if schedule.reduction or aimed else (sends.head, "gets")
    last = schedule.chunks.target if aimed else schedule.chunks.root
    gpus = np.flatnonzero(at < schedule.topology.num_compute)
    cell = sends.chunk[gpus].astype(np.int64) * nodes + at[gpus]
    first = interval.first[gpus]
    order = np.lexsort((first, cell))
    cell, first, end = cell[order], first[order], (first + interval.amount[gpus])[order]
    again = bool(((cell[1:] == cell[:-1]) & (first[1:] < end[:-1])).any())
    if again or (last[sends.chunk[gpus]] == at[gpus]).any():
        fault = "what it has" if what == "gets" else "what it has sent, or what stays with it"
        raise UnsupportedError(
            f"unsupported: a GPU {what} {fault}; backwards it would be counted, or come, twice"
        )


def _backwards(clock: Clock) -> Clock:
    """Mirror the times; bytes leave for as long as before."""
    finish = clock.end.max(initial=0)
    start = finish - clock.end
    left = None if clock.left is None else start + (clock.left - clock.start)
    return replace(clock, start=start, end=finish - clock.start, left=left)


def _taken(clock: Clock, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Clock:
    return replace(
        clock,
        start=clock.start[order],
        end=clock.end[order],
        left=None if clock.left is None else clock.left[order],
        message=None if clock.message is None else clock.message[order],
    )
