"""Slots of packets across launches: no write may come before the last reads are over.

Problem: a slot is written again one launch later, or two launches later if scratch has two halves.
Input:   the packets of a launch; the order of its nodes.
Output:  writes that a later launch may do too early.
Cost:    a query for each pair of an operation on packets and a GPU; then the packets on the way.
Source:  a path from the read to the later write leads over the ends and beginnings of launches in
         between: launches of a GPU follow each other. Launches of other plans, which would use a
         half of scratch twice in a row, are not considered.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from forestcoll.runtimes.interpretation.cells import Bools, Ints
from forestcoll.runtimes.interpretation.findings import Finding, Kind
from forestcoll.runtimes.mscclpp.interpreter.nodes import Data, PlanNodes
from forestcoll.runtimes.mscclpp.interpreter.packet_flags import Element, PacketFlags
from forestcoll.runtimes.mscclpp.interpreter.races import Order

__all__ = ["find_early_packets"]


def find_early_packets(flags: PacketFlags, order: Order, *, two_halves: bool) -> Iterator[Finding]:
    """Report writes of packets that a later launch may do before the last reads are over."""
    nodes = order.nodes
    if not flags.pairs or (order.levels < 0).any():
        return
    slots = _Slots(flags, order, two_halves)
    seen = set[tuple[int, int]]()
    for writer, reader in flags.pairs:
        pair = writer[0], reader[0]
        if pair not in seen and not slots.are_safe(writer, reader):
            seen.add(pair)
            one, other = (nodes.data[number] for number in pair)
            yield _early(nodes, one, other, two_halves)


class _Slots:
    """For each operation on packets, the launches that begin before it and end after it."""

    def __init__(self, flags: PacketFlags, order: Order, two_halves: bool) -> None:
        self.flags = flags
        nodes = order.nodes
        begin, end = np.array(nodes.begin), np.array(nodes.end)
        numbers = sorted({number for pair in flags.pairs for number, _ in pair})
        self._row = {number: row for row, number in enumerate(numbers)}
        after = np.array([nodes.data[one].after[0] for one in numbers])
        before = np.array([nodes.data[one].before for one in numbers])
        self._over = _table(order, after, end)
        if two_halves:
            # The launch in between, from its beginning at one GPU to its end at another.
            between = _table(order, begin, end).astype(np.int64)
            self._over |= (self._over.astype(np.int64) @ between) > 0
        self._begun = _table(order, begin, before).T
        self._known: dict[tuple[str, Element], Bools] = {}

    def are_safe(self, writer: Element, reader: Element) -> bool:
        """Return whether a later launch writes a slot only after it was read in this one."""
        return bool((self._over_at(reader) & self._begun_at(writer)).any())

    def _over_at(self, reader: Element) -> Bools:
        """Return the GPUs at whose end of launch a read is over."""
        key = "over", reader
        if key not in self._known:
            rows = [self._row[number] for number, _ in self.flags.after(reader)]
            self._known[key] = np.any(self._over[rows], axis=0)
        return self._known[key]

    def _begun_at(self, writer: Element) -> Bools:
        """Return the GPUs whose launch has begun before a write."""
        key = "begun", writer
        if key not in self._known:
            rows = [self._row[number] for number, _ in self.flags.before(writer)]
            self._known[key] = np.any(self._begun[rows], axis=0)
        return self._known[key]


def _table(order: Order, first: Ints, second: Ints) -> Bools:
    """Return whether each node of the first ones is over at each of the second ones."""
    pairs = np.repeat(first, second.size), np.tile(second, first.size)
    return order.are_over(*pairs).reshape(first.size, second.size)


def _early(nodes: PlanNodes, writer: Data, reader: Data, two_halves: bool) -> Finding:
    later = "the launch after the next" if two_halves else "the next launch"
    message = (
        f"{nodes.name(writer.node)}: in {later} it may write over packets that "
        f"{nodes.name(reader.node)} has not read; a signal or packet must lead from there"
    )
    return Finding.at(Kind.LAUNCH, message, nodes.place(writer.node), nodes.place(reader.node))
