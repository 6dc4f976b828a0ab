"""Assignment of chains to channels and of queue ends to threadblocks.

Problem: two GPUs have one queue on each channel, and one threadblock serves each end. A threadblock
         has one incoming and one outgoing queue, on one channel.
Input:   chains of pieces; the number of channels.
Output:  the channel of each chain; the threadblock of each end of a queue.
Cost:    for each chain, its hops on every channel.
Source:  ours, greedy. Chains over the same hops are divided among the least loaded queues. Ties go
         to queues whose threadblocks can receive from one GPU and send to the next. A threadblock
         does both only for one chain, unless its GPU would otherwise have too many. The thrifty
         choice prefers queues in use to new ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from forestcoll.runtimes.msccl.exporter.executor_limits import (
    CHANNEL_THREADBLOCKS,
    GPU_THREADBLOCKS,
)
from forestcoll.runtimes.transfer_pieces import Piece

__all__ = ["Block", "Queue", "Queues", "blocks_of", "queues_of"]


@dataclass(frozen=True, slots=True, order=True)
class Queue:
    """A connection from one GPU to another, on one channel."""

    channel: int
    tail: int
    head: int


@dataclass(frozen=True, slots=True, order=True)
class Block:
    """A threadblock: its channel, the GPU it sends to and the GPU it receives from; -1: none."""

    channel: int
    receive: int
    send: int


@dataclass(slots=True)
class Queues:
    """The queues in use.

    Attributes
    ----------
    channel : list of int
        By chain.
    thrifty : bool
        Whether to use few queues rather than to balance the load.
    load : Counter
        Chunks over each queue.
    onward, origin : dict
        The outgoing queue that shares a threadblock with an incoming queue; and the reverse.
    """

    thrifty: bool = False
    channel: list[int] = field(default_factory=list)
    load: Counter[Queue] = field(default_factory=Counter)
    onward: dict[Queue, Queue] = field(default_factory=dict)
    origin: dict[Queue, Queue] = field(default_factory=dict)
    sending: Counter[tuple[int, int]] = field(default_factory=Counter)
    receiving: Counter[tuple[int, int]] = field(default_factory=Counter)

    def cost(self, path: Sequence[Queue]) -> tuple[int, ...]:
        """Cost of a path: the load of its fullest queue, its breaks, its new queues."""
        new = [queue for queue in path if queue not in self.load]
        crowded = sum(
            self.sending[one.channel, one.tail] >= CHANNEL_THREADBLOCKS
            or self.receiving[one.channel, one.head] >= CHANNEL_THREADBLOCKS
            for one in new
        )
        breaks = sum(
            self.onward.get(one, other) != other or self.origin.get(other, one) != one
            for one, other in pairwise(path)
        )
        # The limit of threadblocks comes first, or the file would not load at all.
        fullest, channel = max(self.load[one] for one in path), path[0].channel
        if self.thrifty:
            return crowded, len(new), breaks, fullest, channel
        return crowded, fullest, breaks, len(new), channel

    def take(self, path: Sequence[Queue], chunks: int) -> None:
        """Add the load of a number of chunks to the queues of a path."""
        for queue in path:
            if queue not in self.load:
                self.sending[queue.channel, queue.tail] += 1
                self.receiving[queue.channel, queue.head] += 1
            self.load[queue] += chunks
        for one, other in pairwise(path):
            if one not in self.onward and other not in self.origin:
                self.onward[one] = other
                self.origin[other] = one


def queues_of(
    pieces: Sequence[Piece],
    chains: Sequence[Sequence[int]],
    channels: int,
    thrifty: bool = False,
) -> Queues:
    """Choose the channels of chains."""
    queues = Queues(thrifty)
    begin = 0
    while begin < len(chains):
        end = begin + 1
        while end < len(chains) and _adjoin(pieces, chains[end - 1], chains[end]):
            end += 1
        parts = min(channels, end - begin)
        cuts = [begin + (end - begin) * part // parts for part in range(parts + 1)]
        for low, high in pairwise(cuts):
            hops = [(pieces[one].tail, pieces[one].head) for one in chains[low]]
            path = min(
                ([Queue(channel, *hop) for hop in hops] for channel in range(channels)),
                key=queues.cost,
            )
            queues.take(path, sum(pieces[chain[0]].size for chain in chains[low:high]))
            queues.channel += [path[0].channel] * (high - low)
        begin = end
    return queues


def _adjoin(pieces: Sequence[Piece], one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two chains are adjacent in the data and take the same path."""
    first, then = pieces[one[0]], pieces[other[0]]
    if _way(pieces, one) != _way(pieces, other) or first.step != then.step:
        return False
    if first.chunk == then.chunk:
        return first.first + first.size == then.first
    return then.chunk == first.chunk + 1 and then.first == 0


def _way(pieces: Sequence[Piece], chain: Sequence[int]) -> list[tuple[int, int, bool]]:
    return [(pieces[one].tail, pieces[one].head, pieces[one].adds) for one in chain]


def blocks_of(queues: Queues) -> tuple[dict[Queue, Block], dict[Queue, Block]]:
    """Return the sending and the receiving threadblocks, by queue."""
    sends, receives = dict[Queue, Block](), dict[Queue, Block]()
    for queue in queues.load:
        onward, origin = queues.onward.get(queue), queues.origin.get(queue)
        receives[queue] = Block(queue.channel, queue.tail, -1 if onward is None else onward.head)
        sends[queue] = Block(queue.channel, -1 if origin is None else origin.tail, queue.head)
    _put_together(sends, receives)
    return sends, receives


def _put_together(sends: dict[Queue, Block], receives: dict[Queue, Block]) -> None:
    """Merge threadblocks of a GPU that has too many: one sends and receives."""
    at = defaultdict[int, set[Block]](set)
    for queue in sends:
        at[queue.tail].add(sends[queue])
        at[queue.head].add(receives[queue])
    crowded = {
        gpu
        for gpu, blocks in at.items()
        if len(blocks) > GPU_THREADBLOCKS
        or max(Counter(block.channel for block in blocks).values()) > CHANNEL_THREADBLOCKS
    }
    for gpu in sorted(crowded):
        apart = (
            sorted(block for block in at[gpu] if block.send < 0),
            sorted(block for block in at[gpu] if block.receive < 0),
        )
        for channel in sorted({block.channel for block in at[gpu]}):
            pairs = zip(
                [block for block in apart[0] if block.channel == channel],
                [block for block in apart[1] if block.channel == channel],
                strict=False,
            )
            for into, out in pairs:
                both = Block(channel, into.receive, out.send)
                receives[Queue(channel, into.receive, gpu)] = both
                sends[Queue(channel, gpu, out.send)] = both
