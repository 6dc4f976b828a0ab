"""TE-CCL's general program for a number of epochs: which chunk crosses which link in which epoch.

Problem: move all chunks to all who want them in K epochs.
Input:   a network in epochs, chunks with their sources and destinations, K.
Output:  rows over variables that are 0 or 1, for whichever solver.
Cost:    chunks x arcs x epochs variables, without those that no solution needs.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 3.1: capacity, flow conservation with copies,
         buffers, destinations, switches; appendices A (first epoch) and F (windows of epochs).

    held[q, n, k]   node n has chunk q when epoch k begins (B)
    sent[q, a, k]   chunk q is sent on arc a in epoch k (F)

- held[k + 1] = held[k] + what arrives at the end of epoch k: no node needs a chunk twice, so
  that both are 0 or 1 (in the paper buffers may count a chunk twice, which serves nothing).
- sent[q, a, k] <= held[q, tail, k]; out of a switch without a buffer each copy, or all together
  where it does not copy, <= what has come in by the epoch that fits.
- In any window of a group's length at most its capacity.
- A chunk is where it is wanted after the last epoch.

Nothing is there before it can be; nothing is sent that could not reach somebody who wants it in
time. Neither takes a solution away that is not another one's with useless transfers.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from baselines.synthesizers.teccl.commodities import Demand
from baselines.synthesizers.teccl.epochs import EpochNetwork

__all__ = ["NEVER", "EpochProgram", "Held", "Row", "Sent", "earliest", "write"]

NEVER = 1 << 60
"""The epoch of what cannot be reached."""

Sent = tuple[int, int, int]
"""Chunk, arc, epoch."""

Held = tuple[int, int, int]
"""Chunk, node, the epoch that begins."""


@dataclass(frozen=True, slots=True)
class Row:
    """The sum of ``plus`` less that of ``minus`` is at most ``bound``, or equal to it."""

    plus: tuple[int, ...]
    minus: tuple[int, ...]
    bound: int
    equal: bool = False


@dataclass
class EpochProgram:
    """Variables from 0 up, all 0 or 1, and rows.

    Parameters
    ----------
    epochs : int
        K.
    size : int
        Number of variables.
    sent : mapping
        The variable of each transfer that may be.
    rows : list of Row
    impossible : bool
        Whether a chunk cannot be where it is wanted in time, whatever else happens.
    held : mapping
        The variable of each chunk that a node may have before the last epoch is over.
    objective : mapping, optional
        What each variable is worth; the sum is to be as large as can be. Without one any solution
        will do.
    constant : Fraction
        What the objective is worth besides.
    """

    epochs: int
    size: int = 0
    sent: dict[Sent, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    impossible: bool = False
    held: dict[Held, int] = field(default_factory=dict)
    objective: dict[int, Fraction] | None = None
    constant: Fraction = Fraction(0)

    def new(self) -> int:
        """Add a variable."""
        self.size += 1
        return self.size - 1


def earliest(network: EpochNetwork, root: int, *, backwards: bool = False) -> list[int]:
    """Return the first epoch before which a chunk of a rank can be at each node.

    Of a switch without a buffer, that after the one at whose end it has come in. ``backwards``: of
    the root instead, with every arc turned round; what is left to go to it from each node.
    """
    arcs = network.into() if backwards else network.out_of()
    first = [NEVER] * network.nodes
    first[root] = 0
    queue = [(0, root)]
    while queue:
        now, node = heapq.heappop(queue)
        if now > first[node]:
            continue
        for i in arcs[node]:
            arc = network.arcs[i]
            there = arc.tail if backwards else arc.head
            then = now + arc.offset + arc.span
            if then < first[there]:
                first[there] = then
                heapq.heappush(queue, (then, there))
    return first


def write(network: EpochNetwork, demand: Demand, epochs: int) -> EpochProgram:
    """Write the program down for so many epochs."""
    program = EpochProgram(epochs)
    reached = {root: earliest(network, root) for root in set(demand.roots)}
    left = {rank: earliest(network, rank, backwards=True) for rank in _all(demand.wants)}
    for chunk, (root, wants) in enumerate(zip(demand.roots, demand.wants, strict=True)):
        near = [min(left[rank][node] for rank in wants) for node in range(network.nodes)]
        if any(reached[root][rank] > epochs for rank in wants):
            program.impossible = True
            return program
        _Chunk(program, network, chunk, root, wants, reached[root], near).write()
    _limit_loads(program, network)
    return program


def _all(wants: Iterable[frozenset[int]]) -> list[int]:
    return sorted({rank for ranks in wants for rank in ranks})


@dataclass
class _Chunk:
    """What is said of one chunk; times at nodes as :func:`earliest` has them."""

    program: EpochProgram
    network: EpochNetwork
    chunk: int
    root: int
    wants: frozenset[int]
    first: list[int]
    near: list[int]
    arrivals: Mapping[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    departures: Mapping[tuple[int, int], list[int]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def write(self) -> None:
        for i in range(len(self.network.arcs)):
            self._send(i)
        for node in range(self.network.nodes):
            if node == self.root:
                continue
            if self.network.holds(node):
                self._hold(node)
            else:
                self._pass_on(node)

    def _send(self, i: int) -> None:
        """Make the variables of an arc."""
        arc, program = self.network.arcs[i], self.program
        if arc.head == self.root:
            return
        last = program.epochs - self.near[arc.head] - arc.span - 1
        for epoch in range(self.first[arc.tail] + arc.offset - 1, last + 1):
            variable = program.new()
            program.sent[self.chunk, i, epoch] = variable
            self.departures[arc.tail, epoch + 1 - arc.offset].append(variable)
            self.arrivals[arc.head, epoch + arc.span + 1].append(variable)

    def _hold(self, node: int) -> None:
        """A node has a chunk once it has come, and sends only what it has."""
        rows, epochs = self.program.rows, self.program.epochs
        leaving = [time for tail, time in self.departures if tail == node]
        last = epochs if node in self.wants else max(leaving, default=-1)
        held: int | None = None
        for time in range(self.first[node], last + 1):
            came = tuple(self.arrivals.get((node, time), ()))
            before = () if held is None else (held,)
            if time == epochs:
                rows.append(Row(before + came, (), 1, equal=True))
                return
            held = self.program.held[self.chunk, node, time] = self.program.new()
            rows.append(Row((*before, *came), (held,), 0, equal=True))
            for variable in self.departures.get((node, time), ()):
                rows.append(Row((variable,), (held,), 0))

    def _pass_on(self, node: int) -> None:
        """A switch without a buffer passes on what has just come in."""
        for time in sorted({time for tail, time in self.departures if tail == node}):
            came = tuple(self.arrivals.get((node, time), ()))
            gone = self.departures[node, time]
            each = [(variable,) for variable in gone] if self.network.copies(node) else [(*gone,)]
            self.program.rows.extend(Row(together, came, 0) for together in each)


def _limit_loads(program: EpochProgram, network: EpochNetwork) -> None:
    """Keep every group within its capacity in every window."""
    on: dict[tuple[int, int], list[int]] = defaultdict(list)
    for (_, i, epoch), variable in program.sent.items():
        on[i, epoch].append(variable)
    for group in network.groups:
        for end in range(program.epochs):
            window = range(max(0, end + 1 - group.window), end + 1)
            together = tuple(
                x for i in group.arcs for epoch in window for x in on.get((i, epoch), ())
            )
            if len(together) > group.capacity:
                program.rows.append(Row(together, (), group.capacity))
