"""Reads, sums and writes of data operations: single parts of chunks, in the order of a run.

Problem: operations add up many operands and write to many places.
Input:   data operations, cells of spans.
Output:  units for :mod:`forestcoll.runtimes.interpretation.one_run`; the accesses to each cell.
Cost:    linear in the parts that are moved.
Source:  the kernel of MSCCL++: an operation adds its sources up in their order, then writes the sum
         to all its targets; a switch reduces what all its GPUs have, and writes to all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from forestcoll.runtimes.interpretation.cells import Bools, Ints
from forestcoll.runtimes.interpretation.findings import Place
from forestcoll.runtimes.interpretation.one_run import Units
from forestcoll.runtimes.mscclpp.execution_plan import Span
from forestcoll.runtimes.mscclpp.interpreter.buffer_cells import PlanCells, Range
from forestcoll.runtimes.mscclpp.interpreter.nodes import Data, PlanNodes
from forestcoll.runtimes.mscclpp.interpreter.operand_rules import (
    is_over_port,
    packets_of,
    positions_of,
)

__all__ = ["Accesses", "DataTransfers", "Touch", "data_moves_of"]

_NOWHERE = -1
_PAIRED = ("copy", "put", "pws", "pwsf", "get", "ppkt")


@dataclass(frozen=True, slots=True)
class Accesses:
    """Accesses sorted by cell, then in the order of the run; of one operation, reads first.

    Parameters
    ----------
    cell, data : ndarray (accesses,)
        The cell, and the data operation that accesses it.
    lane : ndarray (accesses,)
        Position within the operation: one thread handles the same position of all spans.
    writes : ndarray (accesses,)
    """

    cell: Ints
    data: Ints
    lane: Ints
    writes: Bools


@dataclass(frozen=True, slots=True)
class Touch:
    """A data operation that accesses a buffer outside the launch that holds it.

    The buffer is of another GPU; or its own, if a port channel reads it after the operation.
    Packets are no such accesses, since only readers of this plan look at them.
    """

    data: int
    gpu: int
    writes: bool


@dataclass(frozen=True, slots=True)
class DataTransfers:
    """Data transfers of a launch.

    Parameters
    ----------
    units : Units
        Their actions are rows, which are single additions or copies of one operation.
    data : ndarray (rows,)
        The data operation of each row.
    level : ndarray (rows,)
        -1 for rows that never run.
    accesses : Accesses
        Of the rows that run.
    """

    nodes: PlanNodes
    units: Units
    data: Ints
    level: Ints
    accesses: Accesses
    touches: tuple[Touch, ...]

    def name_of(self, action: int) -> str:
        """Name the operation of a row."""
        return self.nodes.name(self.nodes.data[int(self.data[action])].node)

    def place_of(self, action: int) -> Place:
        """Return the place of a row's operation."""
        return self.nodes.place(self.nodes.data[int(self.data[action])].node)


@dataclass(slots=True)
class _Rows:
    """Additions and copies, each of as many cells as its length."""

    data: list[int] = field(default_factory=list)
    turn: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    lane: list[int] = field(default_factory=list)
    carried: int = 0

    def add(
        self, data: int, turn: int, sources: tuple[int, int], target: int, size: int, lane: int
    ) -> int:
        """Add a row; return the offset of its payload among all payloads."""
        columns = (self.data, self.turn, self.first, self.second, self.target, self.size, self.lane)
        row = (data, turn, *sources, target, size, lane)
        for column, value in zip(columns, row, strict=True):
            column.append(value)
        self.carried += size
        return self.carried - size


