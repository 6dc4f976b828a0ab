"""Precedence edges and levels of actions, which also show the actions that never run.

Problem: in which order can actions run, each after its predecessors, and which never run
Input: the edges from each predecessor
Output: a level for each action, above all of its predecessors; -1: it never runs
Cost: one pass over the edges, in as many rounds as there are levels
Source: blocking FIFOs with one reader and one writer, and flags that only grow, form a Kahn
    process network: the set of executed actions does not depend on speeds. So the edges are fixed,
    and one run decides whether a FIFO depth deadlocks
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.interpretation.cells import Bools, Ints

__all__ = ["MOST_LEVELS", "Edges", "Reason", "levels_of"]

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
