"""Actions of threadblocks: operations fused for forwarding, joined, and split to size.

Problem: a threadblock has few steps, and a write that is read back costs time.
Input:   operations, chain by chain, and the threadblock of each end of a queue.
Output:  actions in one order: kinds, buffers and offsets as the runtime knows them.
Cost:    linear, apart from the sort of scratch places.
Source:  ours. A receive and a send that forwards it are one action, which skips writes without
         another reader. Equal chains that are adjacent in the order and in the data are joined.
         They share no place, so nothing waits within them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from forestcoll.runtimes.data_layout import Layout
from forestcoll.runtimes.msccl.exporter.buffer_operations import Operation, Version
from forestcoll.runtimes.msccl.exporter.channels import Block, Queue
from forestcoll.runtimes.msccl.exporter.executor_limits import STEP_CHUNKS
from forestcoll.runtimes.transfer_pieces import Piece

__all__ = ["LOCAL", "Action", "Spot", "actions_of", "copying_gpus"]

LOCAL = Block(0, -1, -1)
"""The threadblock of what a GPU copies by itself."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A position in a buffer: the first chunk, and the offset from one instance to the next."""

    buffer: str
    offset: int
    stride: int

    def after(self, chunks: int) -> Spot:
        """Return the position a number of chunks later."""
        return replace(self, offset=self.offset + chunks)


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a threadblock.

    Parameters
    ----------
    kind : str
        As of :class:`forestcoll.runtimes.msccl.algorithm.Instruction`, no "nop".
    source, target : Spot or None
        What is read and what is written.
    """

    gpu: int
    block: Block
    kind: str
    count: int
    source: Spot | None
    target: Spot | None


@dataclass(frozen=True, slots=True)
class _Ends:
    """Threadblocks at the ends of queues."""

    pieces: Sequence[Piece]
    channel: dict[int, int]
    sends: dict[Queue, Block]
    receives: dict[Queue, Block]

    def block(self, operation: Operation) -> Block:
        piece = self.pieces[operation.piece]
        queue = Queue(self.channel[operation.piece], piece.tail, piece.head)
        return self.sends[queue] if operation.kind == "s" else self.receives[queue]


@dataclass(slots=True)
class _Draft:
    """An action without final places in scratch."""

    gpu: int
    block: Block
    kind: str
    size: int
    source: Version | None
    target: Version | None


def actions_of(
    pieces: Sequence[Piece],
    chains: Sequence[Sequence[int]],
    operations: Sequence[Sequence[Operation]],
    channel: Sequence[int],
    blocks: tuple[dict[Queue, Block], dict[Queue, Block]],
    layout: Layout,
) -> tuple[list[Action], list[int]]:
    """Return the actions of one instance in their order, and each GPU's chunks of scratch."""
    of_piece = {piece: channel[place] for place, chain in enumerate(chains) for piece in chain}
    ends = _Ends(pieces, of_piece, *blocks)
    drafts = [_fused(each, ends) for each in operations]
    scratch, many = _scratch(drafts, layout)
    written = [[_written(draft, layout, scratch, many) for draft in each] for each in drafts]
    actions = [action for chain in _joined(written) for action in _to_size(chain)]
    return [*actions, *_own_copies(layout)], many


def _fused(operations: Sequence[Operation], ends: _Ends) -> list[_Draft]:
    """Fuse receives with the sends that forward them.

    A forwarding step works slice by slice, so all forwarding steps of a chain run at the same time.
    None of them may wait for another one to end. Steps of one GPU may wait for each other, so a
    run of forwarding steps visits each GPU only once.
    """
    drafts: list[_Draft] = []
    came: _Draft | None = None
    busy = set[int]()
    for place, each in enumerate(operations):
        block = ends.block(each)
        if each.kind == "s":
            receiver = operations[place + 1].gpu
            if came is not None and _passes_on(came, each, block) and receiver not in busy:
                came.kind = "rcs" if came.kind == "r" else "rrcs"
                busy.add(receiver)
                came = None
                continue
            busy = {each.gpu, receiver}
        drafts.append(_Draft(each.gpu, block, each.kind, each.size, each.source, each.target))
        if each.kind in ("r", "rrc"):
            came = drafts[-1]
    return drafts


def _passes_on(came: _Draft, send: Operation, block: Block) -> bool:
    return came.gpu == send.gpu and came.block == block and send.source is came.target


_Held = tuple[int, str, int, int]
"""A GPU, a layer of its scratch, a chunk, and the first of what is held."""


