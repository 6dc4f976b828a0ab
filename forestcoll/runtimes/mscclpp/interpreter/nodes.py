"""Nodes of a launch, the edges between them, and the operations to which they belong."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from forestcoll.runtimes.interpretation.findings import Place
from forestcoll.runtimes.mscclpp.execution_plan import Operation

__all__ = ["Channel", "Data", "Meeting", "PlanNodes", "Sync"]

Channel = tuple[int, str, int]
"""A GPU, the type of a channel, and its number among the GPU's channels of this type."""


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
    """An executed data operation, with its round of a pipeline (-1 for none).

    Over a port channel, a put is one such operation for each of its targets, whose node is the end
    of the transfer.
    """

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
    thread_tail, thread_head : list of int
        Edges that a thread's order adds: it waits for packets, signals or semaphores before it does
        what comes next. Other threads may be ahead, so these edges order no data.
    signals, waits : dict
        By channel: in the order of the program of each threadblock.
    releases, acquires : dict
        By (GPU, semaphore).
    meetings : dict
        By (GPU, barrier).
    begin, end : list of int
        The nodes at which the launch of each GPU begins and ends.
    lines : int
        Number of lines.
    queues : set of int
        The lines of port channels: transfers and signals in the order of their proxy.
    """

    block: list[int] = field(default_factory=list)
    gpu: list[int] = field(default_factory=list)
    what: list[int] = field(default_factory=list)
    places: list[tuple[str, Place]] = field(default_factory=list)
    tail: list[int] = field(default_factory=list)
    head: list[int] = field(default_factory=list)
    thread_tail: list[int] = field(default_factory=list)
    thread_head: list[int] = field(default_factory=list)
    signals: defaultdict[Channel, list[Sync]] = field(default_factory=lambda: defaultdict(list))
    waits: defaultdict[Channel, list[Sync]] = field(default_factory=lambda: defaultdict(list))
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
    queues: set[int] = field(default_factory=set)

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

    def join_threads(self, tail: int, head: int) -> None:
        """Add an edge that each thread has for its own part alone."""
        self.thread_tail.append(tail)
        self.thread_head.append(head)

    def name(self, node: int) -> str:
        """Return the name of a node's operation."""
        return self.places[self.what[node]][0] if self.what[node] >= 0 else "the launch"

    def place(self, node: int) -> Place:
        """Return the place of a node's operation."""
        return self.places[self.what[node]][1] if self.what[node] >= 0 else Place(self.gpu[node])
