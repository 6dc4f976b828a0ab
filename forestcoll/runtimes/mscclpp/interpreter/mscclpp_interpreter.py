"""MSCCL++ interpreter: execute a plan on the CPU and report errors with their places.

Problem: do the threadblocks of a plan end, at any speeds, launch after launch, with the data that
         its collective promises, and does the runtime accept it?
Input:   a plan.
Output:  findings.
Cost:    some seconds for each hundred thousand operations.
Source:  the loader and the kernel of MSCCL++; docs/formats/mscclpp-plans.md. Counters that only
         grow, each with one writer and one waiter, form a Kahn process network: the set of executed
         operations does not depend on speeds, so one run decides. All launches are alike if each
         one balances its counters and accesses remote buffers only within their GPUs' launches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from forestcoll.errors import InvalidScheduleError, UnsupportedError
from forestcoll.runtimes.interpretation.cells import MOST_CELLS
from forestcoll.runtimes.interpretation.collective_results import (
    Promise,
    find_changed_inputs,
    find_wrong_data,
    initial,
    root_of,
)
from forestcoll.runtimes.interpretation.findings import Collected, Finding, Findings, Kind, first_of
from forestcoll.runtimes.interpretation.multisets import Multisets
from forestcoll.runtimes.interpretation.one_run import MOST_ACTIONS, execute
from forestcoll.runtimes.interpretation.precedence import Edges, levels_of
from forestcoll.runtimes.mscclpp.execution_plan import COLLECTIVES, NO_MOST_BYTES, Plan
from forestcoll.runtimes.mscclpp.interpreter.buffer_cells import (
    PlanCells,
    check_bounds,
    check_buffers,
    check_scratch,
    plan_cells_of,
)
from forestcoll.runtimes.mscclpp.interpreter.data_transfers import DataTransfers, data_moves_of
from forestcoll.runtimes.mscclpp.interpreter.deadlocks import find_deadlocks
from forestcoll.runtimes.mscclpp.interpreter.nodes import PlanNodes
from forestcoll.runtimes.mscclpp.interpreter.operand_rules import (
    as_executed,
    refusals,
    surprises,
)
from forestcoll.runtimes.mscclpp.interpreter.packet_flags import packet_flags_of
from forestcoll.runtimes.mscclpp.interpreter.packet_slots import find_early_packets
from forestcoll.runtimes.mscclpp.interpreter.program_order import plan_nodes_of
from forestcoll.runtimes.mscclpp.interpreter.races import (
    Order,
    find_early_and_late,
    find_plan_races,
)
from forestcoll.runtimes.mscclpp.interpreter.runtime_limits import (
    check_limits,
    check_references,
)
from forestcoll.runtimes.mscclpp.interpreter.synchronisation import Links, Why, links_of

__all__ = ["interpret_calls", "interpret_plan"]


_OFFSETS = 2**32  # that there are


def interpret_plan(
    plan: Plan,
    *,
    root: int | None = None,
    most_blocks: int | None = None,
    pairs: tuple[tuple[int, ...], ...] | None = None,
) -> Findings:
    """Execute a plan as the runtime would, and report what is wrong with it.

    Parameters
    ----------
    root : int, optional
        Of a broadcast or reduce; by default, the only GPU that receives, or sends, nothing.
    most_blocks : int, optional
        Threadblocks that run at once on a GPU; by default, those of the largest machine, with a
        note if other machines have fewer.
    pairs : tuple of tuples of int, optional
        As of :func:`forestcoll.runtimes.data_layout.chunks_of_pairs`, in an all-to-all of different
        amounts.

    Raises
    ------
    UnsupportedError
        If the behaviour of some operation is unclear or not modelled.
    InvalidParameterError
        If the collective is unknown, or a root is needed but cannot be inferred or is impossible.
    InvalidScheduleError
        If the plan is too large to execute.
    """
    _check_supported(plan)
    report = Collected()
    report.take(Finding(Kind.NOTE, message) for message in surprises(plan))
    plan = as_executed(plan)
    report.take(first_of(check_limits(plan, most_blocks)))
    report.take(first_of(check_references(plan)))
    if Kind.REFERENCE not in report.kinds:
        report.take(first_of(check_buffers(plan, plan.collective)))
        report.take(first_of(check_bounds(plan)))
    report.take(_notes(plan))
    if report.kinds & {Kind.REFERENCE, Kind.BOUNDS}:
        report.take([Finding(Kind.NOTE, "not executed, since its behaviour is undefined")])
        return report.findings((), 0)
    layout = plan_cells_of(plan, in_place=plan.in_place)
    _check_size(plan, layout)
    check_scratch(plan)
    nodes = plan_nodes_of(layout)
    links = links_of(plan, nodes)
    flags = packet_flags_of(layout, nodes, links)
    report.take(first_of(links.findings))
    edges = _edges(nodes, links)
    levels = levels_of(edges, len(nodes.gpu))
    report.take(first_of(find_deadlocks(nodes, edges, levels)))
    moves = data_moves_of(layout, nodes, levels)
    order = Order.of(nodes, edges, levels)
    report.take(first_of(find_early_and_late(moves, order)))
    report.take(first_of(find_early_packets(flags, order, two_halves=plan.double_scratch)))
    report.take(first_of(find_plan_races(layout, moves, order, flags)))
    # After a deadlock the data is incomplete in any case.
    if (levels >= 0).all() and plan.collective in COLLECTIVES:
        report.take(_wrong_data(layout, moves, _root(plan, layout, nodes, root), pairs))
    transfers = sum(nodes.data[one.data].rank != one.gpu for one in moves.touches)
    return report.findings((_run_in_words(plan, layout),), transfers)


def _check_supported(plan: Plan) -> None:
    found = list(refusals(plan))
    if found:
        more = f" (and {len(found) - 1} more like it)" if len(found) > 1 else ""
        raise UnsupportedError(f"unsupported: {found[0]}{more}")


def _notes(plan: Plan) -> Iterator[Finding]:
    if plan.collective not in COLLECTIVES:
        message = (
            f"the collective is {plan.collective[:40]!r}, of which it is not known what is due, so "
            f"results are not compared; known are {', '.join(COLLECTIVES)}"
        )
        yield Finding(Kind.NOTE, message)
    if plan.max_bytes < plan.min_bytes:
        message = f"min_message_size {plan.min_bytes} is above max_message_size {plan.max_bytes}"
        yield Finding(Kind.NOTE, f"{message}, so it is never taken")
    yield from _beyond_offsets(plan)
    if plan.buffer_alignment % 16:
        message = (
            f"buffer_alignment is {plan.buffer_alignment}; reductions have tails, not modelled"
        )
        yield Finding(Kind.NOTE, message)
    if plan.reuse_resources:
        message = "reuse_resources: executed for messages whose chunks fit the scratch there is"
        yield Finding(Kind.NOTE, message)


def _beyond_offsets(plan: Plan) -> Iterator[Finding]:
    """Report sizes that a plan declares although offsets in its buffers would overflow."""
    first = plan.gpus[0]
    most = max(max(gpu.input_chunks, gpu.output_chunks, gpu.scratch_chunks) for gpu in plan.gpus)
    data = first.output_chunks if plan.collective == "allgather" else first.input_chunks
    if plan.max_bytes != NO_MOST_BYTES and plan.max_bytes * most >= _OFFSETS * data:
        message = (
            f"max_message_size {plan.max_bytes} is more than offsets of 32 bits reach in buffers "
            f"of {most} chunks"
        )
        yield Finding(Kind.NOTE, message)


def _edges(nodes: PlanNodes, links: Links) -> Edges:
    own = [Why.PROGRAM] * len(nodes.tail) + [Why.THREAD] * len(nodes.thread_tail)
    tail = np.array([*nodes.tail, *nodes.thread_tail, *links.tail], dtype=np.int64)
    head = np.array([*nodes.head, *nodes.thread_head, *links.head], dtype=np.int64)
    reason = np.array([*own, *links.why], dtype=np.int64)
    order = np.argsort(head, kind="stable")
    return Edges(tail[order], head[order], reason[order])


def _check_size(plan: Plan, layout: PlanCells) -> None:
    moved = layout.parts * sum(
        span.size * (len(plan.gpus) if span.where == "switch" else 1)
        for gpu in plan.gpus
        for block in gpu.threadblocks
        for one in block.operations
        for each in (one, *one.inner)
        for span in (*each.sources, *each.targets)
    )
    moved += sum(
        len(one.inner) * one.loop.chunks * layout.parts
        for gpu in plan.gpus
        for block in gpu.threadblocks
        for one in block.operations
        if one.loop is not None
    )
    if moved > MOST_ACTIONS or layout.cells.size > MOST_CELLS:
        raise InvalidScheduleError(
            f"{plan.name}: {moved} chunks are read or written, of {layout.cells.size} in all "
            f"buffers; at most {MOST_ACTIONS} and {MOST_CELLS} can be checked, so check one with "
            f"fewer instances"
        )


def _wrong_data(
    layout: PlanCells,
    moves: DataTransfers,
    root: int,
    pairs: tuple[tuple[int, ...], ...] | None,
) -> Iterator[Finding]:
    promise = Promise(layout.plan.collective, len(layout.plan.gpus), root, layout.cells, 1, pairs)
    multisets = Multisets(promise.gpus, max(1, promise.chunks))
    memory = execute(moves.units, moves.level, initial(promise, multisets), multisets)
    yield from first_of(find_wrong_data(promise, memory, multisets, moves, moves.units))
    if not layout.plan.in_place:
        yield from first_of(find_changed_inputs(promise, memory, moves, moves.units))


def _run_in_words(plan: Plan, layout: PlanCells) -> str:
    mode = "in place" if plan.in_place else "out of place"
    parts = "" if layout.parts == 1 else f", each chunk in {layout.parts} parts"
    return f"a launch {mode}{parts}"


def _root(plan: Plan, layout: PlanCells, nodes: PlanNodes, given: int | None) -> int:
    return root_of(
        plan.collective,
        len(plan.gpus),
        given,
        lambda arriving: _busy(layout, nodes, arriving=arriving),
    )


def _busy(layout: PlanCells, nodes: PlanNodes, *, arriving: bool) -> set[int]:
    """Return the GPUs that receive data, or those that send some."""
    busy = set[int]()
    for data in nodes.data:
        block = layout.plan.gpus[data.rank].threadblocks[data.threadblock]
        sides = [
            {owner for span in spans for owner, _ in layout.owners(data.rank, block, span)}
            for spans in (data.operation.sources, data.operation.targets)
        ]
        if sides[0] != sides[1] or len(sides[0]) > 1:
            busy |= sides[1] - {data.rank} if arriving else sides[0]
            if arriving and data.rank not in sides[0]:
                busy |= sides[1]
    return busy


_REDUCTIONS = ("allreduce", "reduce", "reduce-scatter")


def interpret_calls(
    plan: Plan,
    *,
    root: int | None = None,
    most_blocks: int | None = None,
    pairs: tuple[tuple[int, ...], ...] | None = None,
) -> Iterator[Findings]:
    """Execute a plan for its intended calls: reductions in place and out of place, others one way.

    Parameters and errors are those of :func:`interpret_plan`.
    """
    both = COLLECTIVES.get(plan.collective) in _REDUCTIONS
    for in_place in (False, True) if both else (plan.in_place,):
        called = replace(plan, in_place=in_place)
        yield interpret_plan(called, root=root, most_blocks=most_blocks, pairs=pairs)
