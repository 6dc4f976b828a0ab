"""What happens in a launch: operations as nodes, with the order that their threadblock gives them.

Problem: the threads of a threadblock drift, so operations of it are in order only across a nop
Input: a plan that refers to what is there
Output: nodes and the edges among those of one threadblock; who signals and waits, and where
Cost: one pass
Source: the kernel of MSCCL++. A data operation is done by all threads, between the nop before it
    and the one after it. The k-th channel of a signal or wait is the k-th thread's: it comes after
    what that thread did to channels before, and before the next nop. A launch begins before its
    threadblocks, and ends after them
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from forestcoll.schedule.interpret.findings import Place
from forestcoll.schedule.interpret.plans.plan_cells import PlanCells
from forestcoll.schedule.mscclpp.execution_plan import Operation

__all__ = ["Data", "Meeting", "PlanNodes", "Sync", "plan_nodes_of"]


@dataclass(frozen=True, slots=True)
class Sync:
    """What one thread does to a channel or semaphore: where it is among what its block does."""

    node: int
    block: int
    epoch: int
    thread: int
    relaxed: bool

    def is_before(self, other: Sync) -> bool:
        """Whether it is for certain, by the program of one threadblock."""
        if self.block != other.block:
            return False
        return self.epoch < other.epoch or (self.epoch, self.thread) == (other.epoch, other.thread)


@dataclass(frozen=True, slots=True)
class Data:
    """A data operation that happens: what it is, and in which round of a pipeline (-1: none)."""

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
    """A threadblock at a barrier: the nodes at which it comes and goes, how many it waits for."""

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
        Of each node: its line of nodes that come one after another (the nops of a threadblock, or
        the beginning and end of a launch; a line of its GPU's of no such order for all others).
    what : list of int
        Of each node: which entry of ``places``; -1 if it is of no operation.
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
        How many there are.
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
        """Say which operation a node is of."""
        return self.places[self.what[node]][0] if self.what[node] >= 0 else "the launch"

    def place(self, node: int) -> Place:
        """Return where it stands."""
        return self.places[self.what[node]][1] if self.what[node] >= 0 else Place(self.gpu[node])


def plan_nodes_of(layout: PlanCells) -> PlanNodes:
    """Return what happens in a launch, in the order that each threadblock gives it."""
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
    """A threadblock as its operations come."""

    def __init__(self, nodes: PlanNodes, rank: int, number: int, block: int, loose: int) -> None:
        self.nodes, self.rank, self.number = nodes, rank, number
        self.block, self.loose = block, loose
        self.epoch = 0
        self.nop = nodes.add(rank, block)
        self._threads: dict[int, int] = {}
        self._data: list[Data] = []

    def do(self, layout: PlanCells, one: Operation, place: int) -> None:
        """Do an operation; of a pipeline all rounds."""
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
        """Let all threads meet; return the node."""
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
