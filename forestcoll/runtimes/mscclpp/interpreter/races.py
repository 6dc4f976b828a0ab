"""Data races of a plan, and accesses to remote buffers outside their GPU's launch.

Problem: does the result depend on speeds, or on actions of another GPU outside its launch?
Input:   the accesses to each cell; the precedence of nodes.
Output:  the pairs of operations that race; operations that may come too early or too late.
Cost:    for each cell, only neighbours in the order of a run are tested: a read and the write
         before it, a write and the reads (or the write, without reads) before it.
Source:  an operation lies between two nops. It precedes another one if its later nop precedes the
         other's earlier nop. Only strong edges make a write visible. Weak edges suffice to show
         that a read, or a launch's beginning, is over. Every access to a buffer lies between the
         beginning and the end of the launches involved, so launches do not race with one another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from forestcoll.runtimes.interpretation.cells import Bools, Ints
from forestcoll.runtimes.interpretation.findings import Finding, Kind
from forestcoll.runtimes.interpretation.happens_before import happens_before, neighbours
from forestcoll.runtimes.interpretation.precedence import Edges
from forestcoll.runtimes.mscclpp.interpreter.buffer_cells import PlanCells
from forestcoll.runtimes.mscclpp.interpreter.data_transfers import Accesses, DataTransfers, Touch
from forestcoll.runtimes.mscclpp.interpreter.nodes import PlanNodes
from forestcoll.runtimes.mscclpp.interpreter.packet_flags import PacketFlags
from forestcoll.runtimes.mscclpp.interpreter.synchronisation import Why

_RELAXED = (
    "which order what is executed, not what is seen: signal and wait that are not relaxed would"
)

__all__ = ["Order", "find_early_and_late", "find_plan_races"]


@dataclass(frozen=True, slots=True)
class Order:
    """Precedence of the nodes that run."""

    nodes: PlanNodes
    edges: Edges
    levels: Ints
    block: Ints
    gpu: Ints
    team: Ints
    """Of each node; -1 of the beginnings and ends of launches."""

    @classmethod
    def of(cls, nodes: PlanNodes, edges: Edges, levels: Ints) -> Order:
        """Return the precedence that these edges imply."""
        block = np.array(nodes.block, dtype=np.int64)
        gpu = np.array(nodes.gpu, dtype=np.int64)
        real = (edges.tail >= 0) & (levels[edges.head] >= 0)
        real &= levels[edges.tail] >= 0
        return cls(nodes, edges.kept(real), levels, block, gpu, _teams(nodes, edges))

    def are_before(self, first: Ints, second: Ints, strong: Bools) -> Bools:
        """Return whether the first node of each pair is over (strong: visible) at the second.

        Teams are tested one at a time, since no path leads between teams within a launch.
        """
        found = np.zeros(first.size, dtype=np.bool_)
        team = np.maximum(self.team[first], self.team[second])
        apart = (self.team[first] != self.team[second]) & (self.team[first] >= 0)
        apart &= self.team[second] >= 0
        asked = np.flatnonzero(~apart)
        asked = asked[np.argsort(team[asked], kind="stable")]
        for some in np.split(asked, np.flatnonzero(np.diff(team[asked])) + 1):
            if some.size:
                inside = (self.team == team[some[0]]) | (self.team < 0)
                found[some] = self._within(inside, first[some], second[some], strong[some])
        return found

    def are_over(self, first: Ints, second: Ints) -> Bools:
        """Return whether the first node of each pair is over at the second, in any team."""
        whole = np.ones(self.team.size, dtype=np.bool_)
        return self._within(whole, first, second, np.zeros(first.size, dtype=np.bool_))

    def _within(self, inside: Bools, first: Ints, second: Ints, strong: Bools) -> Bools:
        """Test the pairs of a team, in a numbering of its nodes alone."""
        number = np.cumsum(inside) - 1
        edges = self.edges
        kept = inside[edges.tail] & inside[edges.head]
        weak = (edges.reason == Why.RELAXED) | (edges.reason == Why.PACKET)
        inside_order = edges.reason != Why.THREAD
        kept &= inside_order
        found = np.zeros(first.size, dtype=np.bool_)
        for which, wanted in ((strong, kept & ~weak), (~strong, kept)):
            some = np.flatnonzero(which)
            key = number[first[some]] * number.size + number[second[some]]
            _, at, back = np.unique(key, return_index=True, return_inverse=True)
            pairs = some[at]
            taken = edges.kept(wanted)
            answers = happens_before(
                Edges(number[taken.tail], number[taken.head], taken.reason),
                self.levels[inside],
                self.block[inside],
                self.gpu[inside],
                number[first[pairs]],
                number[second[pairs]],
            )
            found[some] = answers[back.reshape(-1)]
        return found


def _teams(nodes: PlanNodes, edges: Edges) -> Ints:
    """Number the parts of a plan that only the beginnings and ends of launches join."""
    from scipy.sparse import coo_array  # here, as scipy loads for longer than most commands run
    from scipy.sparse.csgraph import connected_components

    launches = np.zeros(len(nodes.gpu), dtype=np.bool_)
    launches[[*nodes.begin, *nodes.end]] = True
    joins = np.flatnonzero((edges.tail >= 0) & ~launches[edges.tail] & ~launches[edges.head])
    ends = edges.tail[joins], edges.head[joins]
    size = launches.size
    graph = coo_array((np.ones(joins.size, dtype=np.int8), ends), shape=(size, size))
    found = connected_components(graph, directed=False)[1].astype(np.int64)
    return np.where(launches, -1, found)


def find_plan_races(
    layout: PlanCells, moves: DataTransfers, order: Order, flags: PacketFlags
) -> Iterator[Finding]:
    """Report races, one for each pair of operations."""
    accesses = moves.accesses
    one, other = neighbours(accesses.cell, accesses.writes)
    # The flags of packets order their reads; other checks are for their writes.
    plain = ~layout.are_packets(accesses.cell[one])
    one, other = one[plain], other[plain]
    both_write = accesses.writes[one] & accesses.writes[other]
    kept = ~both_write | (other == one + 1)
    one, other = one[kept], other[kept]
    first, second = accesses.data[one], accesses.data[other]
    after, before = _around(moves.nodes)
    strong = accesses.writes[one]
    apart = first != second
    racing = ~apart & (accesses.lane[one] != accesses.lane[other])
    asked = np.flatnonzero(apart)
    racing[asked] = ~order.are_before(after[first[asked]], before[second[asked]], strong[asked])
    read_first = np.flatnonzero(racing & apart & ~strong)
    racing[read_first] = [
        not _is_on_the_way(accesses, flags, *pair)
        for pair in zip(one[read_first].tolist(), other[read_first].tolist(), strict=True)
    ]
    found = np.flatnonzero(racing)
    _, at = np.unique(first[found] * len(moves.nodes.data) + second[found], return_index=True)
    shown = found[at]
    relaxed = np.zeros(shown.size, dtype=np.bool_)
    some = np.flatnonzero(apart[shown] & strong[shown])
    which = shown[some]
    weakly = np.zeros(some.size, dtype=np.bool_)
    relaxed[some] = order.are_before(after[first[which]], before[second[which]], weakly)
    for pair, only_relaxed in zip(shown.tolist(), relaxed.tolist(), strict=True):
        yield _finding(layout, moves, int(one[pair]), int(other[pair]), only_relaxed)


def _is_on_the_way(accesses: Accesses, flags: PacketFlags, read: int, write: int) -> bool:
    """Whether what is written comes of a packet that was made of what is read."""
    start, end = ((int(accesses.data[one]), int(accesses.lane[one])) for one in (read, write))
    return end in flags.after(start)


def _around(nodes: PlanNodes) -> tuple[Ints, Ints]:
    """Return the nop after each data operation, and the nop before it."""
    after = np.array([data.after[0] for data in nodes.data], dtype=np.int64)
    return after, np.array([data.before for data in nodes.data], dtype=np.int64)


def _finding(
    layout: PlanCells, moves: DataTransfers, one: int, other: int, relaxed: bool
) -> Finding:
    accesses, nodes = moves.accesses, moves.nodes
    data = [nodes.data[int(accesses.data[access])] for access in (one, other)]
    names = [nodes.name(each.node) for each in data]
    cell = _cell_in_words(layout, int(accesses.cell[one]))
    if data[0] is data[1]:
        message = f"{names[0]}: reads or writes twice what it writes, {cell}, shifted"
        return Finding.at(Kind.RACE, message, nodes.place(data[0].node))
    does = ["writes" if accesses.writes[access] else "reads" for access in (one, other)]
    same = data[0].before == data[1].before
    why = "with no nop between" if same else "in no order"
    why = f"with only relaxed signals between, {_RELAXED}" if relaxed else why
    message = f"{names[0]} {does[0]} and {names[1]} {does[1]} {cell}, {why}"
    return Finding.at(Kind.RACE, message, *(nodes.place(each.node) for each in data))


def _cell_in_words(layout: PlanCells, cell: int) -> str:
    """Name a cell by its GPU, buffer and chunk; aliased buffers go by the last of them."""
    base = layout.cells.base
    gpu = int(np.searchsorted(base.min(axis=1), cell, side="right")) - 1
    names = ("input", "output", "scratch")
    sizes = (layout.cells.inputs, layout.cells.outputs, layout.cells.size)
    for buffer in (2, 1, 0):
        offset = cell - int(base[gpu, buffer])
        if 0 <= offset < sizes[buffer]:
            return f"chunk {offset // layout.parts} of the {names[buffer]} of GPU {gpu}"
    raise AssertionError(f"cell {cell} is in no buffer")


def find_early_and_late(moves: DataTransfers, order: Order) -> Iterator[Finding]:
    """Report operations on remote buffers that may come before or after the launch there."""
    nodes = moves.nodes
    touches = [one for one in moves.touches if order.levels[nodes.data[one.data].node] >= 0]
    after, before = _around(nodes)
    data = np.array([one.data for one in touches], dtype=np.int64)
    gpu = np.array([one.gpu for one in touches], dtype=np.int64)
    writes = np.array([one.writes for one in touches], dtype=np.bool_)
    begin, end = (np.array(each, dtype=np.int64)[gpu] for each in (nodes.begin, nodes.end))
    in_time = order.are_before(begin, before[data], np.zeros(data.size, dtype=np.bool_))
    there = np.flatnonzero(order.levels[end] >= 0)
    over = np.ones(data.size, dtype=np.bool_)
    over[there] = order.are_before(after[data[there]], end[there], writes[there])
    for number in np.flatnonzero(~in_time).tolist():
        yield _outside(nodes, touches[number], "before its launch has begun", relaxed=False)
    late = np.flatnonzero(~over)
    ordered = order.are_before(after[data[late]], end[late], np.zeros(late.size, dtype=np.bool_))
    for number, relaxed in zip(late.tolist(), ordered.tolist(), strict=True):
        yield _outside(nodes, touches[number], "after its launch is over", relaxed=relaxed)


def _outside(nodes: PlanNodes, touch: Touch, when: str, *, relaxed: bool) -> Finding:
    data = nodes.data[touch.data]
    does = "write" if touch.writes else "read"
    way = "from" if "begun" in when else "to"
    remedy = f"a signal must lead {way} there"
    if relaxed:
        remedy = f"only relaxed signals lead there, {_RELAXED}"
    elif data.rank == touch.gpu:
        remedy = "wait for it with pwsf, or for a signal back from where it arrives"
    message = f"{nodes.name(data.node)}: may {does} a buffer of GPU {touch.gpu} {when}; {remedy}"
    return Finding.at(Kind.LAUNCH, message, nodes.place(data.node))
