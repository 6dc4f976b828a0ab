"""Whether the times of a schedule with a clock can be kept.

Part of :func:`forestcoll.schedule.verify`. Data is sent after it has come in; a part that is summed
up is sent once, after all that is added to it has come in; and at no moment do the rates of the
transfers over a link add up to more than its bandwidth.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exactly import Ints, first
from forestcoll.schedule.naming import fail, gpu_name
from forestcoll.schedule.steps import Clock, StepSchedule
from forestcoll.schedule.wellformed import check_array

__all__ = ["check_clock"]

_NEVER = np.iinfo(np.int64).max

_Times = npt.NDArray[np.int64]
"""Of each chunk at each rank, in ticks."""


def check_clock(schedule: StepSchedule, link: Ints, hops: Ints) -> None:
    """Data is there when it is sent, all of it is delivered, and no link carries too much.

    ``link`` is the logical link of every transfer, ``hops`` the physical link of every hop.
    """
    assert schedule.clock is not None
    _check_times(schedule, schedule.clock)
    ready = _check_sums(schedule, schedule.clock) if schedule.reduction else _at_roots(schedule)
    if schedule.collective in ("reduce", "reduce-scatter"):
        _check_no_copies(schedule)
    else:
        _check_copies(schedule, schedule.clock, ready)
    _check_rates(schedule, schedule.clock, link, hops)


def _name(schedule: StepSchedule, send: int) -> str:
    sends = schedule.sends
    tail, head = (gpu_name(schedule, int(rank[send])) for rank in (sends.tail, sends.head))
    return f"chunk {sends.chunk[send]}, {tail} -> {head} in step {sends.step[send]}"


def _check_times(schedule: StepSchedule, clock: Clock) -> None:
    """Times are whole numbers in order; transfers start together when their step is the same."""
    count = len(schedule.sends)
    if type(clock.size_bytes) is not int or clock.size_bytes < 1:
        fail(f"the clock is for {clock.size_bytes!r} bytes; it must be a positive int")
    if not isinstance(clock.tick_us, Fraction) or clock.tick_us <= 0:
        fail(f"a tick is {clock.tick_us!r} us; it must be a positive Fraction")
    check_array("clock.start", clock.start, (count,), 0, _NEVER - 1)
    check_array("clock.end", clock.end, (count,), 0, _NEVER - 1)
    if (send := first(clock.end <= clock.start)) is not None:
        fail(f"{_name(schedule, send)} ends at tick {clock.end[send]}, not after it starts")
    later = np.diff(clock.start) > 0
    same = np.diff(schedule.sends.step) == 0
    if (send := first((np.diff(clock.start) < 0) | (later == same))) is not None:
        fail(f"{_name(schedule, send + 1)}: steps must number the starts of the transfers")


def _at_roots(schedule: StepSchedule) -> _Times:
    """From when on each rank has each chunk if nothing is sent: its root from the beginning."""
    chunks = schedule.chunks
    ready = np.full((len(chunks), schedule.topology.num_compute), _NEVER, dtype=np.int64)
    ready[np.arange(len(chunks)), chunks.root] = 0
    return ready


def _check_copies(schedule: StepSchedule, clock: Clock, ready: _Times) -> None:
    """Copies are sent from where the whole chunk is, and get to all that it is due to."""
    sends = schedule.sends
    copies = np.flatnonzero(~sends.reduce)
    chunk, tail, head = sends.chunk[copies], sends.tail[copies], sends.head[copies]
    np.minimum.at(ready, (chunk, head), clock.end[copies])
    if (at := first(clock.start[copies] < ready[chunk, tail])) is not None:
        fail(f"{_name(schedule, int(copies[at]))}: the sender does not have the chunk by then")
    due = np.ones_like(ready, dtype=np.bool_)
    if schedule.collective == "all-to-all":
        due[:] = False
        due[np.arange(len(due)), schedule.chunks.target] = True
    if (at := first(due & (ready == _NEVER))) is not None:
        missing, rank = divmod(at, ready.shape[1])
        fail(f"chunk {missing} never gets to {gpu_name(schedule, rank)}")


def _check_no_copies(schedule: StepSchedule) -> None:
    if (send := first(~schedule.sends.reduce)) is not None:
        fail(f"{_name(schedule, send)}: a {schedule.collective} with a clock only adds")


def _check_sums(schedule: StepSchedule, clock: Clock) -> _Times:
    """Every rank but the root sends its sum once, complete; return when the root has them all.

    So each contribution has one way to go and time moves on along it: it is counted exactly once.
    """
    sends, shape = schedule.sends, (len(schedule.chunks), schedule.topology.num_compute)
    adds = np.flatnonzero(sends.reduce)
    chunk, tail, head = sends.chunk[adds], sends.tail[adds], sends.head[adds]
    times = np.zeros(shape, dtype=np.int64)
    np.add.at(times, (chunk, tail), 1)
    if (at := first(times > 1)) is not None:
        many, rank = divmod(at, shape[1])
        fail(f"chunk {many}: {gpu_name(schedule, rank)} sends its sum {times.flat[at]} times")
    silent = times == 0
    free = schedule.collective == "allreduce"
    root = silent.argmax(axis=1) if free else schedule.chunks.root
    silent[np.arange(len(root)), root] ^= True
    if (at := first(silent)) is not None:
        which, rank = divmod(at, shape[1])
        kept = "sends its sum on" if rank == root[which] else "never sends its part"
        fail(f"chunk {which}: {gpu_name(schedule, rank)} {kept}")
    complete = np.zeros(shape, dtype=np.int64)
    np.maximum.at(complete, (chunk, head), clock.end[adds])
    if (at := first(clock.start[adds] < complete[chunk, tail])) is not None:
        fail(f"{_name(schedule, int(adds[at]))}: more is added to the sum after it is sent")
    ready = np.full(shape, _NEVER, dtype=np.int64)
    rows = np.arange(len(root))
    ready[rows, root] = complete[rows, root]
    return ready


def _check_rates(schedule: StepSchedule, clock: Clock, link: Ints, hops: Ints) -> None:
    """At no moment do the transfers over a link need more than its bandwidth."""
    paths = _paths(schedule, hops)
    changes: dict[int, dict[int, Fraction]] = {}
    size = [Fraction(n, schedule.chunks.whole) for n in schedule.chunks.size.tolist()]
    starts, ends = clock.start.tolist(), clock.end.tolist()
    chunks = schedule.sends.chunk.tolist()
    for send, (begin, end, way) in enumerate(zip(starts, ends, link.tolist(), strict=True)):
        latency, shares = paths[way]
        busy_us = (end - begin) * clock.tick_us - latency
        if busy_us <= 0:
            fail(f"{_name(schedule, send)} takes no longer than the latency, {latency} us")
        gb_s = size[chunks[send]] * clock.size_bytes / (busy_us * 1000)
        for physical, share in shares:
            change = changes.setdefault(physical, {})
            change[begin] = change.get(begin, Fraction(0)) + gb_s * share
            change[end] = change.get(end, Fraction(0)) - gb_s * share
    for physical in sorted(changes):
        _check_link(schedule, physical, changes[physical])


def _paths(schedule: StepSchedule, hops: Ints) -> list[tuple[Fraction, list[tuple[int, Fraction]]]]:
    """Of each logical link: its longest latency in us, and its share on each physical link."""
    routes, links = schedule.routes, schedule.topology.links
    found = []
    first_hop = (routes.first_hop - np.arange(len(routes.first_hop))).tolist()
    for start, end in zip(
        routes.first_path[:-1].tolist(), routes.first_path[1:].tolist(), strict=True
    ):
        trees = routes.multiplicity[start:end].tolist()
        latency, shares = Fraction(0), dict[int, Fraction]()
        for path, count in zip(range(start, end), trees, strict=True):
            over = hops[first_hop[path] : first_hop[path + 1]].tolist()
            latency = max(latency, sum((links[i].latency_us for i in over), Fraction(0)))
            for i in over:
                shares[i] = shares.get(i, Fraction(0)) + Fraction(count, sum(trees))
        found.append((latency, sorted(shares.items())))
    return found


def _check_link(schedule: StepSchedule, physical: int, change: dict[int, Fraction]) -> None:
    topology = schedule.topology
    link, rate = topology.links[physical], Fraction(0)
    for tick in sorted(change):
        rate += change[tick]
        if rate > link.bandwidth_gb_s:
            ends = " -> ".join(topology.nodes[i].name for i in (link.tail, link.head))
            fail(
                f"link {ends} carries {rate} GB/s from tick {tick} on; its bandwidth is "
                f"{link.bandwidth_gb_s} GB/s"
            )
