"""Time reversal of step schedules, on the network with every link reversed.

Problem: turn a distribution of data into a reduction, or a reduction into a distribution.
Input:   a step schedule on the reversed network.
Output:  its mirror image on the network itself: the last step comes first, receivers send.
Cost:    a sort of the transfers.
Source:  a reduce-scatter is an allgather backwards in time on the network with every link reversed
         (Zhao et al., NSDI 2025, sections 4 and 6).

A clock is mirrored too, with one exception: bytes leave before they arrive, in either direction of
time. Forwards, a link is busy once the links before it on the path have passed the bytes on;
backwards, once the links behind it have. This shifts the load of each link by the link's latency
and by the slack of the transfer. If the paths of each transfer have one latency, and it ends when
its last byte arrives, all rates on a link shift by the same time. Otherwise rates may overlap, and
data that passes a switch as it comes in may pass too late. A switch that gets data without sending
it would, backwards, send data that it did not get. ``verify`` finds all three faults.
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
    """Convert a schedule on the reversed network to its mirror image on the network.

    An allgather becomes a reduce-scatter, a broadcast a reduce, and vice versa; copies become
    additions. In an all-to-all, chunks go from their targets to their roots.

    Parameters
    ----------
    schedule : StepSchedule
        A schedule on ``topology.reversed()``.
    topology : Topology

    Raises
    ------
    UnsupportedError
        If a GPU gets a copy of data that it has: backwards, it would be counted twice. If a GPU
        sends a sum twice, or the root sends one: backwards, it would be distributed twice. For an
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
    """Check that every GPU gets a unit at most once, and the root does not get it.

    Sums and the chunks of an all-to-all are copied backwards: every GPU must send them at most
    once, and the GPU where they end must not send them.
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
