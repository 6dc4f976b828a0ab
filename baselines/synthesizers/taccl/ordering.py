"""TACCL stage 2, ordering: the order of transfers on each link and port.

Problem: a total order of all transfers in which each follows the transfer that brings its chunk.
Cost:    a few heap operations for each transfer.
Source:  Shah et al., TACCL (NSDI 2023), section 4.2, and the three heuristics of its public code,
         chosen by the network: the longest remaining path first (boxes with switches); the earliest
         start, then chunks of the sender's own box (several boxes without switches); last hops
         placed first, backwards (one box without switches). The public code has other heuristics
         for reductions; ours are reversed.

A transfer can start when its chunk is there and earlier transfers have left its link and ports
free. Times only grow as more is placed, so a heap with stale entries gives the same order as
sorting all candidates each time. Of the transfers that wait for one link, the heap holds one.
Except with the second heuristic, the public code then sorts by the times of the routing, which
include no waiting.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from typing import NamedTuple

from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from baselines.synthesizers.taccl.routing import ChunkRoutes, Routing

__all__ = ["HEURISTICS", "Transfer", "heuristic_of", "ordered"]

HEURISTICS = ("farthest", "earliest", "last-hops")
"""Rules for the next transfer: longest remaining path, earliest start, or last hop last."""


class Transfer(NamedTuple):
    """A chunk sent over a logical link."""

    chunk: int
    link: int


_Numbers = tuple[int, ...]

_Kind = tuple[int, _Numbers]
"""A link, and the part of the rank that precedes the time."""

_Entry = tuple[_Numbers, int, _Numbers, Transfer]
"""A transfer after its rank: the part before the time, the time, the part after it."""


class _Known(NamedTuple):
    """Ticks from the source to the start of each transfer, and to the last GPU behind it."""

    travelled: Mapping[Transfer, int]
    left: Mapping[Transfer, int]


def heuristic_of(network: LogicalNetwork) -> str:
    """Return the heuristic that the public code uses for a network."""
    # A port of links inside a box belongs to a switch; see `_ports` of the logical network.
    switched = any(not network.links[i].remote for port in network.ports for i in port.links)
    if switched:
        return "farthest"
    return "earliest" if network.boxes > 1 else "last-hops"


def ordered(routing: Routing, routes: ChunkRoutes, heuristic: str) -> tuple[Transfer, ...]:
    """Order the transfers of routes by one of ``HEURISTICS``."""
    known = _known(routing, routes)
    placed = _placed(routing, routes, known, heuristic)
    if heuristic == "last-hops":
        placed.reverse()
    # Every transfer starts farther from the source than the one that brings its chunk, so the
    # sorted order respects arrivals. The sort is stable: placement decides between equal times.
    if heuristic != "earliest":
        placed.sort(key=lambda transfer: known.travelled[transfer])
    return tuple(placed)


def _known(routing: Routing, routes: ChunkRoutes) -> _Known:
    travelled: dict[Transfer, int] = {}
    left: dict[Transfer, int] = {}
    for chunk, links in enumerate(routes):
        start = routing.starts(chunk, links)
        after: dict[int, int] = {}
        # Latest starts first, so all onward transfers of a link are known before the link.
        for i in sorted(links, key=lambda i: start[routing.network.links[i].tail], reverse=True):
            link, transfer = routing.network.links[i], Transfer(chunk, i)
            travelled[transfer] = start[link.tail]
            left[transfer] = routing.ticks[i] + after.get(link.head, 0)
            after[link.tail] = max(after.get(link.tail, 0), left[transfer])
    return _Known(travelled, left)


def _placed(routing: Routing, routes: ChunkRoutes, known: _Known, heuristic: str) -> list[Transfer]:
    """Place one transfer after another; backwards in time for "last-hops"."""
    network, cost = routing.network, routing.ticks
    backwards = heuristic == "last-hops"
    resources = _resources(network)
    free: list[int] = [0] * (len(network.links) + len(network.ports))
    there: dict[tuple[int, int], int] = {}
    waiting, onward = _tree(network, routes, backwards=backwards)
    rank = _ranked(network, routing, known, heuristic)
    queue = _Queue(lambda link: max(free[each] for each in resources[link]))

    def add(transfer: Transfer) -> None:
        link = network.links[transfer.link]
        come = there.get((transfer.chunk, link.head if backwards else link.tail), 0)
        queue.add(transfer, come, *rank(transfer))

    for one, count in waiting.items():
        if not count:
            add(one)
    placed: list[Transfer] = []
    while (first := queue.pop()) is not None:
        time, transfer = first
        placed.append(transfer)
        done = time + cost[transfer.link]
        for each in resources[transfer.link]:
            free[each] = done
        queue.again(transfer)
        link = network.links[transfer.link]
        at = transfer.chunk, link.tail if backwards else link.head
        # Forwards a chunk enters a GPU once. Backwards the GPU waits for all onward transfers.
        there[at] = max(there.get(at, 0), done)
        for other in onward.get(transfer, ()):
            waiting[other] -= 1
            if not waiting[other]:
                add(other)
    return placed


class _Alike:
    """Transfers over one link whose ranks are equal before the time.

    Parameters
    ----------
    there : heap of (rank after the time, transfer)
        Chunks that arrive before the link is free.
    coming : heap of (arrival, rank after the time, transfer)
    """

    def __init__(self) -> None:
        self.there: list[tuple[_Numbers, Transfer]] = []
        self.coming: list[tuple[int, _Numbers, Transfer]] = []

    def first(self, free: int) -> tuple[int, _Numbers, Transfer] | None:
        """Return the first transfer once the link is free, with its earliest start."""
        # The link is never free earlier than before, so no chunk goes back to `coming`.
        while self.coming and self.coming[0][0] <= free:
            heapq.heappush(self.there, heapq.heappop(self.coming)[1:])
        if self.there:
            return (free, *self.there[0])
        return self.coming[0] if self.coming else None

    def pop(self) -> None:
        """Remove the transfer that `first` returned."""
        if self.there:
            heapq.heappop(self.there)
        else:
            heapq.heappop(self.coming)


class _Queue:
    """Candidates for the next place by rank; one entry for each kind.

    Parameters
    ----------
    free : callable
        The time from which a link and its ports are free; it never decreases.
    """

    def __init__(self, free: Callable[[int], int]) -> None:
        self.free = free
        self.alike: dict[_Kind, _Alike] = {}
        self.heap: list[_Entry] = []
        self.entered: dict[_Kind, _Entry] = {}
        self.kind: dict[Transfer, _Kind] = {}

    def add(self, transfer: Transfer, come: int, before: _Numbers, behind: _Numbers) -> None:
        """Enter a transfer with the arrival of its chunk and the two parts of its rank."""
        kind = self.kind[transfer] = (transfer.link, before)
        heapq.heappush(self.alike.setdefault(kind, _Alike()).coming, (come, behind, transfer))
        self._enter(kind)

    def again(self, transfer: Transfer) -> None:
        """Enter the next transfer of the kind of one that was placed."""
        self._enter(self.kind.pop(transfer))

    def pop(self) -> tuple[int, Transfer] | None:
        """Remove the transfer of least rank; return its start and it."""
        while self.heap:
            entry = heapq.heappop(self.heap)
            kind = self.kind.get(entry[-1])
            if kind is None or self.entered.get(kind) is not entry:
                continue  # another is entered in its place
            # Ranks only grow, so a stale entry ranks before its true place: enter it again.
            if self._entry(kind) != entry:
                self._enter(kind)
                continue
            self.alike[kind].pop()
            del self.entered[kind]
            return entry[1], entry[-1]
        return None

    def _entry(self, kind: _Kind) -> _Entry | None:
        first = self.alike[kind].first(self.free(kind[0]))
        return None if first is None else (kind[1], *first)

    def _enter(self, kind: _Kind) -> None:
        entry = self._entry(kind)
        if entry is not None and entry != self.entered.get(kind):
            self.entered[kind] = entry
            heapq.heappush(self.heap, entry)


def _resources(network: LogicalNetwork) -> list[list[int]]:
    """Return what a transfer over each link occupies: the link and, numbered after, its ports."""
    found = [[i] for i in range(len(network.links))]
    for number, port in enumerate(network.ports):
        for i in port.links:
            found[i].append(len(network.links) + number)
    return found


def _tree(
    network: LogicalNetwork, routes: ChunkRoutes, *, backwards: bool
) -> tuple[dict[Transfer, int], dict[Transfer, list[Transfer]]]:
    """Return for how many others each transfer waits, and which transfers wait for it."""
    waiting: dict[Transfer, int] = {}
    onward: dict[Transfer, list[Transfer]] = {}
    for chunk, links in enumerate(routes):
        brings = {network.links[i].head: Transfer(chunk, i) for i in links}
        # A set of links has no order of its own; sorted, they make schedules reproducible.
        for i in sorted(links):
            waiting.setdefault(Transfer(chunk, i), 0)
        for i in sorted(links):
            transfer = Transfer(chunk, i)
            feeder = brings.get(network.links[i].tail)
            if feeder is not None:
                first, then = (transfer, feeder) if backwards else (feeder, transfer)
                waiting[then] += 1
                onward.setdefault(first, []).append(then)
    return waiting, onward


def _ranked(
    network: LogicalNetwork, routing: Routing, known: _Known, heuristic: str
) -> Callable[[Transfer], tuple[_Numbers, _Numbers]]:
    """Return the rank of a transfer, least first, as the parts before and after its start time."""
    source, size, gpus = routing.exchange.source, network.size, network.gpus

    def rank(transfer: Transfer) -> tuple[_Numbers, _Numbers]:
        link = network.links[transfer.link]
        ends = (
            (link.tail - link.head) % gpus,
            link.head % size,
            link.tail % size,
            link.head // size,
        )
        left = known.left[transfer]
        if heuristic == "farthest":
            return (-left,), ends
        if heuristic == "last-hops":
            return (left, -known.travelled[transfer]), ends
        home = source[transfer.chunk] // size
        # Nothing precedes the start time: the earliest start decides.
        return (), (int(not link.tail // size == link.head // size == home), -left, *ends)

    return rank
