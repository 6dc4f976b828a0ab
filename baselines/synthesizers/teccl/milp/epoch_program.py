"""TE-CCL's integer program for a number of epochs: chunks by link and epoch.

Problem: deliver all chunks in K epochs.
Output:  rows over variables that are 0 or 1, for any solver.
Cost:    chunks x arcs x epochs variables, without those that no solution needs.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 3.1: capacity, flow conservation with copies,
         buffers, destinations, switches; appendices A (first epoch), B and F (windows of epochs).

    held[q, n, k]   node n has chunk q when epoch k begins (B)
    sent[q, a, k]   chunk q is sent on arc a in epoch k (F)

- Buffers: held[k + 1] = held[k] + arrivals at the end of epoch k. No node needs a chunk twice, so
  both are 0 or 1. The paper's buffers may count a chunk twice, which gains nothing.
- Conservation with copies: sent[q, a, k] <= held[q, tail, k]. Out of a switch without a buffer each
  copy, or their sum if it does not copy, is at most the arrivals by the epoch that fits.
- Few slots (:mod:`baselines.synthesizers.teccl.instance.epochs`): held[k + 1] <= held[k] +
  arrivals, since a chunk may be dropped and arrive again. The sum at a node is at most its slots,
  and each destination receives the chunk at least once.
- Capacity: in any window of a group at most its capacity; while a link is slow, at most what it
  carries in a window from each such epoch.
- Destinations have their chunks after the last epoch.
- Stages (an allreduce as several demands, section 2): a chunk that is a sum leaves its source only
  when all its parts are there: sent[q, a, k] <= held[p, source, k].

Variables exist only from the earliest time at which a chunk can be at a node, and only if it can
still reach a destination in time. Every solution without useless transfers remains.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import Buffers, EpochNetwork
from forestcoll.errors import TimeLimitError

__all__ = [
    "NEVER", "EpochProgram", "Held", "Row", "Sent", "VariablesByEpoch", "arrivals", "earliest",
    "first_times", "limit_loads", "write",
]  # fmt: skip

NEVER = 1 << 60
"""Epoch of unreachable nodes."""

Sent = tuple[int, int, int]
"""Chunk, arc, epoch."""

Held = tuple[int, int, int]
"""Chunk, node, and the epoch that begins."""


VariablesByEpoch = dict[int, list[int]]
"""Variables by epoch."""


class Row(NamedTuple):
    """The sum of ``plus`` minus that of ``minus`` is at most ``bound``, or equal to it."""

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
        The variable of each possible transfer.
    stored : mapping
        With few slots, the variables of the chunks in a node's buffer in an epoch.
    impossible : bool
        Whether some chunk cannot arrive in time.
    held : mapping
        The variable of each chunk at a node before the last epoch is over.
    objective : mapping, optional
        Value of each variable, to be maximised. Without one, any solution is accepted.
    constant : Fraction
        Constant of the objective.
    """

    epochs: int
    size: int = 0
    sent: dict[Sent, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    stored: dict[tuple[int, int], list[int]] = field(default_factory=dict)
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

    At a switch without a buffer: the epoch after the one at whose end it arrives. ``backwards``:
    the epochs from each node to the root, on the network with every arc reversed.
    """
    return first_times(network, [(0, root)], backwards=backwards)


def first_times(
    network: EpochNetwork, starts: Iterable[tuple[int, int]], *, backwards: bool = False
) -> list[int]:
    """Return the same for a chunk that is at several nodes, from (time, node) of each on."""
    arcs = network.into() if backwards else network.out_of()
    first = [NEVER] * network.nodes
    queue = sorted(starts)
    while queue:
        now, node = heapq.heappop(queue)
        if now >= first[node]:
            continue
        first[node] = now
        for i in arcs[node]:
            arc = network.arcs[i]
            there = arc.tail if backwards else arc.head
            # No epoch is before the first, even where a switch passes on what is still arriving.
            sent = now + arc.offset - 1 if backwards else max(now + arc.offset - 1, 0)
            if sent + arc.span + 1 < first[there]:
                heapq.heappush(queue, (sent + arc.span + 1, there))
    return first


def arrivals(network: EpochNetwork, demand: Demand) -> list[list[int]]:
    """Return for each chunk the first epoch before which it can be at each node."""
    alone = {root: earliest(network, root) for root in set(demand.roots)}
    first: list[list[int]] = []
    for chunk, root in enumerate(demand.roots):
        begin = max((first[part][root] for part in demand.parts_of(chunk)), default=0)
        first.append(first_times(network, [(begin, root)]) if begin else alone[root])
    return first


def write(
    network: EpochNetwork,
    demand: Demand,
    epochs: int,
    *,
    due: Sequence[int] = (),
    deadline: float = math.inf,
) -> EpochProgram:
    """Write the program for a number of epochs.

    Parameters
    ----------
    due : sequence of int
        For the first chunks, their own numbers of epochs.
    deadline : float
        By the clock ``time.monotonic``.

    Raises
    ------
    TimeLimitError
        If the deadline passes before the program is written.
    """
    program = EpochProgram(max(epochs, *due, 0))
    reached = arrivals(network, demand)
    targets = sorted(frozenset().union(*demand.wants))
    left = {rank: earliest(network, rank, backwards=True) for rank in targets}
    loads: list[VariablesByEpoch] = [{} for _ in network.arcs]
    rest, lasts = _rests(demand, left), list[int]()
    for chunk, (root, wants) in enumerate(zip(demand.roots, demand.wants, strict=True)):
        _check_time(network, deadline)
        last = (due[chunk] if chunk < len(due) else epochs) - rest.get(chunk, 0)
        if any(reached[chunk][rank] > last for rank in wants):
            # Distances alone exclude this number of epochs, so no solver has to.
            program.impossible = True
            return program
        # A copy is useful if it can still reach any one destination in time.
        near = list(map(min, zip(*(left[rank] for rank in wants), strict=True)))
        lasts.append(last)
        made = _Chunk(program, network, loads, chunk, last, root, wants, reached[chunk], near)
        made.write()
        made.begin_after([(part, lasts[part]) for part in demand.parts_of(chunk)])
    _check_time(network, deadline)
    limit_loads(program, network, loads)
    if network.buffers is not None:
        for together in program.stored.values():
            if len(together) > network.buffers.slots:
                program.rows.append(Row(tuple(together), (), network.buffers.slots))
    return program


def _rests(demand: Demand, left: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Return how many epochs before the last the parts of sums must have arrived."""
    rest: dict[int, int] = {}
    for chunk, parts in enumerate(demand.after):
        far = max(left[rank][demand.roots[chunk]] for rank in demand.wants[chunk])
        rest.update((part, max(far, rest.get(part, 0))) for part in parts)
    return rest


def _check_time(network: EpochNetwork, deadline: float) -> None:
    if time.monotonic() >= deadline:
        raise TimeLimitError(
            f"teccl: the time was up before the program of {network.topology.name} was written down"
        )


class _Chunk:
    """Variables and rows of one chunk; times at nodes as in :func:`earliest`."""

    def __init__(
        self,
        program: EpochProgram,
        network: EpochNetwork,
        loads: Sequence[VariablesByEpoch],
        chunk: int,
        last: int,
        root: int,
        wants: frozenset[int],
        first: Sequence[int],
        near: Sequence[int],
    ) -> None:
        self.program, self.network, self.loads = program, network, loads
        self.chunk, self.last, self.root, self.wants = chunk, last, root, wants
        self.first, self.near = first, near
        self.arrivals: list[VariablesByEpoch] = [{} for _ in range(network.nodes)]
        self.departures: list[VariablesByEpoch] = [{} for _ in range(network.nodes)]

    def write(self) -> None:
        for i in range(len(self.network.arcs)):
            self._send(i)
        few = self.network.buffers
        for node in range(self.network.nodes):
            if few is not None and self.network.holds(node):
                self._store(node, few)
            elif node == self.root:
                continue
            elif self.network.holds(node):
                self._hold(node)
            else:
                self._pass_on(node)

    def begin_after(self, parts: Iterable[tuple[int, int]]) -> None:
        """State that the root sends the sum of parts, which arrive by their last epochs."""
        for part, last in parts:
            for now, gone in self.departures[self.root].items():
                if now < last:
                    held = self.program.held[part, self.root, now]
                    self.program.rows.extend(Row((variable,), (held,), 0) for variable in gone)

    def _send(self, i: int) -> None:
        arc, program, chunk = self.network.arcs[i], self.program, self.chunk
        few = self.network.buffers
        # The root has the chunk from the start. Only with few slots may it drop the chunk and
        # get it back.
        if arc.head == self.root and (few is None or not few.again):
            return
        leaves, comes = 1 - arc.offset, arc.span + 1
        # Appendix A: no transfer before the chunk can be at the tail, or too late for all
        # destinations.
        begin = self.first[arc.tail] - leaves
        end = self.last - self.near[arc.head] - comes + 1
        gone, came, load = self.departures[arc.tail], self.arrivals[arc.head], self.loads[i]
        for variable, epoch in enumerate(range(begin, end), program.size):
            program.sent[chunk, i, epoch] = variable
            gone.setdefault(epoch + leaves, []).append(variable)
            came.setdefault(epoch + comes, []).append(variable)
            load.setdefault(epoch, []).append(variable)
        program.size += max(0, end - begin)

    def _hold(self, node: int) -> None:
        """State that a node has a chunk once it has arrived, and sends only what it has."""
        rows, epochs = self.program.rows, self.last
        came, gone = self.arrivals[node], self.departures[node]
        last = epochs if node in self.wants else max(gone, default=-1)
        before: tuple[int, ...] = ()
        for now in range(self.first[node], last + 1):
            here = (*before, *came.get(now, ()))
            # Destinations (R = D after the last epoch): the last buffer is 1, not a variable.
            if now == epochs:
                rows.append(Row(here, (), 1, equal=True))
                return
            held = self.program.held[self.chunk, node, now] = self.program.new()
            before = (held,)
            rows.append(Row(here, before, 0, equal=True))
            rows.extend(Row((variable,), before, 0) for variable in gone.get(now, ()))

    def _store(self, node: int, few: Buffers) -> None:
        """State that a node with few slots has a chunk until it drops it."""
        program, rows = self.program, self.program.rows
        came, gone = self.arrivals[node], self.departures[node]
        # A destination reads a chunk on arrival, with or without a slot, so arrivals count, not
        # buffers.
        ever = tuple(variable for variables in came.values() for variable in variables)
        if node in self.wants:
            rows.append(Row((), ever, -1))
        if not few.again:
            rows.append(Row(ever, (), 1))
        before: tuple[int, ...] = ()
        for now in range(self.first[node], max(gone, default=-1) + 1):
            held = program.new()
            program.stored.setdefault((node, now), []).append(held)
            if node == self.root and now == 0:
                rows.append(Row((held,), (), 1, equal=True))
            else:
                here = (*before, *came.get(now, ()))
                rows.append(Row((held,), here, 0))
                source = (held,) if few.kept else here
                rows.extend(Row((variable,), source, 0) for variable in gone.get(now, ()))
            before = (held,)

    def _pass_on(self, node: int) -> None:
        """State that a switch without a buffer passes on what has just arrived."""
        came, copies = self.arrivals[node], self.network.copies(node)
        for now, gone in sorted(self.departures[node].items()):
            here = tuple(came.get(now, ()))
            # A switch without copies conserves flow: the sum of departures is at most that of
            # arrivals.
            each = [(variable,) for variable in gone] if copies else [tuple(gone)]
            self.program.rows.extend(Row(together, here, 0) for together in each)


def limit_loads(
    program: EpochProgram,
    network: EpochNetwork,
    loads: Sequence[VariablesByEpoch],
    busy: Mapping[tuple[int, int], int] = MappingProxyType({}),
) -> None:
    """Keep every group within its capacity in every window.

    ``loads`` are by arc; ``busy`` counts earlier transfers by arc and epoch, below 0.
    """
    for group in network.groups:
        on = [loads[i] for i in group.arcs]
        for end in range(program.epochs):
            # Appendix F: a chunk occupies its link for a window, so all epochs of the window add
            # up.
            window = range(end + 1 - group.window, end + 1)
            together = tuple(x for load in on for epoch in window for x in load.get(epoch, ()))
            left = group.capacity
            if busy:
                left -= sum(busy.get((i, epoch), 0) for i in group.arcs for epoch in window)
            # A row that 0/1 variables cannot violate is left out.
            if len(together) > left:
                program.rows.append(Row(together, (), left))
        for epoch, capacity in group.slowed:
            together = tuple(x for load in on for x in load.get(epoch, ()))
            if len(together) > capacity:
                program.rows.append(Row(together, (), capacity))
