"""Cells of spans: a number for each part of each chunk of each buffer of each GPU.

Chunks are cut into parts so that each threadblock of a group, and each round of a pipeline, takes
whole parts. Without groups and pipelines a chunk is one part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.interpretation.cells import Cells
from forestcoll.runtimes.interpretation.findings import Finding, Kind, Place
from forestcoll.runtimes.mscclpp.execution_plan import Plan, PlanThreadblock, Span
from forestcoll.runtimes.mscclpp.interpreter.operand_rules import each_operation

__all__ = ["PlanCells", "Range", "check_bounds", "check_buffers", "plan_cells_of"]

_BUFFERS = ("i", "o", "s")
_WORDS = {"i": "input", "o": "output", "s": "scratch"}
_MOST_PARTS = 64

Range = tuple[int, int]
"""The first cell of some, and how many."""


@dataclass(frozen=True, slots=True)
class PlanCells:
    """The buffers of a plan.

    Parameters
    ----------
    cells : Cells
        Cells, counted in parts.
    parts : int
        Parts of a chunk.
    """

    plan: Plan
    cells: Cells
    parts: int

    def owners(self, rank: int, block: PlanThreadblock, span: Span) -> list[tuple[int, str]]:
        """Return the buffers of a span: each GPU with the name of its buffer."""
        return _owners(self.plan, rank, block, span)

    def ranges(
        self, rank: int, block: PlanThreadblock, span: Span, share: tuple[int, int]
    ) -> list[Range]:
        """Return the cells of a span, or of one part of it, at each of its GPUs."""
        part, many = share
        size = span.size * self.parts // many
        first = span.index * self.parts + part * size
        return [
            (int(self.cells.base[owner, _BUFFERS.index(buffer)]) + first, size)
            for owner, buffer in self.owners(rank, block, span)
        ]


def _owners(plan: Plan, rank: int, block: PlanThreadblock, span: Span) -> list[tuple[int, str]]:
    if span.where == "remote":
        remote = plan.gpus[rank].remote_buffers[block.memory_buffers[span.number]]
        return [(remote.rank, remote.buffer)]
    if span.where == "switch":
        group = plan.gpus[rank].switch_channels[block.switch_channels[span.number]]
        return [(member, group.buffer) for member in group.ranks]
    return [(rank, span.where)]


def plan_cells_of(plan: Plan, *, in_place: bool) -> PlanCells:
    """Lay out the buffers of a plan whose GPUs have inputs and outputs of equal size.

    Raises UnsupportedError if groups of threadblocks or pipelines need more parts than the limit.
    """
    parts = _parts(plan)
    inputs, outputs = plan.gpus[0].input_chunks * parts, plan.gpus[0].output_chunks * parts
    scratch = np.array([gpu.scratch_chunks * parts for gpu in plan.gpus], dtype=np.int64)
    ranks = np.arange(scratch.size)
    user = max(inputs, outputs) if in_place else inputs + outputs
    ends = np.cumsum(user + scratch)
    start = ends - user - scratch
    shift = {"allgather": (inputs, 0), "reducescatter": (0, outputs)}.get(plan.collective, (0, 0))
    shift = shift if in_place else (0, 0)
    output = start + (0 if in_place else inputs)
    base = np.stack([start + shift[0] * ranks, output + shift[1] * ranks, start + user], axis=1)
    return PlanCells(plan, Cells(base, int(ends[-1]), inputs, outputs), parts)


def _parts(plan: Plan) -> int:
    loops, parts = set[int](), 1
    for gpu in plan.gpus:
        for block in gpu.threadblocks:
            for _, one in each_operation(block):
                parts = math.lcm(parts, one.parts)
                loops.update([one.loop.unit_bytes] if one.loop else [])
    if len(loops) > 1:
        raise UnsupportedError(
            f"unsupported: pipelines of {len(loops)} different unit sizes; it takes one for all"
        )
    parts = math.lcm(parts, 2) if loops else parts
    if parts > _MOST_PARTS:
        raise UnsupportedError(
            f"unsupported: groups of threadblocks that cut a chunk into {parts} parts; at most "
            f"{_MOST_PARTS}"
        )
    return parts


def check_buffers(plan: Plan, collective: str) -> Iterator[Finding]:
    """Report buffers whose sizes do not match each other or the collective."""
    gpus, first = len(plan.gpus), plan.gpus[0]
    for rank, gpu in enumerate(plan.gpus):
        if (gpu.input_chunks, gpu.output_chunks) != (first.input_chunks, first.output_chunks):
            message = (
                f"GPU {rank}: {gpu.input_chunks} chunks of input and {gpu.output_chunks} of "
                f"output; GPU 0 has {first.input_chunks} and {first.output_chunks}, and they must "
                f"be alike"
            )
            yield Finding.at(Kind.BOUNDS, message, Place(rank))
    times = {"allgather": (gpus, 1), "reducescatter": (1, gpus)}.get(collective, (1, 1))
    if first.input_chunks * times[0] != first.output_chunks * times[1]:
        message = (
            f"{first.input_chunks} chunks of input and {first.output_chunks} of output; in an "
            f"{collective} of {gpus} GPUs they are {times[1]} to {times[0]}"
        )
        yield Finding(Kind.BOUNDS, message)
    if collective == "alltoall" and first.input_chunks % gpus:
        message = f"{first.input_chunks} chunks of input; it must be a multiple of {gpus}"
        yield Finding(Kind.BOUNDS, message)


def check_bounds(plan: Plan) -> Iterator[Finding]:
    """Report chunks beyond a buffer, whose content is undefined."""
    for rank, gpu in enumerate(plan.gpus):
        for number, block in enumerate(gpu.threadblocks):
            for place, one in each_operation(block):
                for span in (*one.sources, *one.targets):
                    for owner, buffer in _owners(plan, rank, block, span):
                        there = plan.gpus[owner]
                        most = {
                            "i": there.input_chunks,
                            "o": there.output_chunks,
                            "s": there.scratch_chunks,
                        }[buffer]
                        if span.index + span.size > most:
                            message = (
                                f"{one.kind} of GPU {rank}, threadblock {number}, operation "
                                f"{place}: chunk {span.index + span.size - 1} of the "
                                f"{_WORDS[buffer]} of GPU {owner}, which has {most}"
                            )
                            step = int(place.split(".")[0])
                            yield Finding.at(Kind.BOUNDS, message, Place(rank, number, step))
