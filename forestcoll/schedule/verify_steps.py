"""Whether a step schedule delivers what its collective asks, and how long its steps take.

Part of :func:`forestcoll.schedule.verify`. Where data is only copied, a node has a part of a chunk
or has it not. Where it is summed up, either every contribution has one way to go, or the
contributions that each rank holds are followed one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.schedule.exactly import Ints, exact, first
from forestcoll.schedule.naming import end_name, fail, gpu_name, link_name
from forestcoll.schedule.steps import COLLECTIVES, Clock, Intervals, StepSchedule
from forestcoll.schedule.verify_clock import check_times
from forestcoll.schedule.verify_contributions import check_contributions
from forestcoll.schedule.verify_copies import check_copies, held_at_roots
from forestcoll.schedule.verify_one_way import held_sums, problem_of_sums
from forestcoll.schedule.verify_paths import check_paths
from forestcoll.schedule.verify_rates import check_rates
from forestcoll.schedule.verify_rows import keeping_ends, rows_of, send_name
from forestcoll.schedule.verify_step_loads import time_steps
from forestcoll.schedule.verify_switches import check_adding_switches
from forestcoll.schedule.wellformed import check_array, check_routes
from forestcoll.topology.model import NodeKind

__all__ = ["StepVerdict", "verify_steps"]


@dataclass(frozen=True, slots=True)
class StepVerdict:
    """What was proved about a step schedule.

    Parameters
    ----------
    collective : str
    gpus, chunks, sends, steps : int
        Numbers of GPUs, chunks, transfers and steps.
    logical_links, paths : int
        GPU-to-GPU links in use, and the physical paths behind them.
    deliveries : int
        (chunk, GPU) pairs for which it was proved that the chunk, or the sum of all contributions
        to it, gets to the GPU; those that need no transfer are not counted.
    busiest_link : tuple of str, optional
        Tail and head of the (first) link that is busy for longest in all; None if nothing is sent.
    time_s_per_gb, algbw_gb_s : Fraction
        Seconds for one gigabyte of data that flows, cut into pieces that are under way in all steps
        at once: what the busiest link takes. And the inverse, None if nothing is sent.
    in_steps_s_per_gb : Fraction
        Seconds for one gigabyte, step after step: the sum over the steps of their slowest links.
        Latencies are left out of both.
    finish_s_per_gb : Fraction, optional
        The finish of the clock by the size that it is for, latencies included; None without a
        clock.
    optimal : bool
        Always False: no bound is claimed.
    """

    collective: str
    gpus: int
    chunks: int
    sends: int
    steps: int
    logical_links: int
    paths: int
    deliveries: int
    busiest_link: tuple[str, str] | None
    time_s_per_gb: Fraction
    algbw_gb_s: Fraction | None
    in_steps_s_per_gb: Fraction
    finish_s_per_gb: Fraction | None
    optimal: bool = False


def verify_steps(schedule: StepSchedule) -> StepVerdict:
    """Prove a step schedule, or raise VerificationError at the first violation."""
    _check_arrays(schedule)
    _check_chunks(schedule)
    check_routes(schedule, ends=True)
    hops = check_paths(schedule, ends=True)
    way = _ways_used(schedule)
    _check_steps(schedule)
    if schedule.clock is not None:
        check_times(schedule, schedule.clock)
    _check_delivery(schedule)
    if schedule.clock is not None:
        check_rates(schedule, schedule.clock, way, hops)
    times = time_steps(schedule, way, hops)
    time = times.flowing_s_per_gb
    return StepVerdict(
        collective=schedule.collective,
        gpus=schedule.topology.num_compute,
        chunks=len(schedule.chunks),
        sends=len(schedule.sends),
        steps=schedule.num_steps,
        logical_links=len(schedule.routes.tail),
        paths=len(schedule.routes.multiplicity),
        deliveries=_deliveries(schedule),
        busiest_link=times.busiest_link,
        time_s_per_gb=time,
        algbw_gb_s=1 / time if time else None,
        in_steps_s_per_gb=times.in_steps_s_per_gb,
        finish_s_per_gb=None if schedule.clock is None else _finish(schedule.clock),
    )


def _finish(clock: Clock) -> Fraction:
    """Return when the last transfer ends, in seconds, by the size in gigabytes."""
    end_us = int(clock.end.max(initial=0)) * clock.tick_us
    return (end_us / 10**6) / Fraction(clock.size_bytes, 10**9)


def _deliveries(schedule: StepSchedule) -> int:
    """How many (chunk, GPU) pairs the collective asks for that need a transfer."""
    gpus, chunks = schedule.topology.num_compute, schedule.chunks
    match schedule.collective:
        case "allgather" | "broadcast":
            return len(chunks) * (gpus - 1)
        case "allreduce":
            return len(chunks) * gpus
        case "all-to-all":
            return int((chunks.root != chunks.target).sum())
    return len(chunks)


# --- what it is made of ------------------------------------------------------------------------


def _check_arrays(schedule: StepSchedule) -> None:
    """Arrays are integers of matching shapes, ids in range; the collective is known."""
    if schedule.collective not in COLLECTIVES:
        fail(f"the collective is {schedule.collective!r}; it must be one of {COLLECTIVES}")
    gpus, chunks, sends = schedule.topology.num_compute, schedule.chunks, schedule.sends
    if gpus < 1:
        fail(f"{schedule.topology.name} has no GPU; a schedule needs at least one")
    count, transfers = np.size(chunks.size), np.size(sends.step)
    check_array("chunks.size", chunks.size, (count,), 1, 2**63 - 1)
    check_array("chunks.root", chunks.root, (count,), -1, gpus - 1)
    check_array("chunks.target", chunks.target, (count,), -1, gpus - 1)
    check_array("sends.step", sends.step, (transfers,), 0, max(transfers - 1, 0))
    check_array("sends.chunk", sends.chunk, (transfers,), 0, count - 1)
    last = len(schedule.topology.nodes) - 1
    check_array("sends.tail", sends.tail, (transfers,), 0, last)
    check_array("sends.head", sends.head, (transfers,), 0, last)
    reduce = sends.reduce
    if not isinstance(reduce, np.ndarray) or reduce.dtype != np.bool_:
        fail("array sends.reduce must be a numpy array of bool")
    if reduce.shape != (transfers,):
        fail(f"array sends.reduce has shape {reduce.shape}; the other arrays ask {(transfers,)}")
    if reduce.any() and not schedule.reduction:
        fail(f"{send_name(schedule, int(reduce.argmax()))}: an {schedule.collective} adds nothing")
    _check_relays(schedule)
    if sends.interval is not None:
        _check_intervals(schedule, sends.interval)


def _check_relays(schedule: StepSchedule) -> None:
    """Ends are GPUs of the group, or switches: GPUs outside it only forward."""
    topology, sends = schedule.topology, schedule.sends
    kinds = [topology.nodes[position].kind for position in topology.ends]
    outside = np.array([kind is NodeKind.RELAY for kind in kinds])
    for end in (sends.tail, sends.head):
        if (send := first(outside[end])) is not None:
            name = end_name(schedule, int(end[send]))
            fail(f"{send_name(schedule, send)}: {name} is outside the group; it only forwards")


def _check_intervals(schedule: StepSchedule, interval: Intervals) -> None:
    """Every transfer carries something, and no more than there is of its chunk."""
    shape = (len(schedule.sends),)
    check_array("sends.interval.first", interval.first, shape, 0, 2**63 - 1)
    check_array("sends.interval.amount", interval.amount, shape, 1, 2**63 - 1)
    size = schedule.chunks.size[schedule.sends.chunk]
    if (send := first(interval.amount > size - interval.first)) is not None:
        begin, amount = int(interval.first[send]), int(interval.amount[send])
        fail(
            f"{send_name(schedule, send)}: {amount} units from {begin} on; the chunk has "
            f"{size[send]}"
        )


def _check_chunks(schedule: StepSchedule) -> None:
    """The chunks make up the data: every shard, the whole of it."""
    chunks, gpus = schedule.chunks, schedule.topology.num_compute
    if type(chunks.whole) is not int or chunks.whole < 1:
        fail(f"the whole is {chunks.whole!r} units of size; it must be a positive int")
    rooted, aimed = schedule.collective != "allreduce", schedule.collective == "all-to-all"
    for name, array, used in (("root", chunks.root, rooted), ("target", chunks.target, aimed)):
        if (chunk := first((array >= 0) != used)) is not None:
            rule = "a rank" if used else "-1"
            fail(
                f"chunk {chunk} has {name} {array[chunk]}; in an {schedule.collective} it must be "
                f"{rule}"
            )
    size = exact(chunks.size, len(chunks))
    if schedule.collective == "allreduce":
        _check_part("the chunks", size.sum(), chunks.whole, 1)
        return
    parts, key = gpus, chunks.root.astype(np.int64)
    if schedule.collective == "all-to-all":
        key = key * gpus + chunks.target
    shards = np.zeros(gpus**2 if aimed else gpus, dtype=size.dtype)
    np.add.at(shards, key, size)
    if schedule.collective in ("broadcast", "reduce"):
        roots = np.flatnonzero(shards)
        if len(roots) != 1:
            fail(f"the chunks of a {schedule.collective} have {len(roots)} roots; it has one")
        _check_part("the chunks", shards[roots[0]], chunks.whole, 1)
        return
    for shard, found in enumerate(shards.tolist()):
        root, target = divmod(shard, gpus) if aimed else (shard, None)
        name = f"the chunks of {gpu_name(schedule, root)}"
        if target == root and found == 0:
            continue  # what a GPU sends to itself need not be mentioned
        if target is not None:
            name += f" for {gpu_name(schedule, target)}"
        _check_part(name, found, chunks.whole, parts)


def _check_part(name: str, found: int, whole: int, parts: int) -> None:
    if found * parts != whole:
        fail(f"{name} are {Fraction(found, whole)} of the data; they must be {Fraction(1, parts)}")


def _ways_used(schedule: StepSchedule) -> Ints:
    """Find the way of every transfer: none is missing, and none is idle.

    A way is a logical link, by its place in the routes, or behind these a path by its place.
    """
    sends, routes, nodes = schedule.sends, schedule.routes, len(schedule.topology.nodes)
    known = routes.tail.astype(np.int64) * nodes + routes.head
    wanted = sends.tail.astype(np.int64) * nodes + sends.head
    place = np.searchsorted(known, wanted)
    if (send := first(np.append(known, -1)[place] != wanted)) is not None:
        fail(f"{send_name(schedule, send)}: the routes have no path for this transfer")
    idle = np.ones(len(known), dtype=np.bool_)
    idle[place] = False
    if (link := first(idle)) is not None:
        fail(
            f"logical link {link_name(schedule, link)} has physical paths, but no transfer uses "
            f"it; leave it out"
        )
    if sends.path is None:
        return place
    check_array("sends.path", sends.path, (len(sends),), -1, len(routes.multiplicity) - 1)
    named = sends.path >= 0
    inside = (routes.first_path[place] <= sends.path) & (sends.path < routes.first_path[place + 1])
    if (send := first(named & ~inside)) is not None:
        fail(f"{send_name(schedule, send)}: path {sends.path[send]} is one of another logical link")
    return np.asarray(np.where(named, len(known) + sends.path, place))


def _check_steps(schedule: StepSchedule) -> None:
    """Steps follow one another without a gap, and no transfer is listed twice."""
    sends, interval = schedule.sends, schedule.intervals
    if not len(sends):
        return
    jump = np.diff(sends.step, prepend=np.int32(-1))
    if (send := first((jump < 0) | (jump > 1))) is not None:
        before = sends.step[send - 1] if send else -1
        fail(f"{send_name(schedule, send)} follows step {before}; steps are sorted, without gaps")
    columns = (interval.first, sends.head, sends.tail, sends.chunk, sends.step)
    key = np.lexsort(columns)
    same = np.ones(len(key) - 1, dtype=np.bool_)
    for row in columns:
        same &= row[key][1:] == row[key][:-1]
    if (pair := first(same)) is not None:
        fail(f"{send_name(schedule, int(key[pair + 1]))} is listed twice")


# --- delivery ----------------------------------------------------------------------------------


def _check_delivery(schedule: StepSchedule) -> None:
    """Whatever is sent is there, and everything due gets to where it is due, once."""
    rows = rows_of(schedule)
    every = np.arange(len(schedule.sends))
    if not schedule.reduction:
        check_copies(rows, every, held_at_roots(rows))
        return
    sums, copies = np.split(
        every[np.argsort(~schedule.sends.reduce, kind="stable")], [int(schedule.sends.reduce.sum())]
    )
    problem = problem_of_sums(rows, sums)
    if problem is None and (schedule.collective == "allreduce" or not len(copies)):
        keeps = keeping_ends(schedule.topology)
        check_adding_switches(rows, sums[~keeps[rows.head[sums]]], sums[~keeps[rows.tail[sums]]])
        if schedule.collective == "allreduce":
            check_copies(rows, copies, held_sums(rows, sums))
    elif (rows.tail >= rows.gpus).any() or (rows.head >= rows.gpus).any():
        fail(problem or f"a {schedule.collective} through switches only adds")
    else:
        check_contributions(rows)
