"""Precedence edges and levels of actions, which also show the actions that never run.

Problem: an action comes after its predecessor in the threadblock, the send that it takes from, the
    receive that makes room for it, and the step that ends its wait
Input: the actions of all slices, their pairs, the ends of waits
Output: the edges, and a level for each action, above all of its predecessors; -1: it never runs
Cost: one pass over the edges, in as many rounds as there are levels
Source: blocking FIFOs with one reader and one writer, and flags that only grow, form a Kahn
    process network: the set of executed actions does not depend on speeds. So the edges are fixed,
    and one run decides whether a FIFO depth deadlocks. Every slice sends as much as it receives;
    otherwise that is a finding. So a slice can run after the previous one has ended, and one slice
    decides for all
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule.interpret.actions import Actions
from forestcoll.schedule.interpret.merged_steps import Bools, Ints
from forestcoll.schedule.interpret.order.fifos import Pairs
from forestcoll.schedule.interpret.order.flags import ends_of_waits, first_that_tell

__all__ = ["MOST_LEVELS", "Edges", "Reason", "edges_of", "levels_of"]

MOST_LEVELS = 50_000
"""Each costs a tenth of a millisecond; a ring of 4096 GPUs that adds up has a third of them."""


class Reason(IntEnum):
    """The reason why one action comes after another."""

    PROGRAM = 0
    DATA = 1
    ROOM = 2
    FLAG = 3


@dataclass(frozen=True, slots=True)
class Edges:
    """Precedence edges, sorted by head.

    Parameters
    ----------
    tail, head : ndarray (edges,)
        Actions; a tail of -1 stands for an event that never happens.
    reason : ndarray (edges,)
    """

    tail: Ints
    head: Ints
    reason: Ints

    def kept(self, which: Bools) -> Edges:
        """Return the selected edges."""
        return Edges(self.tail[which], self.head[which], self.reason[which])

    def into(self, action: int) -> range:
        """Return the range of the edges into an action."""
        low, high = np.searchsorted(self.head, (action, action + 1))
        return range(int(low), int(high))


def edges_of(actions: Actions, pairs: Pairs) -> Edges:
    """Return all precedence edges."""
    parts = [
        (*_program(actions), Reason.PROGRAM),
        (*_data(actions, pairs), Reason.DATA),
        (*_room(pairs), Reason.ROOM),
        (*_flags(actions), Reason.FLAG),
    ]
    tail = np.concatenate([tails for tails, _, _ in parts])
    head = np.concatenate([heads for _, heads, _ in parts])
    reason = np.concatenate([np.full(t.size, r, dtype=np.int64) for t, _, r in parts])
    order = np.argsort(head, kind="stable")
    return Edges(tail[order], head[order], reason[order])


def _program(actions: Actions) -> tuple[Ints, Ints]:
    """Edges of the program order; a slice's first action follows the previous slice's last."""
    block = actions.block
    same = np.flatnonzero(block[1:] == block[:-1])
    offsets = np.arange(actions.slices)[:, None] * actions.each
    starts = np.flatnonzero(np.r_[True, block[1:] != block[:-1]]) if block.size else block
    ends = np.flatnonzero(np.r_[block[1:] != block[:-1], True]) if block.size else block
    tails = np.concatenate([(offsets + same).ravel(), (offsets[:-1] + ends).ravel()])
    heads = np.concatenate([(offsets + same + 1).ravel(), (offsets[1:] + starts).ravel()])
    return tails, heads


def _data(actions: Actions, pairs: Pairs) -> tuple[Ints, Ints]:
    heads = np.flatnonzero(np.tile(actions.pops, actions.slices))
    return pairs.push[heads], heads


def _room(pairs: Pairs) -> tuple[Ints, Ints]:
    heads = np.flatnonzero(pairs.room != -1)
    return np.maximum(pairs.room[heads], -1), heads


def _flags(actions: Actions) -> tuple[Ints, Ints]:
    steps = actions.steps
    ends, firsts = ends_of_waits(steps), first_that_tell(steps)
    last, first = actions.last_of_step, actions.first_of_step
    tails, heads = [], []
    for number in range(actions.slices):
        offset = number * actions.each
        later = number + 1 < actions.slices
        after = np.where((firsts >= 0) & later, last[firsts] + offset + actions.each, -1)
        tails.append(np.where(ends >= 0, last[ends] + offset, after))
        heads.append(first[steps.wait_step] + offset)
    return np.concatenate(tails), np.concatenate(heads)


def levels_of(edges: Edges, size: int) -> Ints:
    """Return a level for each action, above all of its predecessors; -1 if it never runs.

    Raises
    ------
    InvalidScheduleError
        If a chain of waits is longer than MOST_LEVELS.
    """
    waiting = np.bincount(edges.head, minlength=size)
    real = np.flatnonzero(edges.tail >= 0)
    order = real[np.argsort(edges.tail[real], kind="stable")]
    heads = edges.head[order]
    starts = np.searchsorted(edges.tail[order], np.arange(size + 1))
    levels = np.full(size, -1, dtype=np.int64)
    front = np.flatnonzero(waiting == 0)
    level = 0
    while front.size:
        if level == MOST_LEVELS:
            raise InvalidScheduleError(
                f"over {MOST_LEVELS} transfers wait for each other in turn, too many to check; "
                "check an algorithm of fewer GPUs or steps"
            )
        levels[front] = level
        low, counts = starts[front], starts[front + 1] - starts[front]
        skipped = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(low - skipped, counts)
        reached, times = np.unique(heads[places], return_counts=True)
        waiting[reached] -= times
        front = reached[waiting[reached] == 0]
        level += 1
    return levels
