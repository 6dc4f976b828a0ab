"""Cells of spans: a number for each part of each chunk of each buffer of each GPU.

Chunks are cut into parts so that each threadblock of a group, and each round of a pipeline, takes
whole parts. Without groups and pipelines a chunk is one part.

Packets have cells of their own behind those of the scratch: a packet is twice as large as its data,
so packet chunk 1 lies where plain chunks 2 and 3 do. A plan that uses such chunks both ways is
refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.interpretation.cells import Bools, Cells, Ints
from forestcoll.runtimes.interpretation.findings import Finding, Kind, Place
from forestcoll.runtimes.mscclpp.execution_plan import Operation, Plan, PlanThreadblock, Span
from forestcoll.runtimes.mscclpp.interpreter.operand_rules import (
    ON_PACKETS,
    each_operation,
    packets_of,
)

__all__ = ["PlanCells", "Range", "check_bounds", "check_buffers", "check_scratch", "plan_cells_of"]

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
    packets : ndarray (GPUs,)
        The first cell of each GPU's packets, which end its cells.
    """

    plan: Plan
    cells: Cells
    parts: int
    packets: Ints

    def owners(self, rank: int, block: PlanThreadblock, span: Span) -> list[tuple[int, str]]:
        """Return the buffers of a span: each GPU with the name of its buffer."""
        return _owners(self.plan, rank, block, span)

    def ranges(
        self,
        rank: int,
        block: PlanThreadblock,
        span: Span,
        share: tuple[int, int],
        *,
        packets: bool = False,
    ) -> list[Range]:
        """Return the cells of a span, or of one part of it, at each of its GPUs."""
        part, many = share
        size = span.size * self.parts // many
        first = span.index * self.parts + part * size
        starts = [
            self.packets[owner] if packets else self.cells.base[owner, _BUFFERS.index(buffer)]
            for owner, buffer in self.owners(rank, block, span)
        ]
        return [(int(start) + first, size) for start in starts]

    def are_packets(self, cells: Ints) -> Bools:
        """Return whether cells are those of packets."""
        gpu = np.searchsorted(self.cells.base.min(axis=1), cells, side="right") - 1
        return cells >= self.packets[gpu]


def _owners(plan: Plan, rank: int, block: PlanThreadblock, span: Span) -> list[tuple[int, str]]:
    if span.where in ("remote", "port"):
        known = block.memory_buffers if span.where == "remote" else block.port_buffers
        remote = plan.gpus[rank].remote_buffers[known[span.number]]
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
    packets = scratch if _has_packets(plan) else np.zeros_like(scratch)
    ranks = np.arange(scratch.size)
    user = max(inputs, outputs) if in_place else inputs + outputs
    ends = np.cumsum(user + scratch + packets)
    start = ends - user - scratch - packets
    shift = {"allgather": (inputs, 0), "reducescatter": (0, outputs)}.get(plan.collective, (0, 0))
    shift = shift if in_place else (0, 0)
    output = start + (0 if in_place else inputs)
    base = np.stack([start + shift[0] * ranks, output + shift[1] * ranks, start + user], axis=1)
    cells = Cells(base, int(ends[-1]), inputs, outputs)
    return PlanCells(plan, cells, parts, ends - packets)


def _has_packets(plan: Plan) -> bool:
    return any(one.kind in ON_PACKETS for _, _, _, one in _each_operation(plan))


def check_scratch(plan: Plan) -> None:
    """Refuse chunks of scratch with both plain data and packets, in a plan of limited size.

    Raises UnsupportedError if there are any.
    """
    if not _has_packets(plan):
        return
    used: dict[bool, set[tuple[int, int]]] = {False: set(), True: set()}
    for rank, block, _, one in _each_operation(plan):
        for span, packets in _with_packets(one):
            used[packets].update(
                (owner, chunk)
                for owner, buffer in _owners(plan, rank, block, span)
                if packets or (buffer == "s" and one.kind != "flush")
                for chunk in range(span.index, span.index + span.size)
            )
    for gpu, chunk in used[True]:
        both = used[False].intersection({(gpu, 2 * chunk), (gpu, 2 * chunk + 1)})
        if both:
            raise UnsupportedError(
                f"unsupported: packets of chunk {chunk} of the scratch of GPU {gpu} lie where its "
                f"plain chunk {min(both)[1]} does; use other chunks"
            )


def _each_operation(
    plan: Plan,
) -> Iterator[tuple[int, PlanThreadblock, tuple[int, str], Operation]]:
    """Yield each operation with its GPU, its threadblock, and the numbers of its place."""
    for rank, gpu in enumerate(plan.gpus):
        for number, block in enumerate(gpu.threadblocks):
            for place, one in each_operation(block):
                yield rank, block, (number, place), one


def _with_packets(one: Operation) -> list[tuple[Span, bool]]:
    sources, targets = packets_of(one)
    return [*zip(one.sources, sources, strict=True), *zip(one.targets, targets, strict=True)]


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
    """Report chunks beyond a buffer, whose content is undefined.

    Packets need twice the room, which only the protocol LL gives them.
    """
    for rank, block, (number, place), one in _each_operation(plan):
        for span, packets in _with_packets(one):
            for owner, buffer in _owners(plan, rank, block, span):
                most = _most_chunks(plan, owner, buffer, packets)
                if span.index + span.size > most:
                    what = "packets" if packets else f"the {_WORDS[buffer]}"
                    needs = "; packets need the protocol LL" if packets and _is_short(plan) else ""
                    message = (
                        f"{one.kind} of GPU {rank}, threadblock {number}, operation {place}: chunk "
                        f"{span.index + span.size - 1} of {what} of GPU {owner}, which has "
                        f"{most}{needs}"
                    )
                    step = int(place.split(".")[0])
                    yield Finding.at(Kind.BOUNDS, message, Place(rank, number, step))


def _most_chunks(plan: Plan, owner: int, buffer: str, packets: bool) -> int:
    there = plan.gpus[owner]
    if packets:
        return there.scratch_chunks // (2 if _is_short(plan) else 1)
    return {"i": there.input_chunks, "o": there.output_chunks, "s": there.scratch_chunks}[buffer]


def _is_short(plan: Plan) -> bool:
    """Whether the loader gives scratch no room for the flags of packets."""
    return plan.protocol != "LL"
