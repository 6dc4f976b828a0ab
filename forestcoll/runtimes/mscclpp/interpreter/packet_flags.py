"""Packets: the flags for which readers wait, and the order that they give to single packets.

Problem: which write ends the wait of a reader, and which accesses do packets order?
Input:   the data operations of a launch.
Output:  edges from writers to readers; slots that several operations write; for each position of
         an operation, the operations before it and after it on the way of its packets.
Cost:    linear in packets; for each query, the packets on the way.
Source:  a packet has the number of its launch as flag, and its reader waits until it finds this
         number (LL16, LL8). So one write of a slot in a launch is right, and two cannot be told
         apart. Flags order no data but that of their packets. An operation makes the packet at a
         position of what is there in its sources, so what it reads there is read before anything
         that comes of this packet.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from forestcoll.runtimes.interpretation.findings import Finding, Kind
from forestcoll.runtimes.mscclpp.execution_plan import Span
from forestcoll.runtimes.mscclpp.interpreter.buffer_cells import PlanCells, Range
from forestcoll.runtimes.mscclpp.interpreter.nodes import Data, PlanNodes
from forestcoll.runtimes.mscclpp.interpreter.operand_rules import (
    ON_PACKETS,
    packets_of,
    positions_of,
)
from forestcoll.runtimes.mscclpp.interpreter.synchronisation import Links, Why

__all__ = ["Element", "PacketFlags", "packet_flags_of"]

Element = tuple[int, int]
"""A data operation, and a position within it: what one thread handles."""


@dataclass(slots=True)
class PacketFlags:
    """The packets of a launch.

    Attributes
    ----------
    pairs : list of (Element, Element)
        The writer of a packet, and a reader.
    """

    pairs: list[tuple[Element, Element]]
    _after: dict[Element, list[Element]] = field(default_factory=lambda: defaultdict(list))
    _before: dict[Element, list[Element]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for writer, reader in self.pairs:
            self._after[writer].append(reader)
            self._before[reader].append(writer)

    def after(self, start: Element) -> set[Element]:
        """Return what comes of the packets at a position, with itself."""
        return _closure(start, self._after)

    def before(self, start: Element) -> set[Element]:
        """Return what the packets at a position come of, with itself."""
        return _closure(start, self._before)


def _closure(start: Element, steps: dict[Element, list[Element]]) -> set[Element]:
    found, left = {start}, [start]
    while left:
        for one in steps.get(left.pop(), ()):
            if one not in found:
                found.add(one)
                left.append(one)
    return found


def packet_flags_of(layout: PlanCells, nodes: PlanNodes, links: Links) -> PacketFlags:
    """Match readers and writers of packets, and add the edges between them."""
    writers, readers = defaultdict[int, list[Element]](list), defaultdict[int, list[Element]](list)
    for number, data in enumerate(nodes.data):
        if data.operation.kind not in ON_PACKETS:
            continue
        read, written = _packets(layout, data)
        for cell, position in read:
            readers[cell].append((number, position))
        for cell, position in set(written) - set(read):  # to send a packet to itself is no write
            writers[cell].append((number, position))
    several = {tuple(one for one, _ in found) for found in writers.values() if len(found) > 1}
    for each in sorted(several):
        links.findings.append(_ambiguous(nodes, nodes.data[each[0]], nodes.data[each[1]]))
    pairs = [
        (writers[cell][0], reader)
        for cell, found in readers.items()
        if cell in writers
        for reader in found
    ]
    for writer, reader in dict.fromkeys((one, other) for (one, _), (other, _) in pairs):
        links.add(nodes.data[writer].node, nodes.data[reader].node, Why.PACKET)
    for cell, found in readers.items():
        for reader in dict.fromkeys(one for one, _ in found if cell not in writers):
            links.add(-1, nodes.data[reader].node, Why.PACKET)
    return PacketFlags(pairs)


def _packets(layout: PlanCells, data: Data) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the packets that an operation reads and those that it writes, with positions."""
    one = data.operation
    sides = zip((one.sources, one.targets), packets_of(one), strict=True)
    read, written = (
        [
            (start + nth, first + nth)
            for span, are_packets, first in zip(
                spans, flags, positions_of(one, len(spans), layout.cells.size), strict=True
            )
            if are_packets
            for start, size in _ranges(layout, data, span)
            for nth in range(size)
        ]
        for spans, flags in sides
    )
    return read, written


def _ranges(layout: PlanCells, data: Data, span: Span) -> list[Range]:
    block = layout.plan.gpus[data.rank].threadblocks[data.threadblock]
    share = data.operation.part, data.operation.parts
    return layout.ranges(data.rank, block, span, share, packets=True)


def _ambiguous(nodes: PlanNodes, one: Data, other: Data) -> Finding:
    message = (
        f"{nodes.name(one.node)} and {nodes.name(other.node)} write the same packets in one "
        f"launch, and their readers cannot tell them apart"
    )
    return Finding.at(Kind.RACE, message, nodes.place(one.node), nodes.place(other.node))
