"""What each action must wait for at its own GPU.

Problem: threadblocks of a GPU share its buffers: what one writes another must not read too early,
         and what one reads another must not write too early.
Input:   actions in their order.
Output:  for each action, the actions of other threadblocks to wait for, as few as are needed.
Cost:    the chunks that actions touch, and a clock of the threadblocks of a GPU for each action.
Source:  ours. Two actions that touch one chunk, one of them writing, happen in their order: by the
         order of their threadblock, or by waiting. What is known to be done by then is not waited
         for. All waiting is for what is earlier in the order. Passes over further slices of the
         data touch other places of all buffers, scratch included, so they need no waiting; a
         threadblock does them in turn, and (pass, place in the order) is one order, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from forestcoll.schedule.export.msccl.data_layout import Layout
from forestcoll.schedule.export.msccl.threadblock_actions import Action

__all__ = ["waits_of"]


@dataclass(slots=True)
class _Chunk:
    """Who last wrote a chunk, and who has read it since: the last of each threadblock."""

    writer: int = -1
    readers: dict[int, int] = field(default_factory=dict)


class _Gpu:
    """What has happened at a GPU: to its chunks, and what each action knows to be done."""

    def __init__(self) -> None:
        self.block: dict[object, int] = {}
        self.last: list[int] = []
        self.chunks: dict[tuple[str, int], _Chunk] = {}

    def number(self, action: Action) -> int:
        """Number the threadblock of an action."""
        if action.block not in self.block:
            self.block[action.block] = len(self.last)
            self.last.append(-1)
        return self.block[action.block]


def waits_of(actions: Sequence[Action], layout: Layout) -> list[list[int]]:
    """Return what each action waits for: numbers of actions, the latest first."""
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
    """The actions that must have been done, the last of each kind."""
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
