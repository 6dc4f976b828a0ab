"""Nodes of a launch: operations with the order that their threadblock gives them.

Problem: the threads of a threadblock drift, so its operations are in order only across a nop.
Input:   a plan without dangling references.
Output:  nodes, and the edges within each threadblock; signals and waits with their places.
Cost:    one pass.
Source:  the kernel of MSCCL++. All threads execute a data operation, between the nop before it and
         the nop after it. The k-th thread handles the k-th channel of a signal or wait: after its
         own earlier channel operations, and before the next nop. A launch begins before its
         threadblocks, and ends after them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from forestcoll.runtimes.interpretation.findings import Place
from forestcoll.runtimes.mscclpp.execution_plan import Operation
from forestcoll.runtimes.mscclpp.interpreter.buffer_cells import PlanCells

__all__ = ["Data", "Meeting", "PlanNodes", "Sync", "plan_nodes_of"]


@dataclass(frozen=True, slots=True)
class Sync:
    """One thread's operation on a channel or semaphore, with its position in the threadblock."""

    node: int
    block: int
    epoch: int
    thread: int
    relaxed: bool

    def is_before(self, other: Sync) -> bool:
        """Whether the program order of one threadblock puts this one first."""
        if self.block != other.block:
            return False
        return self.epoch < other.epoch or (self.epoch, self.thread) == (other.epoch, other.thread)


@dataclass(frozen=True, slots=True)
class Data:
    """An executed data operation, with its round of a pipeline (-1 for none)."""

    node: int
    rank: int
    threadblock: int
    operation: Operation
    round: int
    before: int
    after: list[int]
    """The node behind it, in a list that is filled when it is known."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A threadblock at a barrier: its nodes of arrival and departure, and the barrier's size."""

    block: int
    come: int
    go: int
    many: int


@dataclass(slots=True)
class PlanNodes:
    """The nodes of one launch of a plan.

    Attributes
    ----------
    block, gpu : list of int
        For each node, its line and its GPU. A line is a sequence of ordered nodes: the nops of a
        threadblock, or the beginning and end of a launch. All other nodes of a GPU share a line
        without order.
    what : list of int
        For each node, its entry of ``places``; -1 without an operation.
    places : list of (str, Place)
        The operations.
    tail, head : list of int
        Edges.
    signals, waits : dict
        By (GPU, channel of the GPU): in the order of the program of each threadblock.
    releases, acquires : dict
        By (GPU, semaphore).
    meetings : dict
        By (GPU, barrier).
    begin, end : list of int
        The nodes at which the launch of each GPU begins and ends.
    lines : int
        Number of lines.
    """

    block: list[int] = field(default_factory=list)
    gpu: list[int] = field(default_factory=list)
    what: list[int] = field(default_factory=list)
    places: list[tuple[str, Place]] = field(default_factory=list)
    tail: list[int] = field(default_factory=list)
    head: list[int] = field(default_factory=list)
    signals: defaultdict[tuple[int, int], list[Sync]] = field(
        default_factory=lambda: defaultdict(list)
    )
    waits: defaultdict[tuple[int, int], list[Sync]] = field(
        default_factory=lambda: defaultdict(list)
    )
    releases: defaultdict[tuple[int, int], list[Sync]] = field(
        default_factory=lambda: defaultdict(list)
    )
    acquires: defaultdict[tuple[int, int], list[Sync]] = field(
        default_factory=lambda: defaultdict(list)
    )
    meetings: defaultdict[tuple[int, int], list[Meeting]] = field(
        default_factory=lambda: defaultdict(list)
    )
    data: list[Data] = field(default_factory=list)
    begin: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    lines: int = 0

    def add(self, gpu: int, block: int, what: int = -1) -> int:
        """Add a node."""
        self.gpu.append(gpu)
        self.block.append(block)
        self.what.append(what)
        return len(self.gpu) - 1

    def join(self, tail: int, head: int) -> None:
        """Add an edge."""
        self.tail.append(tail)
        self.head.append(head)

    def name(self, node: int) -> str:
        """Return the name of a node's operation."""
        return self.places[self.what[node]][0] if self.what[node] >= 0 else "the launch"

    def place(self, node: int) -> Place:
        """Return the place of a node's operation."""
        return self.places[self.what[node]][1] if self.what[node] >= 0 else Place(self.gpu[node])


