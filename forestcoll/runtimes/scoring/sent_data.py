"""What a runtime's file sends from GPU to GPU, as shares of the data of a call.

Problem: MSCCL's instructions send to a channel's other end; operations of an MSCCL++ plan write to
         buffers of other GPUs, or read them. How much does each pair of GPUs exchange?
Input:   an algorithm of MSCCL, or a plan of MSCCL++, that the interpreters found right.
Output:  for each pair with data, its share; the chunks of a call; the collective in our words.
Cost:    one pass.
Source:  the executors of MSCCL and MSCCL++. A call has the size of the output in an allgather, and
         of the input in others, as in nccl-tests.

Data that switches multicast or reduce is on no path from GPU to GPU, so plans with switch channels
are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.msccl.algorithm import ALIASES, CUSTOM, Algorithm
from forestcoll.runtimes.msccl.algorithm import COLLECTIVES as OF_MSCCL
from forestcoll.runtimes.mscclpp.execution_plan import COLLECTIVES as OF_MSCCLPP
from forestcoll.runtimes.mscclpp.execution_plan import Operation, Plan, PlanGpu, PlanThreadblock
from forestcoll.runtimes.mscclpp.interpreter.operand_rules import packets_of
from forestcoll.runtimes.scoring.least_hops import Pair

__all__ = ["RuntimeFile", "call_chunks", "collective_of", "sent_by"]

RuntimeFile = Algorithm | Plan

_SENDING = ("s", "rcs", "rrs", "rrcs")


def collective_of(file: RuntimeFile) -> str:
    """Return our name of a file's collective; of a plan that no interpreter knows, its own.

    Raises UnsupportedError if the collective is custom, and so nothing bounds its rate.
    """
    if isinstance(file, Plan):
        return OF_MSCCLPP.get(file.collective, file.collective)
    if file.collective == CUSTOM:
        raise UnsupportedError(
            f"unsupported: {file.name} is of a custom collective, or names none, so no bound is "
            "known; write its collective into coll"
        )
    return OF_MSCCL[ALIASES.get(file.collective, file.collective)]


def call_chunks(file: RuntimeFile) -> int:
    """Return the chunks of the data of a call."""
    if not isinstance(file, Plan):
        return file.chunks_per_loop
    first = file.gpus[0]
    return first.output_chunks if file.collective == "allgather" else first.input_chunks


def sent_by(file: RuntimeFile) -> Mapping[Pair, Fraction]:
    """Return what each GPU sends to each other, as a share of the data of a call.

    Raises UnsupportedError if a plan uses switch channels.
    """
    found: dict[Pair, Fraction] = {}
    for pair, chunks in _of_plan(file) if isinstance(file, Plan) else _of_algorithm(file):
        if chunks and pair[0] != pair[1]:
            found[pair] = found.get(pair, Fraction(0)) + chunks
    whole = call_chunks(file)
    return {pair: chunks / whole for pair, chunks in found.items()}


def _of_algorithm(file: Algorithm) -> Iterator[tuple[Pair, Fraction]]:
    for rank, gpu in enumerate(file.gpus):
        for block in gpu.threadblocks:
            sent = sum(one.count for one in block.instructions if one.kind in _SENDING)
            yield (rank, block.send), Fraction(sent)


def _of_plan(plan: Plan) -> Iterator[tuple[Pair, Fraction]]:
    for rank, gpu in enumerate(plan.gpus):
        for block in gpu.threadblocks:
            for one in block.operations:
                for each in (one, *one.inner):
                    yield from _of_operation(plan, rank, gpu, block, each)


def _of_operation(
    plan: Plan, rank: int, gpu: PlanGpu, block: PlanThreadblock, one: Operation
) -> Iterator[tuple[Pair, Fraction]]:
    """Yield what an operation reads from other GPUs and writes to them; of a group, its part.

    Packets count twice, since half of them are flags.

    The rounds of a pipeline together take each span once.
    """
    if one.kind == "flush":
        return
    packets = packets_of(one)
    for spans, flags, writes in (
        (one.sources, packets[0], False),
        (one.targets, packets[1], True),
    ):
        for span, are_packets in zip(spans, flags, strict=True):
            if span.where == "switch":
                raise UnsupportedError(
                    f"unsupported: {plan.name} uses switch channels, and what switches multicast "
                    f"or reduce is on no path from GPU to GPU; score a plan without them"
                )
            if span.where in ("remote", "port"):
                known = block.memory_buffers if span.where == "remote" else block.port_buffers
                owner = gpu.remote_buffers[known[span.number]].rank
                pair = (rank, owner) if writes else (owner, rank)
                yield pair, Fraction(span.size * (1 + are_packets), one.parts)
