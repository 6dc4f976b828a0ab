"""Expansions: larger networks and their schedules from smaller ones.

Problem: derive an allgather on a line graph, a degree expansion, a Cartesian power or a network
         with its reverse from an allgather on the network itself, without a new solution.
Output:  the larger network, and an allgather on it.
Source:  Zhao et al. (NSDI 2025), section 5 and appendix A: definitions 1, 2 and 14, A.6; theorems
         7, 11 and 12 say what the results take. Networks: :mod:`forestcoll.topology.operations`.

The product of different networks has no expansion here: a breadth-first broadcast of the product
is as good (Theorem 13). A link of m units stands for m parallel links, so its load is cut into m
parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from baselines.building.composing import hop_by_hop
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.sends import Chunks, Intervals, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import Exact
from forestcoll.topology.operations import (
    both_ways,
    cartesian_power,
    common_unit,
    degree_expansion,
    line_graph,
)

__all__ = [
    "on_both_ways", "on_degree_expansion", "on_line_graph", "on_power", "parallel_links",
]  # fmt: skip

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Transfers of pieces, ``pieces`` to a shard; the root names the chunk."""

    step: Ints
    source: Ints
    tail: Ints
    head: Ints
    first: Ints
    amount: Ints
    pieces: int

    @classmethod
    def of(cls, schedule: StepSchedule) -> _Rows:
        """Read an allgather whose chunks are whole shards."""
        sends, chunks = schedule.sends, schedule.chunks
        size = schedule.topology.num_compute
        whole = (np.sort(chunks.root) == np.arange(size)).all() if len(chunks) == size else False
        if schedule.collective != "allgather" or not whole or schedule.clock is not None:
            raise UnsupportedError(
                "unsupported: expansions are of allgathers in steps with one chunk a shard"
            )
        interval = schedule.intervals
        columns = (sends.step, chunks.root[sends.chunk], sends.tail, sends.head)
        step, source, tail, head = (column.astype(np.int64) for column in columns)
        pieces = int(chunks.size[0])
        return cls(step, source, tail, head, interval.first, interval.amount, pieces)

    def finer(self, times: int) -> _Rows:
        first, amount, pieces = (self.first * times, self.amount * times, self.pieces * times)
        return replace(self, first=first, amount=amount, pieces=pieces)


def _built(topology: Topology, method: str, parts: list[_Rows]) -> StepSchedule:
    def column(name: str) -> Ints:
        return np.concatenate([getattr(part, name) for part in parts])

    size, pieces = topology.num_compute, parts[0].pieces
    interval = Intervals(column("first"), column("amount"))
    named = (column(name) for name in ("step", "source", "tail", "head"))
    chunks = Chunks.equal(range(size), whole=size * pieces, size=pieces)
    sends = Sends.sorted(*named, interval=interval)
    return hop_by_hop(topology, method, "allgather", chunks, sends)


def _whole(step: int, source: Ints, tail: Ints, head: Ints, pieces: int) -> _Rows:
    count = len(source)
    return _Rows(
        *(np.full(count, step, dtype=np.int64), source, tail, head),
        *(np.zeros(count, dtype=np.int64), np.full(count, pieces, dtype=np.int64), pieces),
    )


