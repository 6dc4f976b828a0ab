"""Checks of the form of a step schedule: its arrays, chunks, paths and steps.

Part of :func:`forestcoll.schedule.verify`; after it, indexing is safe and all data is
accounted for.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.problem.demand import Demand
from forestcoll.schedule.clock import Clock
from forestcoll.schedule.exact_sums import Ints, exact, first
from forestcoll.schedule.forest import Routes
from forestcoll.schedule.sends import Chunks, Intervals, Sends
from forestcoll.schedule.steps import COLLECTIVES, WEIGHTED, StepSchedule
from forestcoll.schedule.verification.arrays import (
    check_array,
    check_count,
    check_method,
    check_ranks,
    length,
)
from forestcoll.schedule.verification.demand_form import check_demand
from forestcoll.schedule.verification.naming import end_name, fail, gpu_name, link_name
from forestcoll.schedule.verification.steps.transfers import send_name
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["check_chunks", "check_step_arrays", "check_steps", "ways_used"]

_MOST = 2**63 - 1


def check_step_arrays(schedule: StepSchedule) -> None:
    """Check that arrays match in shape, ids are in range, and the collective is known."""
    _check_types(schedule)
    check_method(schedule)
    check_ranks(schedule)
    if set(schedule.weights) != {1} and schedule.collective not in WEIGHTED:
        fail(f"the weights of an {schedule.collective} in steps are all 1; leave them out")
    gpus, chunks, sends = schedule.topology.num_compute, schedule.chunks, schedule.sends
    count, transfers = length("chunks.size", chunks.size), length("sends.step", sends.step)
    check_array("chunks.size", chunks.size, (count,), 1, _MOST)
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
    if sends.interval is not None:
        _check_intervals(schedule, sends.interval)
    if reduce.any() and not schedule.reduction:
        fail(f"{send_name(schedule, int(reduce.argmax()))}: an {schedule.collective} adds nothing")
    _check_relays(schedule)


def _check_types(schedule: StepSchedule) -> None:
    """Check the types of the schedule's parts."""
    parts: list[tuple[str, Any, type]] = [
        ("topology", schedule.topology, Topology),
        ("chunks", schedule.chunks, Chunks),
        ("sends", schedule.sends, Sends),
        ("routes", schedule.routes, Routes),
        ("collective", schedule.collective, str),
    ]
    if schedule.clock is not None:
        parts.append(("clock", schedule.clock, Clock))
    if schedule.demand is not None:
        parts.append(("demand", schedule.demand, Demand))
    if isinstance(schedule.sends, Sends) and schedule.sends.interval is not None:
        parts.append(("interval of the sends", schedule.sends.interval, Intervals))
    for name, part, kind in parts:
        if not isinstance(part, kind):
            fail(f"the {name} is of type {type(part).__name__}; it must be {kind.__name__}")
    if schedule.collective not in COLLECTIVES:
        fail(f"the collective is {schedule.collective!r}; it must be one of {COLLECTIVES}")


def _check_relays(schedule: StepSchedule) -> None:
    """Check that ends are GPUs of the group or switches; GPUs outside the group only forward."""
    topology, sends = schedule.topology, schedule.sends
    kinds = [topology.nodes[position].kind for position in topology.ends]
    outside = np.array([kind is NodeKind.RELAY for kind in kinds])
    for end in (sends.tail, sends.head):
        if (send := first(outside[end])) is not None:
            name = end_name(schedule, int(end[send]))
            fail(f"{send_name(schedule, send)}: {name} is outside the group; it only forwards")


def _check_intervals(schedule: StepSchedule, interval: Intervals) -> None:
    """Check that every transfer carries a non-empty interval of its chunk."""
    shape = (len(schedule.sends),)
    check_array("sends.interval.first", interval.first, shape, 0, _MOST)
    check_array("sends.interval.amount", interval.amount, shape, 1, _MOST)
    size = schedule.chunks.size[schedule.sends.chunk]
    if (send := first(interval.amount > size - interval.first)) is not None:
        begin, amount = int(interval.first[send]), int(interval.amount[send])
        fail(
            f"{send_name(schedule, send)}: {amount} units from {begin} on; the chunk has "
            f"{size[send]}"
        )