def data_moves_of(layout: PlanCells, nodes: PlanNodes, levels: Ints) -> DataTransfers:
    """Return the data transfers, given the levels of nodes."""
    rows, touches = _Rows(), list[Touch]()
    for number, each in enumerate(nodes.data):
        _rows_of(layout, number, each, rows)
        touches += _touches(layout, number, each)
    columns = (rows.data, rows.turn, rows.first, rows.second, rows.target, rows.size, rows.lane)
    data, turn, first, second, target, size, lane = (np.array(one, np.int64) for one in columns)
    action = np.repeat(np.arange(size.size), size)
    nth = np.arange(action.size) - np.repeat(np.cumsum(size) - size, size)

    def spread(start: Ints) -> Ints:
        return np.where(start[action] == _NOWHERE, _NOWHERE, start[action] + nth)

    cells = layout.cells.size
    units = Units(action, spread(first), spread(second), spread(target), cells)
    node = np.array([each.node for each in nodes.data], dtype=np.int64)
    level = levels[node[data]]
    longest = int(turn.max(initial=0)) + 1  # rows of an operation run within its level, by turn
    accesses = _accesses(units, data, level, lane[action] + nth)
    return DataTransfers(
        nodes,
        units,
        data,
        np.where(level < 0, -1, level * longest + turn),
        accesses,
        tuple(touches),
    )


def _rows_of(layout: PlanCells, number: int, data: Data, rows: _Rows) -> None:
    one = data.operation
    packets = packets_of(one)
    sources = [
        each
        for span, flag in zip(one.sources, packets[0], strict=True)
        for each in _ranges(layout, data, span, flag)
    ]
    targets = [
        each
        for span, flag in zip(one.targets, packets[1], strict=True)
        for each in _ranges(layout, data, span, flag)
    ]
    if one.kind in _PAIRED:
        lanes = positions_of(one, len(sources), layout.cells.size)
        for (first, size), (start, _), lane in zip(sources, targets, lanes, strict=True):
            rows.add(number, 0, (first, _NOWHERE), start, size, lane)
    elif targets:
        _sum(layout, number, sources, targets, rows)
    else:
        for first, size in sources:  # it only waits for packets
            rows.add(number, 0, (first, _NOWHERE), _NOWHERE, size, 0)


def _sum(
    layout: PlanCells,
    number: int,
    sources: Sequence[Range],
    targets: Sequence[Range],
    rows: _Rows,
) -> None:
    """Add up sources one by one; write the sum to the first target, and copy it to the others."""
    (held, size), *others = sources
    first, *more = [start for start, _ in targets]
    turn = 0
    for turn, (added, _) in enumerate(others):
        last = turn + 1 == len(others)
        target = first if last else _NOWHERE
        held = layout.cells.size + rows.add(number, turn, (held, added), target, size, 0)
    if not others:
        more = [first, *more]
    for target in more:
        rows.add(number, turn + 1, (held, _NOWHERE), target, size, 0)


def _ranges(layout: PlanCells, data: Data, span: Span, packets: bool) -> list[Range]:
    one = data.operation
    block = layout.plan.gpus[data.rank].threadblocks[data.threadblock]
    if data.round < 0:
        return layout.ranges(data.rank, block, span, (one.part, one.parts), packets=packets)
    whole = layout.ranges(data.rank, block, span, (0, 1))
    return [(start + data.round, 1) for start, _ in whole]


def _touches(layout: PlanCells, number: int, data: Data) -> list[Touch]:
    block = layout.plan.gpus[data.rank].threadblocks[data.threadblock]
    packets = packets_of(data.operation)
    sides = (
        (data.operation.sources, packets[0], False),
        (data.operation.targets, packets[1], True),
    )
    later = is_over_port(data.operation)
    found = {
        Touch(number, owner, writes)
        for spans, flags, writes in sides
        for span, are_packets in zip(spans, flags, strict=True)
        for owner, _ in layout.owners(data.rank, block, span)
        if (owner != data.rank or (later and not writes)) and not are_packets
    }
    return sorted(found, key=lambda one: (one.gpu, one.writes))


def _accesses(units: Units, data: Ints, level: Ints, lane: Ints) -> Accesses:
    done = np.flatnonzero(level[units.action] >= 0)
    parts = [
        # From ``cells`` on, operands are sums on their way, which are in no buffer.
        (done[units.first[done] < units.cells], units.first, False),
        (done[units.second[done] >= 0], units.second, False),
        (done[units.target[done] >= 0], units.target, True),
    ]
    unit = np.concatenate([some for some, _, _ in parts])
    cell = np.concatenate([places[some] for some, places, _ in parts])
    writes = np.concatenate([np.full(some.size, write) for some, _, write in parts])
    row = units.action[unit]
    order = np.lexsort((writes, data[row], level[row], cell))
    return Accesses(cell[order], data[row][order], lane[unit][order], writes[order])
