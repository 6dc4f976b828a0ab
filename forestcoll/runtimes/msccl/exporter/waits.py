"""Waits of each action for other threadblocks of its GPU, which prevent races.

Problem: threadblocks of a GPU share its buffers: a write must not overtake another threadblock's
         write or read of the same chunk, nor a read another's write.
Input:   actions in their order.
Output:  for each action, the minimal set of actions of other threadblocks to wait for.
Cost:    the chunks that actions touch, and a vector clock over threadblocks for each action.
Source:  ours. Two actions that touch one chunk, at least one of them writing, keep their order by
         their threadblock or by a wait. Waits that other waits imply are left out. Every wait is
         for an earlier action. Passes over later slices touch other places of all buffers, scratch
         included, and need no waits. A threadblock executes passes in sequence, so (pass, place in
         the order) is a total order, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from forestcoll.runtimes.data_layout import Layout
from forestcoll.runtimes.msccl.exporter.threadblock_actions import Action

__all__ = ["waits_of"]


@dataclass(slots=True)
class _Chunk:
    """The last writer of a chunk and its readers since: the last one of each threadblock."""

    writer: int = -1
    readers: dict[int, int] = field(default_factory=dict)


class _Gpu:
    """History of a GPU: its chunks, and the actions that each action knows to be done."""

    def __init__(self) -> None:
        self.block: dict[object, int] = {}
        self.last: list[int] = []
        self.chunks: dict[tuple[str, int], _Chunk] = {}

    def number(self, action: Action) -> int:
        if action.block not in self.block:
            self.block[action.block] = len(self.last)
            self.last.append(-1)
        return self.block[action.block]


def waits_of(actions: Sequence[Action], layout: Layout) -> list[list[int]]:
    """Return the waits of each action: numbers of actions, the latest first."""
    gpus = [_Gpu() for _ in range(layout.gpus)]
    block_of, clocks, waits = list[int](), list[list[int]](), list[list[int]]()
    for number, action in enumerate(actions):
        gpu = gpus[action.gpu]
        mine = gpu.number(action)
        before = _before(gpu, action, layout)
        clock = list(clocks[gpu.last[mine]]) if gpu.last[mine] >= 0 else []
        clock += [-1] * (len(gpu.last) - len(clock))
        clock[mine] = number
        found = []
        # The latest first: its clock often shows that the earlier ones are done.
        for one in sorted(before, reverse=True):
            theirs = block_of[one]
            if clock[theirs] < one:
                found.append(one)
                known = clocks[one]
                clock[: len(known)] = map(max, clock, known)
        _note(gpu, action, layout, number, mine)
        gpu.last[mine] = number
        block_of.append(mine)
        clocks.append(clock)
        waits.append(found)
    return waits


def _touched(action: Action, layout: Layout) -> Iterator[tuple[tuple[str, int], bool]]:
    """The chunks that an action touches, and whether it writes them."""
    for spot, writes in ((action.source, False), (action.target, True)):
        if spot is not None:
            for offset in range(spot.offset, spot.offset + action.count):
                yield layout.in_one_space(action.gpu, spot.buffer, offset), writes


def _before(gpu: _Gpu, action: Action, layout: Layout) -> set[int]:
    """The actions to come after: the last writer of a place, and before a write its readers."""
    found = set[int]()
    for place, writes in _touched(action, layout):
        chunk = gpu.chunks.get(place)
        if chunk is not None:
            found.add(chunk.writer)
            if writes:
                found.update(chunk.readers.values())
    return found - {-1}


def _note(gpu: _Gpu, action: Action, layout: Layout, number: int, mine: int) -> None:
    for place, writes in _touched(action, layout):
        chunk = gpu.chunks.setdefault(place, _Chunk())
        if writes:
            chunk.writer = number
            chunk.readers.clear()
        else:
            chunk.readers[mine] = number