def check_chunks(schedule: StepSchedule) -> None:
    """Check that the chunks make up the data: every shard, completely."""
    chunks, gpus = schedule.chunks, schedule.topology.num_compute
    check_count("the whole", chunks.whole, "units of size")
    if schedule.demand is not None:
        _check_demand(schedule, schedule.demand)
        return
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
        _check_part("the chunks", size.sum(), chunks.whole, Fraction(1))
        return
    if aimed:
        _check_pairs(schedule, size)
        return
    shards = np.zeros(gpus, dtype=size.dtype)
    np.add.at(shards, chunks.root, size)
    if schedule.collective in ("broadcast", "reduce"):
        roots = np.flatnonzero(shards)
        if len(roots) != 1:
            fail(f"the chunks of a {schedule.collective} have {len(roots)} roots; it has one")
        _check_part("the chunks", shards[roots[0]], chunks.whole, Fraction(1))
        return
    for root, found in enumerate(shards.tolist()):
        due = Fraction(schedule.weights[root], sum(schedule.weights))
        _check_part(f"the chunks of {gpu_name(schedule, root)}", found, chunks.whole, due)


def _check_demand(schedule: StepSchedule, demand: Demand) -> None:
    """Check that the chunks are those of the demand, each as large as its part of all bytes."""
    chunks, gpus = schedule.chunks, schedule.topology.num_compute
    if schedule.collective != "all-to-all":
        fail(f"a schedule of {schedule.collective} has a demand; only an all-to-all has one")
    check_demand(demand, gpus)
    if len(demand.size) != len(chunks):
        fail(f"there are {len(chunks)} chunks; the demand has {len(demand.size)}")
    alone = np.diff(demand.first_target) == 1
    target = np.where(alone, demand.target[demand.first_target[:-1]], -1)
    for name, found, due in (
        ("root", chunks.root, demand.source),
        ("target", chunks.target, target),
    ):
        if (chunk := first(found != due)) is not None:
            fail(f"chunk {chunk} has {name} {found[chunk]}; by the demand it must be {due[chunk]}")
    total = sum(demand.size.tolist())
    for chunk, (found, due) in enumerate(
        zip(chunks.size.tolist(), demand.size.tolist(), strict=True)
    ):
        _check_part(f"the units of chunk {chunk}", found, chunks.whole, Fraction(due, total))


def _check_pairs(schedule: StepSchedule, size: npt.NDArray[Any]) -> None:
    """Check that every GPU has its part for every other; its part for itself is optional."""
    chunks, gpus = schedule.chunks, schedule.topology.num_compute
    pair = chunks.root.astype(np.int64) * gpus + chunks.target
    pairs, which = np.unique(pair, return_inverse=True)
    sums = np.zeros(len(pairs), dtype=size.dtype)
    np.add.at(sums, which.reshape(-1), size)
    for at in np.flatnonzero(exact(sums, gpus) * gpus != chunks.whole)[:1].tolist():
        root, target = (gpu_name(schedule, rank) for rank in divmod(int(pairs[at]), gpus))
        found = int(sums[at])
        _check_part(f"the chunks of {root} for {target}", found, chunks.whole, Fraction(1, gpus))
    others = np.bincount(pairs[pairs // gpus != pairs % gpus] // gpus, minlength=gpus)
    if (lacking := first(others < gpus - 1)) is not None:
        there = pairs[pairs // gpus == lacking] % gpus
        missing = int(np.setdiff1d(np.arange(gpus), np.append(there, lacking))[0])
        names = gpu_name(schedule, lacking), gpu_name(schedule, missing)
        _check_part(f"the chunks of {names[0]} for {names[1]}", 0, chunks.whole, Fraction(1, gpus))


def _check_part(name: str, found: int, whole: int, due: Fraction) -> None:
    if found * due.denominator != whole * due.numerator:
        fail(f"{name} are {Fraction(found, whole)} of the data; they must be {due}")


def ways_used(schedule: StepSchedule) -> Ints:
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


def check_steps(schedule: StepSchedule) -> None:
    """Check that steps have no gaps, and that no transfer is listed twice."""
    sends, interval = schedule.sends, schedule.intervals
    if not len(sends):
        return
    jump = np.diff(sends.step, prepend=np.int32(-1))
    if (send := first((jump < 0) | (jump > 1))) is not None:
        before = sends.step[send - 1] if send else -1
        fail(f"{send_name(schedule, send)} follows step {before}; steps are sorted, without gaps")
    parts = (sends.paths, interval.amount, interval.first)
    columns = (*parts, sends.head, sends.tail, sends.chunk, sends.step)
    key = np.lexsort(columns)
    same = np.ones(len(key) - 1, dtype=np.bool_)
    for row in columns:
        same &= row[key][1:] == row[key][:-1]
    if (pair := first(same)) is not None:
        fail(f"{send_name(schedule, int(key[pair + 1]))} is listed twice")
