"""Ways to spoil one transfer of a step schedule, whichever it is."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from forestcoll.schedule import Intervals, Path, Routes, Sends, StepSchedule


def rerouted(schedule: StepSchedule, sends: Sends) -> StepSchedule:
    """Give a schedule other transfers, with routes for just these; new links are direct."""
    ends, paths = schedule.topology.ends, schedule.routes.paths()
    links = sorted(set(zip(sends.tail.tolist(), sends.head.tolist(), strict=True)))
    ways = {(t, h): paths.get((t, h), (Path((ends[t], ends[h]), 1),)) for t, h in links}
    return replace(schedule, sends=sends, routes=Routes.from_paths(ways))


def _dropped(schedule: StepSchedule, row: int) -> StepSchedule:
    kept = np.delete(np.arange(len(schedule.sends)), row)
    sends, clock = schedule.sends.taken(kept), schedule.clock
    step = np.unique(sends.step, return_inverse=True)[1].astype(np.int32)
    if clock is not None:
        times = {
            name: None if column is None else column[kept]
            for name, column in (
                ("start", clock.start),
                ("end", clock.end),
                ("left", clock.left),
                ("message", clock.message),
            )
        }
        clock = replace(clock, **times)
    return rerouted(replace(schedule, clock=clock), replace(sends, step=step))


def _misdirected(schedule: StepSchedule, row: int) -> StepSchedule | None:
    """To another GPU that a link from the sender leads to."""
    topology, sends = schedule.topology, schedule.sends
    tail, head = int(sends.tail[row]), int(sends.head[row])
    others = [
        end
        for end in range(topology.num_compute)
        if end not in (tail, head)
        and (topology.ends[tail], topology.ends[end]) in topology.link_between
    ]
    if not others:
        return None
    heads = sends.head.copy()
    heads[row] = others[0]
    return rerouted(schedule, replace(sends, head=heads))


def _other_chunk(schedule: StepSchedule, row: int) -> StepSchedule | None:
    if len(schedule.chunks) == 1:
        return None
    chunk = schedule.sends.chunk.copy()
    chunk[row] = (chunk[row] + 1) % len(schedule.chunks)
    return replace(schedule, sends=replace(schedule.sends, chunk=chunk))


def _other_kind(schedule: StepSchedule, row: int) -> StepSchedule:
    reduce = schedule.sends.reduce.copy()
    reduce[row] = ~reduce[row]
    return replace(schedule, sends=replace(schedule.sends, reduce=reduce))


def _cut(schedule: StepSchedule, row: int, first: int, amount: int) -> StepSchedule:
    """Every unit becomes three; of this transfer some are missing, or too many."""
    chunks = schedule.chunks
    chunks = replace(chunks, size=chunks.size * 3, whole=chunks.whole * 3)
    known = schedule.intervals
    firsts, amounts = known.first * 3, known.amount * 3
    firsts[row] += first
    amounts[row] += amount
    sends = replace(schedule.sends, interval=Intervals(firsts, amounts))
    return replace(schedule, chunks=chunks, sends=sends)


ROW_MUTATIONS: dict[str, Callable[[StepSchedule, int], StepSchedule | None]] = {
    "left out": _dropped,
    "to another GPU": _misdirected,
    "of another chunk": _other_chunk,
    "reduces or multicasts": _other_kind,
    "begins a unit late": lambda schedule, row: _cut(schedule, row, 1, -1),
    "ends a unit early": lambda schedule, row: _cut(schedule, row, 0, -1),
    "begins before its chunk": lambda schedule, row: _cut(schedule, row, -10, 10),
    "ends after its chunk": lambda schedule, row: _cut(schedule, row, 0, 10**6),
    "all of it moved by a unit": lambda schedule, row: _cut(schedule, row, 1, 0),
}
"""Each takes a schedule and the number of a transfer; None where there is no such change."""


def spoil_row(schedule: StepSchedule) -> Iterator[tuple[str, StepSchedule]]:
    """Yield every change of every transfer, with what it is."""
    for row in range(len(schedule.sends)):
        for name, change in ROW_MUTATIONS.items():
            spoilt = change(schedule, row)
            if spoilt is not None:
                yield f"transfer {row} {name}", spoilt
