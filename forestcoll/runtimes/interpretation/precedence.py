"""Precedence edges and levels of actions, which also show the actions that never run.

Problem: in which order can actions run, each after its predecessors, and which never run?
Input:   the edges from each predecessor.
Output:  a level for each action, above all of its predecessors; -1: it never runs.
Cost:    one pass over the edges, in as many rounds as there are levels.
Source:  blocking FIFOs with one reader and one writer, and flags that only grow, form a Kahn
         process network: the set of executed actions does not depend on speeds. So the edges are
         fixed, and one run decides whether a FIFO depth deadlocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.interpretation.cells import Bools, Ints

__all__ = ["MOST_LEVELS", "Edges", "Reason", "dead_waits", "levels_of"]

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


def dead_waits(
    edges: Edges, levels: Ints, heads: Mapping[int, int], owner: Callable[[int], int]
) -> Iterator[list[tuple[int, int]]]:
    """Yield each cycle of waits, and each last wait that nothing ends, once.

    Whatever never runs leads back, over others that never run, to a wait that nothing ends, or into
    a cycle.

    Parameters
    ----------
    heads : mapping
        For each thread that is deadlocked, the action at which it stands.
    owner : callable
        Takes an action that never runs; returns its thread.

    Yields
    ------
    list of (int, int)
        Actions, each with the edge into it from the next one. An edge from nothing ends a wait that
        nothing ends; such a list has one entry.
    """
    seen: dict[int, int] = {}
    for number, start in enumerate(heads):
        way: list[tuple[int, int]] = []
        thread = start
        while thread >= 0 and thread not in seen:
            seen[thread] = number
            edge = _cause(edges, levels, heads[thread])
            way.append((heads[thread], edge))
            tail = int(edges.tail[edge])
            thread = owner(tail) if tail >= 0 else -1
        if thread < 0:
            yield way[-1:]
        elif seen[thread] == number:
            yield way[[owner(action) for action, _ in way].index(thread) :]


def _cause(edges: Edges, levels: Ints, action: int) -> int:
    """Return an edge into an action from one that never runs, preferably from nothing at all."""
    open_edges = [
        edge for edge in edges.into(action) if edges.tail[edge] < 0 or levels[edges.tail[edge]] < 0
    ]
    return min(open_edges, key=lambda edge: (edges.tail[edge] >= 0, edge))


def levels_of(edges: Edges, size: int) -> Ints:
    """Return a level for each action, above all of its predecessors; -1 if it never runs.

    Raises InvalidScheduleError if a chain of waits is longer than MOST_LEVELS.
    """
    # Kahn's algorithm, a level at a time: what waits for nothing more runs next.
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