def _scratch(
    drafts: Sequence[Sequence[_Draft]], layout: Layout
) -> tuple[dict[_Held, int], list[int]]:
    """Lay out scratch; return the offset of each place and the size at each GPU."""
    size: dict[_Held, int] = {}
    for draft in (draft for each in drafts for draft in each):
        # A sum that only this action's own send reads need not be written.
        if draft.kind == "rrcs" and _is_read_once(draft.target):
            draft.kind, draft.target = "rrs", None
        for held in (draft.source, draft.target):
            if held is not None and held.place.buffer not in "io":
                place = held.place
                size[draft.gpu, place.buffer, place.chunk, place.first] = draft.size
    many, offset = [0] * layout.gpus, dict[_Held, int]()
    # Sorted, pieces of a chunk lie side by side, so that their chains can be joined.
    for key in sorted(size):
        offset[key] = many[key[0]]
        many[key[0]] += size[key]
    return offset, many


def _is_read_once(version: Version | None) -> bool:
    return version is not None and version.reads == 1 and not version.due


def _written(
    draft: _Draft, layout: Layout, scratch: dict[_Held, int], many: Sequence[int]
) -> Action:
    def spot(held: Version | None) -> Spot | None:
        if held is None:
            return None
        buffer, chunk, first = held.place.buffer, held.place.chunk, held.place.first
        if buffer not in "io":
            return Spot("s", scratch[draft.gpu, buffer, chunk, first], many[draft.gpu])
        base = (layout.own if buffer == "i" else layout.result)(draft.gpu, chunk)
        if base is None:
            raise AssertionError(f"rank {draft.gpu} has no place for chunk {chunk}")
        return Spot(buffer, base + first, layout.size[chunk])

    return Action(
        draft.gpu, draft.block, draft.kind, draft.size, spot(draft.source), spot(draft.target)
    )


def _joined(chains: Sequence[list[Action]]) -> list[list[Action]]:
    """Join adjacent chains with equal operations, up to the size limit of a step."""
    joined: list[list[Action]] = []
    for chain in chains:
        if joined and len(joined[-1]) == len(chain):
            pairs = list(zip(joined[-1], chain, strict=True))
            if all(_follows(one, other) for one, other in pairs):
                joined[-1] = [replace(a, count=a.count + b.count) for a, b in pairs]
                continue
        joined.append(chain)
    return joined


def _follows(one: Action, other: Action) -> bool:
    if (one.gpu, one.block, one.kind) != (other.gpu, other.block, other.kind):
        return False
    if one.count + other.count > STEP_CHUNKS:
        return False
    spots = ((one.source, other.source), (one.target, other.target))
    return all(b == (a and a.after(one.count)) for a, b in spots)


def _to_size(chain: Sequence[Action]) -> list[Action]:
    """Split a chain so that no step exceeds its size limit."""
    size = chain[0].count
    parts = -(-size // STEP_CHUNKS)
    cuts = [size * part // parts for part in range(parts + 1)]
    return [
        replace(
            action,
            count=high - low,
            source=action.source and action.source.after(low),
            target=action.target and action.target.after(low),
        )
        for low, high in pairwise(cuts)
        for action in chain
    ]


def copying_gpus(layout: Layout) -> set[int]:
    """Return the GPUs with local copies."""
    return {action.gpu for action in _own_copies(layout)}


def _own_copies(layout: Layout) -> list[Action]:
    """Local copies of out-of-place calls: each GPU's own part that is also in its result."""
    if layout.aliased:
        return []
    parts: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for chunk, size in enumerate(layout.size):
        for gpu in range(layout.gpus) if layout.root[chunk] < 0 else (layout.root[chunk],):
            own, due = layout.own(gpu, chunk), layout.result(gpu, chunk)
            if own is not None and due is not None:
                parts[gpu].append((own, due, size))
    if layout.collective == "all-to-all":
        parts = _to_itself(layout)
    return [
        action
        for gpu in sorted(parts)
        for own, due, size in parts[gpu]
        for action in _to_size(
            [Action(gpu, LOCAL, "cpy", size, Spot("i", own, size), Spot("o", due, size))]
        )
    ]


def _to_itself(layout: Layout) -> dict[int, list[tuple[int, int, int]]]:
    """Each GPU's data for itself in an all-to-all, with or without a chunk for it."""
    share = layout.shard
    at = {gpu: gpu * share * layout.instances for gpu in range(layout.gpus)}
    return {gpu: [(place, place, share)] for gpu, place in at.items()}