def plan_nodes_of(layout: PlanCells) -> PlanNodes:
    """Return the nodes of a launch, with the order of each threadblock."""
    nodes = PlanNodes()
    for rank, gpu in enumerate(layout.plan.gpus):
        launch = nodes.lines + len(gpu.threadblocks)
        nodes.begin.append(nodes.add(rank, launch))
        ends = []
        for number, block in enumerate(gpu.threadblocks):
            walk = _Block(nodes, rank, number, nodes.lines + number, launch + 1)
            nodes.join(nodes.begin[-1], walk.nop)
            for place, one in enumerate(block.operations):
                walk.do(layout, one, place)
            ends.append(walk.close(-1))
        nodes.end.append(nodes.add(rank, launch))
        for end in (*ends, nodes.begin[-1]):
            nodes.join(end, nodes.end[-1])
        nodes.lines = launch + 2
    return nodes


class _Block:
    """State of a threadblock while its operations are read."""

    def __init__(self, nodes: PlanNodes, rank: int, number: int, block: int, loose: int) -> None:
        self.nodes, self.rank, self.number = nodes, rank, number
        self.block, self.loose = block, loose
        self.epoch = 0
        self.nop = nodes.add(rank, block)
        self._threads: dict[int, int] = {}
        self._data: list[Data] = []

    def do(self, layout: PlanCells, one: Operation, place: int) -> None:
        """Add an operation; of a pipeline, all rounds."""
        if one.loop is None:
            self._one(layout, one, self._named(one, str(place)), -1)
            return
        inner = [self._named(each, f"{place}.{at}") for at, each in enumerate(one.inner)]
        for turn in range(one.loop.chunks * layout.parts):
            for each, what in zip(one.inner, inner, strict=True):
                self._one(layout, each, what, turn)

    def _named(self, one: Operation, place: str) -> int:
        where = f"{one.kind} of GPU {self.rank}, threadblock {self.number}, operation {place}"
        at = Place(self.rank, self.number, int(place.split(".")[0]))
        self.nodes.places.append((where, at))
        return len(self.nodes.places) - 1

    def _one(self, layout: PlanCells, one: Operation, what: int, turn: int) -> None:
        if one.kind == "nop" or (one.kind == "barrier" and one.meeting == 1):
            self.close(what)
        elif one.kind == "barrier":
            come = self.close(what)
            go = self.close(what)
            self.nodes.meetings[self.rank, one.barrier].append(
                Meeting(self.block, come, go, one.meeting)
            )
        elif one.kind in ("sem_acquire", "sem_release"):
            to = self.nodes.acquires if one.kind == "sem_acquire" else self.nodes.releases
            for thread, number in enumerate(one.semaphores):
                to[self.rank, number].append(self._sync(thread, what, relaxed=False))
        elif one.kind in ("signal", "rlxsignal", "wait", "rlxwait"):
            to = self.nodes.signals if one.kind.endswith("signal") else self.nodes.waits
            block = layout.plan.gpus[self.rank].threadblocks[self.number]
            for thread, number in enumerate(one.channels):
                channel = block.memory_channels[number]
                relaxed = one.kind.startswith("rlx")
                to[self.rank, channel].append(self._sync(thread, what, relaxed=relaxed))
        else:
            node = self.nodes.add(self.rank, self.loose, what)
            self.nodes.join(self.nop, node)
            data = Data(node, self.rank, self.number, one, turn, self.nop, [])
            self.nodes.data.append(data)
            self._data.append(data)

    def _sync(self, thread: int, what: int, *, relaxed: bool) -> Sync:
        node = self.nodes.add(self.rank, self.loose, what)
        self.nodes.join(self._threads.get(thread, self.nop), node)
        self._threads[thread] = node
        return Sync(node, self.block, self.epoch, thread, relaxed)

    def close(self, what: int) -> int:
        """Add a barrier of all threads; return its node."""
        node = self.nodes.add(self.rank, self.block, what)
        self.nodes.join(self.nop, node)
        for before in self._threads.values():
            self.nodes.join(before, node)
        for data in self._data:
            self.nodes.join(data.node, node)
            data.after.append(node)
        self._threads, self._data = {}, []
        self.nop, self.epoch = node, self.epoch + 1
        return node
