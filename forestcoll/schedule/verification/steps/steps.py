"""Proof that a step schedule performs its collective, with the times of its steps.

Part of :func:`forestcoll.schedule.verify`. For copies, a node has a part of a chunk or not. For
sums, either every contribution has a single path, or the contributions of each rank are tracked one
by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.schedule.clock import Clock
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.verification.arrays import check_routes
from forestcoll.schedule.verification.naming import fail
from forestcoll.schedule.verification.paths import check_paths
from forestcoll.schedule.verification.steps.clock import check_times
from forestcoll.schedule.verification.steps.contributions import check_contributions
from forestcoll.schedule.verification.steps.copies import check_copies, held_at_roots
from forestcoll.schedule.verification.steps.loads import time_steps
from forestcoll.schedule.verification.steps.one_way import held_sums, problem_of_sums
from forestcoll.schedule.verification.steps.rates import check_rates
from forestcoll.schedule.verification.steps.step_arrays import (
    check_chunks,
    check_step_arrays,
    check_steps,
    ways_used,
)
from forestcoll.schedule.verification.steps.switches import check_adding_switches
from forestcoll.schedule.verification.steps.transfers import keeping_ends, rows_of

__all__ = ["StepVerdict", "verify_steps"]


@dataclass(frozen=True, slots=True)
class StepVerdict:
    """The proved facts about a step schedule.

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
        Tail and head of the (first) link that is busy for longest in all, or the name of a shared
        capacity; None if nothing is sent.
    time_s_per_gb, algbw_gb_s : Fraction
        Seconds for one gigabyte, pipelined: the time of the busiest link, with pipeline chunks in
        flight in all steps at once. And the inverse, None if nothing is sent.
    synchronous_s_per_gb : Fraction
        Seconds for one gigabyte, step after step: the sum over the steps of their slowest links.
        Latencies are left out of both.
    makespan_s_per_gb : Fraction, optional
        The finish of the clock by the size that it is for, latencies included; None without a
        clock.
    optimal : bool
        Always False: no bound is claimed.
    demand : str, optional
        The name of the demand of an all-to-all of any amounts.
    """

    collective: str
    gpus: int
    chunks: int
    sends: int
    steps: int
    logical_links: int
    paths: int
    deliveries: int
    busiest_link: tuple[str, ...] | None
    time_s_per_gb: Fraction
    algbw_gb_s: Fraction | None
    synchronous_s_per_gb: Fraction
    makespan_s_per_gb: Fraction | None
    optimal: bool = False
    demand: str | None = None


def verify_steps(schedule: StepSchedule) -> StepVerdict:
    """Prove a step schedule, or raise VerificationError at the first violation."""
    check_step_arrays(schedule)
    check_chunks(schedule)
    check_routes(schedule, ends=True)
    hops = check_paths(schedule, ends=True)
    way = ways_used(schedule)
    check_steps(schedule)
    if schedule.clock is not None:
        check_times(schedule, schedule.clock)
    _check_delivery(schedule)
    if schedule.clock is not None:
        check_rates(schedule, schedule.clock, way, hops)
    times = time_steps(schedule, way, hops)
    time = times.pipelined_s_per_gb
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
        synchronous_s_per_gb=times.synchronous_s_per_gb,
        makespan_s_per_gb=None if schedule.clock is None else _finish(schedule.clock),
        demand=None if schedule.demand is None else schedule.demand.name,
    )


def _finish(clock: Clock) -> Fraction:
    """Return when the last transfer ends, in seconds, by the size in gigabytes."""
    end_us = int(clock.end.max(initial=0)) * clock.tick_us
    return (end_us / 10**6) / Fraction(clock.size_bytes, 10**9)


def _deliveries(schedule: StepSchedule) -> int:
    """Return the number of (chunk, GPU) pairs of the collective that need a transfer."""
    gpus, chunks = schedule.topology.num_compute, schedule.chunks
    match schedule.collective:
        case "allgather" | "broadcast":
            return len(chunks) * (gpus - 1)
        case "allreduce":
            return len(chunks) * gpus
        case "all-to-all" if schedule.demand is not None:
            return len(schedule.demand.target)
        case "all-to-all":
            return int((chunks.root != chunks.target).sum())
    return len(chunks)


def _check_delivery(schedule: StepSchedule) -> None:
    """Check that senders have what they send, and that everything due arrives once."""
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
        fail(problem or f"a {schedule.collective} through switches only reduces")
    else:
        check_contributions(rows)