class _Fan:
    """Lists of numbers by node, for whole arrays of nodes at once."""

    def __init__(self, key: Ints, size: int) -> None:
        self._order = np.argsort(key, kind="stable")
        self._first = np.searchsorted(key[self._order], np.arange(size + 1))

    def of(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the entries of the nodes' lists, each with its owner's place in ``nodes``."""
        count = self._first[nodes + 1] - self._first[nodes]
        whose = np.repeat(np.arange(len(nodes)), count)
        before = np.repeat(np.cumsum(count) - count, count)
        place = np.arange(len(whose)) - before + np.repeat(self._first[nodes], count)
        return whose, self._order[place]


def on_line_graph(schedule: StepSchedule, unit_gb_s: Exact | None = None) -> StepSchedule:
    """Carry an allgather over to the line graph (definition 1); one step more.

    First every new node sends to its successors. Then a transfer from v to u becomes one from each
    link into v to each link out of u. ``unit_gb_s`` is the bandwidth of a link, as for the network.
    """
    topology, rows = schedule.topology, _Rows.of(schedule)
    larger = line_graph(topology, unit_gb_s=unit_gb_s)
    copies, start = parallel_links(topology, larger)
    ends = np.array([(link.tail, link.head) for link in topology.links], dtype=np.int64)
    tails, heads = np.repeat(ends[:, 0], copies), np.repeat(ends[:, 1], copies)
    into, out_of = _Fan(heads, topology.num_compute), _Fan(tails, topology.num_compute)
    rows, copy = _on_copies(rows, topology, copies, start)
    source, behind = out_of.of(heads)
    other = source != behind
    first = _whole(0, source[other], source[other], behind[other], rows.pieces)
    # Each transfer for every link into its source, and of these for every link out of its head.
    one, root = into.of(rows.source)
    two, head = out_of.of(rows.head[one])
    row, root = one[two], root[two]
    other = root != head
    row, root, head = row[other], root[other], head[other]
    then = _Rows(
        *(rows.step[row] + 1, root, copy[row], head),
        *(rows.first[row], rows.amount[row], rows.pieces),
    )
    return _built(larger, schedule.method, [first, then])


def parallel_links(topology: Topology, larger: Topology) -> tuple[Ints, Ints]:
    """Return how many GPUs of the line graph each link has become, and the first of them."""
    widths = [link.bandwidth_gb_s for link in topology.links]
    total = sum(widths)
    copies = np.array([int(w * larger.num_compute / total) for w in widths], dtype=np.int64)
    return copies, np.cumsum(copies) - copies


def _on_copies(rows: _Rows, topology: Topology, copies: Ints, start: Ints) -> tuple[_Rows, Ints]:
    """Divide the load of a link among its units, and return the new node that carries each part."""
    rows = rows.finer(math.lcm(*copies.tolist()))
    size = topology.num_compute
    keys = np.array([link.tail * size + link.head for link in topology.links], dtype=np.int64)
    link = np.searchsorted(keys, rows.tail * size + rows.head)
    count = copies[link]
    row = np.repeat(np.arange(len(link)), count)
    number = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    part = rows.amount[row] // count[row]
    cut = _Rows(
        *(rows.step[row], rows.source[row], rows.tail[row], rows.head[row]),
        *(rows.first[row] + number * part, part, rows.pieces),
    )
    return cut, start[link[row]] + number


def on_degree_expansion(schedule: StepSchedule, times: int) -> StepSchedule:
    """Carry an allgather over to the degree expansion (definition 2); one step more.

    The data of a copy stays among the copies of its number until the last hop, which reaches all
    copies of a node. Then the copies of one node get each other's data from all predecessors.
    """
    topology, rows = schedule.topology, _Rows.of(schedule)
    larger = degree_expansion(topology, times)
    size = topology.num_compute
    node = np.arange(size * times, dtype=np.int64).reshape(size, times)  # of a node, its copies
    arriving = _units_of_links(topology)
    degree = np.bincount(arriving[:, 1], minlength=size) * times
    rows = rows.finer(math.lcm(*degree.tolist()))
    pieces = rows.pieces
    i, j = (axis.ravel() for axis in np.indices((times, times)))
    row = np.repeat(np.arange(len(rows.step)), len(i))
    i, j = np.tile(i, len(rows.step)), np.tile(j, len(rows.step))
    spread = _Rows(
        *(rows.step[row], node[rows.source[row], j], node[rows.tail[row], j]),
        *(node[rows.head[row], i], rows.first[row], rows.amount[row]),
        pieces=pieces,
    )
    last = int(rows.step.max()) + 1
    return _built(larger, schedule.method, [spread, _among_copies(arriving, node, last, pieces)])


def _units_of_links(topology: Topology) -> Ints:
    """Tail and head of every link, once for each common unit of bandwidth."""
    unit = common_unit(topology)
    units = [int(link.bandwidth_gb_s / unit) for link in topology.links]
    ends = np.array([(link.tail, link.head) for link in topology.links], dtype=np.int64)
    return np.repeat(ends, units, axis=0)


def _among_copies(arriving: Ints, node: Ints, step: int, pieces: int) -> _Rows:
    """Send each copy the data of the other copies of its node, equally over its links' units."""
    size, times = node.shape
    sources, heads = (axis.ravel() for axis in np.indices((times, times)))
    sources, heads = sources[sources != heads], heads[sources != heads]
    into = _Fan(arriving[:, 1], size)
    at, link = into.of(np.arange(size))
    # Every link into a node comes from each copy of its tail.
    tail = node[arriving[link, 0]].ravel()
    at = np.repeat(at, times)
    count = np.bincount(at, minlength=size)
    number = np.arange(len(at)) - (np.cumsum(count) - count)[at]
    part = pieces // count[at]
    pairs = len(sources)
    at, tail, number, part = (np.repeat(column, pairs) for column in (at, tail, number, part))
    whose, head = np.tile(sources, len(at) // pairs), np.tile(heads, len(at) // pairs)
    steps = np.full(len(at), step, dtype=np.int64)
    return _Rows(steps, node[at, whose], tail, node[at, head], number * part, part, pieces)


def on_power(schedule: StepSchedule, exponent: int) -> StepSchedule:
    """Carry an allgather over to the Cartesian power (definition 14); that many times the steps.

    The i-th part of every shard goes along dimension i first, then with all gathered data along the
    next dimension, cyclically. So the parts use different links in every step.
    """
    topology, rows = schedule.topology, _Rows.of(schedule)
    larger = cartesian_power(topology, exponent)
    steps = int(rows.step.max()) + 1
    parts = [
        _along(rows, topology.num_compute, exponent, first=part, phase=phase, steps=steps)
        for part in range(exponent)
        for phase in range(exponent)
    ]
    return _built(larger, schedule.method, parts)


def _along(rows: _Rows, size: int, exponent: int, *, first: int, phase: int, steps: int) -> _Rows:
    """Return the transfers of one dimension of one part, for all places in the other dimensions."""
    before, after = size**phase, size ** (exponent - phase - 1)
    count = len(rows.step)
    row, x, y, z = (
        axis.ravel() for axis in np.indices((count, before, before, after), dtype=np.int64)
    )

    def place(done: Ints, here: Ints) -> Ints:
        """Number the node with these coordinates, from dimension ``first`` on."""
        coordinates = [*_digits(done, size, phase), here, *_digits(z, size, exponent - phase - 1)]
        number = np.zeros_like(here)
        for axis in range(exponent):
            number = number * size + coordinates[(axis - first) % exponent]
        return number

    return _Rows(
        rows.step[row] + phase * steps,
        *(place(x, rows.source[row]), place(y, rows.tail[row]), place(y, rows.head[row])),
        *(rows.first[row] + first * rows.pieces, rows.amount[row], exponent * rows.pieces),
    )


def _digits(number: Ints, size: int, count: int) -> list[Ints]:
    return [number // size ** (count - 1 - i) % size for i in range(count)]


def on_both_ways(schedule: StepSchedule, reverse: StepSchedule) -> StepSchedule:
    """Join an allgather and one of the reverse network, half of every shard each (A.6)."""
    topology = schedule.topology
    if reverse.topology.links != topology.reversed().links:
        raise UnsupportedError("unsupported: the second schedule is not on the reverse network")
    one, two = _Rows.of(schedule), _Rows.of(reverse)
    pieces = math.lcm(one.pieces, two.pieces)
    one, two = one.finer(pieces // one.pieces), two.finer(pieces // two.pieces)
    halves = [
        _Rows(
            *(half.step, half.source, half.tail, half.head),
            *(half.first + offset, half.amount, 2 * pieces),
        )
        for half, offset in ((one, 0), (two, pieces))
    ]
    return _built(both_ways(topology), schedule.method, halves)
