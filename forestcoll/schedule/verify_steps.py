"""Whether a step schedule delivers what its collective asks, and how long its steps take.

Part of :func:`forestcoll.schedule.verify`. Where data is only copied, a rank has a chunk or has it
not. Where it is summed up, a rank holds a set of contributions to a chunk: what comes in to be
added must be disjoint from what is there, so that nothing is ever counted twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exactly import Ints, exact, first
from forestcoll.schedule.naming import fail, gpu_name, link_name
from forestcoll.schedule.steps import COLLECTIVES, Clock, StepSchedule
from forestcoll.schedule.verify_clock import check_clock
from forestcoll.schedule.verify_paths import check_paths
from forestcoll.schedule.verify_step_loads import time_steps
from forestcoll.schedule.wellformed import check_array, check_routes

__all__ = ["StepVerdict", "verify_steps"]

_BLOCK_BYTES = 2**26  # of contributions looked at together

_Bits = npt.NDArray[np.uint8]


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
    check_routes(schedule)
    hops = check_paths(schedule, through_gpus=True)
    link = _links_used(schedule)
    _check_steps(schedule)
    if schedule.clock is not None:
        check_clock(schedule, link, hops)
    elif schedule.reduction:
        _check_sums(schedule)
    else:
        _check_copies(schedule)
    times = time_steps(schedule, link, hops)
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
    check_array("sends.tail", sends.tail, (transfers,), 0, gpus - 1)
    check_array("sends.head", sends.head, (transfers,), 0, gpus - 1)
    reduce = sends.reduce
    if not isinstance(reduce, np.ndarray) or reduce.dtype != np.bool_:
        fail("array sends.reduce must be a numpy array of bool")
    if reduce.shape != (transfers,):
        fail(f"array sends.reduce has shape {reduce.shape}; the other arrays ask {(transfers,)}")
    if reduce.any() and not schedule.reduction:
        fail(f"{_send_name(schedule, int(reduce.argmax()))}: an {schedule.collective} adds nothing")


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


def _send_name(schedule: StepSchedule, send: int) -> str:
    sends = schedule.sends
    tail, head = (gpu_name(schedule, int(rank[send])) for rank in (sends.tail, sends.head))
    return f"step {sends.step[send]}, chunk {sends.chunk[send]}, {tail} -> {head}"


def _links_used(schedule: StepSchedule) -> Ints:
    """Find the logical link of every transfer; none is missing, and none is idle."""
    sends, routes, gpus = schedule.sends, schedule.routes, schedule.topology.num_compute
    known = routes.tail.astype(np.int64) * gpus + routes.head
    wanted = sends.tail.astype(np.int64) * gpus + sends.head
    place = np.searchsorted(known, wanted)
    if (send := first(np.append(known, -1)[place] != wanted)) is not None:
        fail(f"{_send_name(schedule, send)}: the routes have no path for this transfer")
    idle = np.ones(len(known), dtype=np.bool_)
    idle[place] = False
    if (link := first(idle)) is not None:
        fail(
            f"logical link {link_name(schedule, link)} has physical paths, but no transfer uses "
            f"it; leave it out"
        )
    return place


def _check_steps(schedule: StepSchedule) -> None:
    """Steps follow one another without a gap, and no transfer is listed twice."""
    sends = schedule.sends
    if not len(sends):
        return
    jump = np.diff(sends.step, prepend=np.int32(-1))
    if (send := first((jump < 0) | (jump > 1))) is not None:
        before = sends.step[send - 1] if send else -1
        fail(f"{_send_name(schedule, send)} follows step {before}; steps are sorted, without gaps")
    key = np.lexsort((sends.head, sends.tail, sends.chunk, sends.step))
    same = np.ones(len(key) - 1, dtype=np.bool_)
    for row in (sends.step, sends.chunk, sends.tail, sends.head):
        same &= row[key][1:] == row[key][:-1]
    if (pair := first(same)) is not None:
        fail(f"{_send_name(schedule, int(key[pair + 1]))} is listed twice")


# --- delivery ----------------------------------------------------------------------------------


def _by_step(schedule: StepSchedule, chunks: slice) -> Iterator[Ints]:
    """Yield the numbers of the transfers of these chunks, step by step."""
    chunk = schedule.sends.chunk
    mine = np.flatnonzero((chunk >= chunks.start) & (chunk < chunks.stop))
    yield from np.split(mine, np.flatnonzero(np.diff(schedule.sends.step[mine])) + 1)


def _check_copies(schedule: StepSchedule) -> None:
    """Every sender has what it sends, and in the end everyone has what is due."""
    sends, chunks = schedule.sends, schedule.chunks
    has = np.zeros((len(chunks), schedule.topology.num_compute), dtype=np.bool_)
    has[np.arange(len(chunks)), chunks.root] = True
    for step in _by_step(schedule, slice(0, len(chunks))):
        held = has[sends.chunk[step], sends.tail[step]]
        if (at := first(~held)) is not None:
            fail(
                f"{_send_name(schedule, int(step[at]))}: the sender does not have the chunk when "
                f"the step begins"
            )
        has[sends.chunk[step], sends.head[step]] = True
    if schedule.collective == "all-to-all":
        due = np.arange(len(chunks)), chunks.target
        if (chunk := first(~has[due])) is not None:
            _fail_undelivered(schedule, chunk, int(chunks.target[chunk]))
    elif (at := first(~has)) is not None:
        _fail_undelivered(schedule, *divmod(at, has.shape[1]))


def _fail_undelivered(schedule: StepSchedule, chunk: int, rank: int) -> None:
    fail(f"chunk {chunk} never gets to {gpu_name(schedule, rank)}")


def _check_sums(schedule: StepSchedule) -> None:
    """Every contribution gets to where its sum is due, exactly once."""
    gpus, chunks = schedule.topology.num_compute, len(schedule.chunks)
    many = max(1, _BLOCK_BYTES // (gpus * ((gpus + 7) // 8)))
    for start in range(0, chunks, many):
        _check_block(schedule, slice(start, min(start + many, chunks)))


def _check_block(schedule: StepSchedule, chunks: slice) -> None:
    """Follow the contributions to some chunks, ``part[chunk, rank]`` a set of ranks as bits."""
    gpus = schedule.topology.num_compute
    own: _Bits = np.packbits(np.eye(gpus, dtype=np.bool_), axis=1)
    part = np.tile(own, (chunks.stop - chunks.start, 1, 1))
    for step in _by_step(schedule, chunks):
        _arrive(schedule, step, chunks.start, part)
    complete = (part == np.packbits(np.ones(gpus, dtype=np.bool_))).all(axis=2)
    if schedule.collective != "allreduce":
        roots = schedule.chunks.root[chunks]
        due = np.ones_like(complete)
        due[np.arange(len(roots)), roots] = False
        complete |= due
    if (at := first(~complete)) is not None:
        chunk, rank = divmod(at, gpus)
        lacks = ~np.unpackbits(part[chunk, rank], count=gpus).astype(np.bool_)
        fail(
            f"chunk {chunks.start + chunk}: the sum at {gpu_name(schedule, rank)} lacks the "
            f"contribution of {gpu_name(schedule, int(lacks.argmax()))}"
        )


def _arrive(schedule: StepSchedule, step: Ints, base: int, part: npt.NDArray[np.uint8]) -> None:
    """Do one step: all that is sent was there before it began."""
    sends = schedule.sends
    chunk, head, reduce = sends.chunk[step] - base, sends.head[step], sends.reduce[step]
    coming = part[chunk, sends.tail[step]]
    cell = chunk.astype(np.int64) * part.shape[1] + head
    order = np.lexsort((reduce, cell))  # what replaces comes first
    fresh = np.diff(cell[order], prepend=-1) > 0
    start = np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))
    turn = np.arange(len(order)) - start
    if (at := first((turn > 0) & ~reduce[order[start]])) is not None:
        name = _send_name(schedule, int(step[order[at]]))
        fail(f"{name}: another transfer of this step replaces the same chunk there")
    for now in range(int(turn.max(initial=-1)) + 1):
        at = order[turn == now]
        where = chunk[at], head[at]
        adds = reduce[at]
        twice = (part[where] & coming[at]).any(axis=1) & adds
        if (wrong := first(twice)) is not None:
            both = part[chunk[at[wrong]], head[at[wrong]]] & coming[at[wrong]]
            rank = int(np.unpackbits(both, count=part.shape[1]).argmax())
            fail(
                f"{_send_name(schedule, int(step[at[wrong]]))}: the contribution of "
                f"{gpu_name(schedule, rank)} is counted twice"
            )
        part[where] = coming[at] | np.where(adds[:, None], part[where], 0).astype(np.uint8)
