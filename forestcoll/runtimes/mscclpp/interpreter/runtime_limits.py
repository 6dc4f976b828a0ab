"""Checks against the MSCCL++ runtime's limits, and of references within a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Final

from forestcoll.runtimes.interpretation.findings import Finding, Kind, Place
from forestcoll.runtimes.interpretation.multiprocessors import blocks_fault
from forestcoll.runtimes.mscclpp.execution_plan import (
    Operation,
    Plan,
    PlanGpu,
    PlanThreadblock,
    Span,
    SwitchGroup,
)
from forestcoll.runtimes.mscclpp.interpreter.operand_rules import (
    check_operands,
    each_operation,
    packets_of,
    shifted_faults,
)

__all__ = ["check_limits", "check_references"]

_MOST_OPERATIONS: Final = 64
_MOST_IDS: Final = 8
_MOST_SPANS: Final = 10
_MOST_OF_BLOCK: Final = 16
_MOST_SEMAPHORES: Final = 16
_BARRIERS: Final = 16
_MOST_THREADS: Final = 1024


def check_limits(plan: Plan, most_blocks: int | None) -> Iterator[Finding]:
    """Report exceeded limits, which the runtime checks only at its start or never."""
    if plan.block_threads > _MOST_THREADS:
        message = f"num_threads_per_block is {plan.block_threads}; at most {_MOST_THREADS}"
        yield Finding(Kind.LIMIT, message)
    for rank, gpu in enumerate(plan.gpus):
        if (fault := blocks_fault(len(gpu.threadblocks), most_blocks)) is not None:
            yield Finding.at(fault[0], f"GPU {rank}: {fault[1]}", Place(rank))
        for number, block in enumerate(gpu.threadblocks):
            yield from _block_limits(rank, number, block)


def _block_limits(rank: int, number: int, block: PlanThreadblock) -> Iterator[Finding]:
    many = sum(max(1, len(one.inner)) for one in block.operations)
    for found, most, what in (
        (many, _MOST_OPERATIONS, "operations, those in pipelines counted"),
        (len(block.memory_channels), _MOST_OF_BLOCK, "memory channels"),
        (len(block.port_channels), _MOST_OF_BLOCK, "port channels"),
        (len(block.switch_channels), _MOST_OF_BLOCK, "switch channels"),
        (len(block.memory_buffers), _MOST_OF_BLOCK, "remote buffers"),
        (len(block.port_buffers), _MOST_OF_BLOCK, "remote buffers of port channels"),
    ):
        if found > most:
            message = f"GPU {rank}, threadblock {number}: {found} {what}; at most {most}"
            yield Finding.at(Kind.LIMIT, message, Place(rank, number))
    for place, one in each_operation(block):
        for message in _operation_limits(one):
            yield _at(rank, number, place, one, message)


def _operation_limits(one: Operation) -> Iterator[str]:
    for found, most, what in (
        (len(one.channels), _MOST_IDS, "channel_ids"),
        (len(one.sources), _MOST_SPANS, "in src_buff"),
        (len(one.targets), _MOST_SPANS, "in dst_buff"),
        (len(one.semaphores), _MOST_SEMAPHORES, "semaphore_ids"),
    ):
        if found > most:
            yield f"{found} {what}; at most {most}"
    if one.kind == "barrier" and one.barrier >= _BARRIERS:
        yield f"barrier_id is {one.barrier}; at most {_BARRIERS - 1}"


def check_references(plan: Plan) -> Iterator[Finding]:
    """Report dangling references, which the runtime misreads or crashes on.

    A plan with any of these is not executed.
    """
    ranks = len(plan.gpus)
    for rank, gpu in enumerate(plan.gpus):
        for message in _gpu_faults(rank, gpu, ranks):
            yield Finding.at(Kind.REFERENCE, f"GPU {rank}: {message}", Place(rank))
        for number, block in enumerate(gpu.threadblocks):
            faults = list(_block_faults(gpu, block))
            for message in faults:
                where = f"GPU {rank}, threadblock {number}"
                yield Finding.at(Kind.REFERENCE, f"{where}: {message}", Place(rank, number))
            for place, one in each_operation(block):
                wrong = [*_missing(gpu, block, one), *check_operands(one)]
                if not wrong and not faults:
                    wrong += _buffer_faults(plan, gpu, block, one)
                for message in wrong:
                    yield _at(rank, number, place, one, message, Kind.REFERENCE)
    yield from _unlike_groups(plan)


def _buffer_faults(
    plan: Plan, gpu: PlanGpu, block: PlanThreadblock, one: Operation
) -> Iterator[str]:
    """Yield the errors of an operation in the buffers of other GPUs."""
    buffers = [_remote_buffer(gpu, block, span) for span in one.targets]
    if one.kind != "flush":
        for span, (owner, _), number in zip(one.targets, buffers, one.channels, strict=False):
            peer = gpu.port_channels[block.port_channels[number]] if span.where == "port" else owner
            if peer != owner:
                yield f"port channel {number} leads to GPU {peer}; its buffer is of GPU {owner}"
    packets = packets_of(one)[1]
    for (owner, buffer), are_packets in zip(buffers, packets, strict=True):
        if owner >= -1 and are_packets and buffer != "s":
            yield f"it writes packets to buffer {buffer}; they must be in scratch"
    if plan.double_scratch:
        read = [_remote_buffer(gpu, block, span) for span in one.sources]
        others = [buffer for owner, buffer in (*read, *buffers) if owner >= -1]
        yield from shifted_faults(one, tuple(others))


def _remote_buffer(gpu: PlanGpu, block: PlanThreadblock, span: Span) -> tuple[int, str]:
    """Return the GPU and the buffer of a span: -1 for all of a switch channel, -2 for its own."""
    if span.where in ("remote", "port"):
        known = block.memory_buffers if span.where == "remote" else block.port_buffers
        remote = gpu.remote_buffers[known[span.number]]
        return remote.rank, remote.buffer
    if span.where == "switch":
        return -1, gpu.switch_channels[block.switch_channels[span.number]].buffer
    return -2, span.where


def _gpu_faults(rank: int, gpu: PlanGpu, ranks: int) -> Iterator[str]:
    peers = [
        *(("memory channel", peer) for peer in gpu.memory_channels),
        *(("port channel", peer) for peer in gpu.port_channels),
        *(("remote buffer", one.rank) for one in gpu.remote_buffers),
    ]
    for what, peer in peers:
        if peer >= ranks or peer == rank:
            yield f"a {what} of GPU {peer}; it must be another of the {ranks}"
    for group in gpu.switch_channels:
        if rank not in group.ranks or not set(group.ranks) <= set(range(ranks)):
            yield f"a switch channel of GPUs {_listed(group.ranks)}; it must be one of them"
        if len(set(group.ranks)) < len(group.ranks):
            yield f"a switch channel of GPUs {_listed(group.ranks)}, of which one is named twice"


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    return f"{shown}, ..." if len(numbers) > 8 else shown


def _block_faults(gpu: PlanGpu, block: PlanThreadblock) -> Iterator[str]:
    for what, named, there in (
        ("memory channel", block.memory_channels, len(gpu.memory_channels)),
        ("port channel", block.port_channels, len(gpu.port_channels)),
        ("switch channel", block.switch_channels, len(gpu.switch_channels)),
        ("remote buffer", block.memory_buffers, len(gpu.remote_buffers)),
        ("remote buffer", block.port_buffers, len(gpu.remote_buffers)),
    ):
        for one in named:
            if one >= there:
                yield f"names {what} {one}; its GPU has {there}"
        if len(set(named)) < len(named) and what != "remote buffer":
            yield f"names a {what} twice"
    for kind, named in (("memory", block.memory_buffers), ("port", block.port_buffers)):
        for one in named:
            if one < len(gpu.remote_buffers) and kind not in gpu.remote_buffers[one].access:
                yield f"names remote buffer {one}, which is not for {kind} channels"


def _missing(gpu: PlanGpu, block: PlanThreadblock, one: Operation) -> Iterator[str]:
    channels = {
        "memory": block.memory_channels,
        "port": block.port_channels,
        "switch": block.switch_channels,
    }.get(one.channel_type, ())
    for number in one.channels:
        if number >= len(channels):
            there = f"its threadblock names {len(channels)}"
            yield f"{one.channel_type or 'no'} channel {number}; {there}"
    for number in one.semaphores:
        if number >= len(gpu.semaphores):
            yield f"semaphore {number}; its GPU has {len(gpu.semaphores)}"
    for span in (*one.sources, *one.targets):
        known = block.memory_buffers if span.where == "remote" else block.port_buffers
        if span.where in ("remote", "port") and span.number >= len(known):
            yield f"remote buffer {span.number}; its threadblock names {len(known)}"
        if span.where == "switch" and span.number >= len(block.switch_channels):
            there = f"its threadblock names {len(block.switch_channels)}"
            yield f"switch channel {span.number}; {there}"
    if one.kind in ("signal", "wait", "rlxsignal", "rlxwait", "flush") and not one.channels:
        yield "it names no channel"
    if one.kind in ("sem_acquire", "sem_release") and not one.semaphores:
        yield "it names no semaphore"


def _unlike_groups(plan: Plan) -> Iterator[Finding]:
    """Report switch channels that some of their GPUs omit, or list in another order."""
    listed = [Counter(gpu.switch_channels) for gpu in plan.gpus]
    for rank, groups in enumerate(listed):
        for group, many in groups.items():
            for other in group.ranks:
                if other < len(listed) and listed[other][group] != many:
                    message = (
                        f"GPU {other} does not list the switch channel of buffer {group.buffer} of "
                        f"GPUs {_listed(group.ranks)} as often as GPU {rank}, {many} times"
                    )
                    yield Finding.at(Kind.REFERENCE, message, Place(other), Place(rank))
    if not _have_one_order([list(groups) for groups in listed]):
        message = "GPUs list their switch channels in orders that do not go together"
        yield Finding(Kind.REFERENCE, message)


def _have_one_order(rows: Sequence[Sequence[SwitchGroup]]) -> bool:
    """Whether some order of all groups agrees with every row."""
    order = TopologicalSorter[SwitchGroup]()
    for row in rows:
        for before, after in pairwise(row):
            order.add(after, before)
    try:
        order.prepare()
    except CycleError:
        return False
    return True


def _at(
    rank: int, number: int, place: str, one: Operation, message: str, kind: Kind = Kind.LIMIT
) -> Finding:
    where = f"{one.kind} of GPU {rank}, threadblock {number}, operation {place}"
    step = int(place.split(".")[0])
    return Finding.at(kind, f"{where}: {message}", Place(rank, number, step))
