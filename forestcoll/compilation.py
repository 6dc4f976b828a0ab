"""Compile schedules of every kind to programs: transfers with dependencies.

Problem: simulators, exporters and interpreters should read one form only.
Input:   any schedule; the number of pipeline chunks to cut it into.
Output:  a program: transfers over one path each, with their dependencies.
Cost:    as expansion and :mod:`forestcoll.schedule.transform.dependencies`.
Source:  ours. Both phases of an allreduce of forests count the same shards in the same units. So a
         root's transfer depends on the sums of exactly the units that it sends.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from forestcoll.core.assembly import expand
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule.allreduce import Allreduce, AnyForest, AnySchedule, not_taken
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest, Walks
from forestcoll.schedule.program import Program, Starts
from forestcoll.schedule.steps import WEIGHTED, StepSchedule
from forestcoll.schedule.transform.dependencies import with_dependencies
from forestcoll.schedule.transform.timed_transfers import (
    Plan,
    Transfers,
    in_windows,
    of_flows,
    of_forest,
    of_multicast,
    of_steps,
    refined,
)

__all__ = ["compile_program"]


def compile_program(
    schedule: AnySchedule | StepSchedule | FlowSchedule,
    pipeline_chunks: int = 1,
    *,
    loopback: bool = True,
) -> Program:
    """Compile a schedule to a program.

    Parameters
    ----------
    schedule : any
        Assumed to be right; :func:`forestcoll.schedule.verify` proves that.
    pipeline_chunks : int
        The number of equal windows that every chunk is cut into. Transfers are cut at window
        borders, so that a GPU forwards one window while it receives the next.
    loopback : bool
        Whether to include data that returns over a switch to the GPU that sent it. Simulations
        need it for the link loads. Exports omit it: the hardware's instructions imply it.

    Returns
    -------
    Program
        With loopback, every link carries the same load as in the schedule.

    Raises
    ------
    InvalidParameterError
        If ``pipeline_chunks`` is less than one.
    UnsupportedError
        If the units of an exact cut do not fit 64 bits, if the phases of an allreduce have
        different weights, or if the argument is no schedule.
    VerificationError
        If the arrays of a forest are inconsistent, so that its trees cannot be followed.
    """
    if pipeline_chunks < 1:
        raise InvalidParameterError(
            f"a schedule cannot be cut into {pipeline_chunks} pipeline chunks; take 1 or more"
        )
    plan = in_windows(_plan(schedule, loopback), pipeline_chunks)
    transfers, first_need, need = with_dependencies(plan.transfers, schedule.topology)
    clock = schedule.clock if isinstance(schedule, StepSchedule) else None
    return Program(
        topology=schedule.topology,
        method=schedule.gather.method if isinstance(schedule, Allreduce) else schedule.method,
        collective=schedule.collective,
        chunks=plan.chunks,
        chunk=transfers.chunk,
        first=transfers.first,
        amount=transfers.amount,
        tail=transfers.tail,
        head=transfers.head,
        path=transfers.path,
        reduce=transfers.reduce,
        first_need=first_need,
        need=need,
        message=transfers.message,
        step=np.unique(transfers.start, return_inverse=True)[1].reshape(-1).astype(np.int32),
        paths=plan.paths,
        starts=None if clock is None else Starts(clock.size_bytes, clock.tick_us, transfers.start),
        weights=_weights(schedule),
    )


def _weights(schedule: AnySchedule | StepSchedule | FlowSchedule) -> tuple[int, ...]:
    """Return the weights that share the data of a schedule out; empty if it has none."""
    if isinstance(schedule, Allreduce | FlowSchedule) or schedule.collective not in WEIGHTED:
        return ()
    return schedule.weights


def _plan(schedule: AnySchedule | StepSchedule | FlowSchedule, loopback: bool) -> Plan:
    if isinstance(schedule, StepSchedule):
        return of_steps(schedule)
    if isinstance(schedule, FlowSchedule):
        return of_flows(schedule)
    if isinstance(schedule, Allreduce):
        return _both(*(_of_trees(phase, loopback) for phase in schedule.phases))
    return _of_trees(schedule, loopback)


def _of_trees(forest: AnyForest, loopback: bool) -> Plan:
    if isinstance(forest, MulticastForest):
        return of_multicast(forest, loopback=loopback)
    if not isinstance(forest, Forest | FactoredForest):
        raise not_taken("compile_program", forest)
    return of_forest(expand(forest))


def _both(reduce: Plan, gather: Plan) -> Plan:
    """Append the allgather to the reduction, in common units, with dependencies between them."""
    whole = math.lcm(reduce.chunks.whole, gather.chunks.whole)
    reduce, gather = (refined(plan, whole // plan.chunks.whole) for plan in (reduce, gather))
    one, other = reduce.chunks, gather.chunks
    if not (np.array_equal(one.root, other.root) and np.array_equal(one.size, other.size)):
        raise UnsupportedError(
            "unsupported: the phases of this allreduce have different weights, so they speak of "
            "different parts of the data"
        )
    ended, then, walks = int(reduce.transfers.finish.max(initial=0)), gather.transfers, reduce.paths
    then = replace(
        then,
        start=then.start + ended,
        finish=then.finish + ended,
        path=then.path + np.int32(len(walks)),
    )
    paths = Walks(
        np.concatenate([walks.first_node, gather.paths.first_node[1:] + len(walks.node)]),
        np.concatenate([walks.node, gather.paths.node]),
    )
    nowhere = np.full(len(one), -1, dtype=np.int32)
    return Plan(replace(other, root=nowhere), Transfers.joined(reduce.transfers, then), paths)
