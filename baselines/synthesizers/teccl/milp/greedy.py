"""Greedy first solution, epoch by epoch.

Problem: some solution, fast, as a start for the search over the number of epochs.
Output:  transfers within every capacity, perhaps in more epochs than needed.
Cost:    paths between neighbours x epochs x chunks, vectorised over the chunks.
Source:  ours; TACOS (Won et al., MICRO 2024) matches chunks and links over time in this manner.

A path leads from a node with a buffer to the next, over switches without one. At the start of an
epoch, each free path takes the chunk that its head would otherwise receive last, judged by
distances alone. It takes no chunk that would arrive sooner from elsewhere.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.epoch_program import Sent, earliest
from forestcoll.errors import TimeLimitError

__all__ = ["greedy_sends"]

_MOST_WAYS = 8
"""Paths between two nodes."""

Ints = npt.NDArray[np.int64]

_NEVER = 1 << 40


@dataclass(frozen=True, slots=True)
class _Way:
    """Arcs in a row, each with the epochs until it is used; and the epochs until arrival."""

    tail: int
    head: int
    arcs: tuple[tuple[int, int], ...]
    span: int


def greedy_sends(
    network: EpochNetwork, demand: Demand, deadline: float = math.inf
) -> tuple[Sent, ...]:
    """Send chunks until all destinations have theirs, which must be reachable.

    ``deadline`` is a time of :func:`time.monotonic`.

    Raises
    ------
    TimeLimitError
        If the deadline passes.
    """
    sweep = _Sweep(network, demand)
    ways = sorted(_ways(network), key=lambda way: (way.span, way.head, way.tail, way.arcs))
    now = 0
    while sweep.missing:
        if time.monotonic() > deadline:
            raise TimeLimitError(f"teccl: nothing found on {network.topology.name} in time")
        sweep.begin(now)
        # Another path is first in each epoch, so that none always takes what several could send.
        turn = now % max(len(ways), 1)
        for way in (*ways[turn:], *ways[:turn]):
            sweep.use(way)
        now += 1
    return tuple(sweep.sent)


def _ways(network: EpochNetwork) -> Iterator[_Way]:
    """Yield the shortest few paths between nodes with buffers, each switch at most once."""
    out_of = network.out_of()
    for tail in filter(network.holds, range(network.nodes)):
        found: dict[int, list[_Way]] = {}
        waiting: list[tuple[int, int, tuple[tuple[int, int], ...]]] = [(tail, 0, ())]
        while waiting:
            node, time_there, so_far = waiting.pop()
            for i in out_of[node]:
                arc = network.arcs[i]
                epoch = time_there - 1 + arc.offset
                here = (*so_far, (i, epoch))
                if any(network.arcs[j].tail == arc.head for j, _ in here):
                    continue
                there = epoch + arc.span + 1
                if network.holds(arc.head):
                    found.setdefault(arc.head, []).append(_Way(tail, arc.head, here, there))
                else:
                    waiting.append((arc.head, there, here))
        for ways in found.values():
            yield from sorted(ways, key=lambda way: (way.span, way.arcs))[:_MOST_WAYS]


class _Loads:
    """Epochs in which every group of arcs carries a chunk."""

    def __init__(self, network: EpochNetwork) -> None:
        self._groups = network.groups
        self._of: list[list[int]] = [[] for _ in network.arcs]
        for number, group in enumerate(network.groups):
            for i in group.arcs:
                self._of[i].append(number)
        self._used: list[list[int]] = [[] for _ in network.groups]

    def takes(self, arc: int, epoch: int) -> bool:
        """Whether an arc can carry one more chunk in an epoch."""
        return all(self._group_takes(number, epoch) for number in self._of[arc])

    def add(self, arc: int, epoch: int) -> None:
        for number in self._of[arc]:
            insort(self._used[number], epoch)

    def _group_takes(self, number: int, epoch: int) -> bool:
        group, used = self._groups[number], self._used[number]
        first = bisect_left(used, epoch - group.window + 1)
        around = used[first : bisect_left(used, epoch + group.window)]
        if len(around) < group.capacity:
            return True
        # A window around the epoch is full if it spans as many of the sorted epochs in a row.
        return all(
            max(epoch, last) - min(epoch, first) >= group.window
            for first, last in zip(around, around[group.capacity - 1 :], strict=False)
        )


class _Sweep:
    """Transfers so far, and when each chunk arrives at each node."""

    def __init__(self, network: EpochNetwork, demand: Demand) -> None:
        self._network = network
        chunks, nodes = len(demand.roots), network.nodes
        self._wanted = np.zeros((chunks, nodes), dtype=np.bool_)
        for chunk, ranks in enumerate(demand.wants):
            self._wanted[chunk, sorted(ranks)] = True
        self._distance = np.full((nodes, nodes), _NEVER)
        for node in filter(network.holds, range(nodes)):
            self._distance[node] = np.minimum(earliest(network, node), _NEVER)
        self._here = np.zeros((chunks, nodes), dtype=np.bool_)
        self._promised = np.zeros((chunks, nodes), dtype=np.bool_)  # here, or on the way
        # Both again, as one integer a node with a bit for each chunk: most paths have nothing to
        # send, and are left by a look at these two.
        self._bits_here = [0] * nodes
        self._bits_promised = [0] * nodes
        self._near = np.full((chunks, nodes), _NEVER)  # epochs from the nearest that has it
        self._due = np.full((chunks, nodes), _NEVER)  # when it can come from where it is to be
        self._coming: dict[int, list[tuple[int, int]]] = {}
        self._going: list[dict[int, int]] = [{} for _ in range(chunks)]
        self._loads = _Loads(network)
        self._on: dict[tuple[int, int], list[int]] = {}  # chunks, by arc and epoch
        self._now = 0
        self.sent: list[Sent] = []
        self.missing = int(self._wanted.sum())
        for chunk, root in enumerate(demand.roots):
            self._promise(chunk, root)
            self._arrive(chunk, root)

    def begin(self, now: int) -> None:
        """Register the arrivals at the start of an epoch."""
        self._now = now
        for chunk, node in self._coming.pop(now, ()):
            del self._going[chunk][node]
            self._arrive(chunk, node)
            self._due[chunk] = _NEVER
            for there, when in self._going[chunk].items():
                np.minimum(self._due[chunk], when + self._distance[there], out=self._due[chunk])

    def use(self, way: _Way) -> None:
        """Send as many chunks over a path as it can carry now."""
        while (chunk := self._best(way)) is not None:
            self._send(chunk, way)

    def _promise(self, chunk: int, node: int) -> None:
        self._promised[chunk, node] = True
        self._bits_promised[node] |= 1 << chunk

    def _arrive(self, chunk: int, node: int) -> None:
        self._here[chunk, node] = True
        self._bits_here[node] |= 1 << chunk
        np.minimum(self._near[chunk], self._distance[node], out=self._near[chunk])

    def _best(self, way: _Way) -> int | None:
        """Return the chunk that fits and that the head would otherwise receive last."""
        if not self._bits_here[way.tail] & ~self._bits_promised[way.head]:
            return None
        could = self._here[:, way.tail] & ~self._promised[:, way.head]
        for i, epoch in way.arcs:
            on = self._on.get((i, self._now + epoch), ())
            copies = self._network.copies(self._network.arcs[i].head)
            if not self._loads.takes(i, self._now + epoch):
                if not on or not copies:
                    return None
                along = np.zeros_like(could)
                along[on] = True
                could &= along
            elif on and not copies:
                could[on] = False  # it is there once, for one
        which = np.flatnonzero(could)
        if not len(which):
            return None
        there = self._now + way.span
        near, due = self._now + self._near[which], self._due[which]
        gains = np.where(
            self._wanted[which, way.head],
            np.minimum(near, due)[:, way.head] - there,
            self._gain_by_relay(way, which, near, due),
        )
        if gains.max() < 0:
            return None
        fewest = self._promised[which].sum(axis=1)
        return int(which[np.lexsort((fewest, -gains))[0]])

    def _gain_by_relay(self, way: _Way, which: Ints, near: Ints, due: Ints) -> Ints:
        """Return 0 where a chunk comes nearer to a destination, else -1.

        Nearer means: as near as from its present places, and nearer than from where it is going.
        """
        if self._wanted[which, way.head].all():
            return np.full(len(which), -1)
        then = self._now + way.span + self._distance[way.head]
        open_yet = self._wanted[which] & ~self._promised[which]
        return np.where((open_yet & (then <= near) & (then < due)).any(axis=1), 0, -1)

    def _send(self, chunk: int, way: _Way) -> None:
        for i, epoch in way.arcs:
            when = self._now + epoch
            on = self._on.setdefault((i, when), [])
            if chunk not in on:
                on.append(chunk)
                self._loads.add(i, when)
                self.sent.append((chunk, i, when))
        there = self._now + way.span
        self._promise(chunk, way.head)
        self.missing -= int(self._wanted[chunk, way.head])
        self._coming.setdefault(there, []).append((chunk, way.head))
        self._going[chunk][way.head] = there
        np.minimum(self._due[chunk], there + self._distance[way.head], out=self._due[chunk])
