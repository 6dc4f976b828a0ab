"""TE-CCL's program for one round of A*: some epochs, from the present state of all chunks.

Problem: within K epochs deliver chunks and bring others nearer; or, in a last round, deliver all.
Output:  a program in epochs from the start of the round.
Cost:    chunks x arcs x K variables, and one for each chunk, open destination, distance and epoch
         of the look-ahead.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 4.2 and appendix D.

- Look-ahead: chunks are followed beyond the last epoch until all transfers of the round arrive (the
  paper's Q). The next round starts from there, with chunks in flight, chunks in switches that must
  pass them on, and links that are still busy. The paper omits busy links at the border of rounds.
- Objective: within the round, 1 / (k + 1) for each delivery by the end of epoch k. In epoch k' of
  the look-ahead, from 0, 1 / (k' + 1) for each delivered chunk, and gamma / ((k' + 1) (1 + FW)) for
  a chunk at distance FW from its destination.
- FW counts transmission and latency in epochs, as in the public code. The text counts the latency
  only, so without latencies all distances would be equal.

The paper adds up all places of a chunk on its way (P), so a chunk in several places counts several
times. Here it counts once, at its nearest place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.epoch_program import (
    NEVER,
    EpochProgram,
    Row,
    Sent,
    VariablesByEpoch,
    first_times,
    limit_loads,
)

__all__ = ["GAMMA", "Standing", "write_round"]

_AT_ONCE = -NEVER
"""The time from which a root has its chunk."""


@dataclass(frozen=True)
class Standing:
    """State at the start of a round; times are in epochs from then.

    Parameters
    ----------
    had : tuple of dict
        For each chunk, the nodes that have it or will have it, and from when.
    came, gone : Counter
        Arrivals at switches without buffers, and what these have passed on, by chunk, switch and
        time.
    busy : Counter
        Transfers by arc and epoch, all below 0.
    """

    had: tuple[dict[int, int], ...]
    came: Counter[tuple[int, int, int]] = field(repr=False)
    gone: Counter[tuple[int, int, int]] = field(repr=False)
    busy: Counter[tuple[int, int]] = field(repr=False)

    @classmethod
    def of(
        cls, network: EpochNetwork, demand: Demand, sent: Iterable[Sent], begin: int
    ) -> Standing:
        """Return the state at the start of an epoch, after these transfers."""
        had = tuple({root: _AT_ONCE} for root in demand.roots)
        standing = cls(had, Counter(), Counter(), Counter())
        for chunk, i, epoch in sent:
            arc, k = network.arcs[i], epoch - begin
            there = k + arc.span + 1
            standing.busy[i, k] += 1
            if network.holds(arc.head):
                at = standing.had[chunk]
                at[arc.head] = min(there, at.get(arc.head, there))
            else:
                standing.came[chunk, arc.head, there] += 1
            if not network.holds(arc.tail):
                standing.gone[chunk, arc.tail, k + 1 - arc.offset] += 1
        return standing

    def wanting(self, demand: Demand) -> list[list[int]]:
        """Return the ranks that still need each chunk and are not about to receive it."""
        return [
            sorted(ranks - had.keys()) for ranks, had in zip(demand.wants, self.had, strict=True)
        ]

    def in_air(self, demand: Demand) -> int:
        """Return when the last transfer to a destination arrives; <= 0 if none is in flight."""
        pairs = zip(demand.wants, self.had, strict=True)
        return max((had[rank] for ranks, had in pairs for rank in ranks & had.keys()), default=0)


GAMMA = Fraction(1, 2)
"""Value of a chunk next to its destination, relative to a delivered one; the paper: below 1."""
_Place = tuple[int, tuple[int, ...]]
"""A node, and variables of which at least one is 1 if the chunk is there."""


def write_round(
    network: EpochNetwork,
    demand: Demand,
    standing: Standing,
    far: Sequence[Sequence[int]],
    epochs: int,
    *,
    last: bool = False,
) -> EpochProgram:
    """Write the program of a round.

    Parameters
    ----------
    far : sequence of sequence of int
        By rank, the distance of each node in epochs.
    epochs : int
        K.
    last : bool
        Whether all chunks must be delivered in the round, without an objective.
    """
    program = EpochProgram(epochs, objective=None if last else {})
    loads: list[VariablesByEpoch] = [{} for _ in network.arcs]
    for chunk, wants in enumerate(standing.wanting(demand)):
        if wants:
            _Chunk(program, network, loads, chunk, wants, standing, far, last).write()
    limit_loads(program, network, loads, standing.busy)
    return program


@dataclass
class _Chunk:
    """Variables and rows of one chunk."""

    program: EpochProgram
    network: EpochNetwork
    loads: Sequence[VariablesByEpoch]
    chunk: int
    wants: list[int]
    standing: Standing
    far: Sequence[Sequence[int]]
    last: bool
    arrivals: dict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    departures: dict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    places: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def write(self) -> None:
        had = self.standing.had[self.chunk]
        starts = [(max(0, time), node) for node, time in had.items()]
        starts += [(t, v) for chunk, v, t in self.standing.came if chunk == self.chunk]
        first = first_times(self.network, starts)
        if self.last and any(first[rank] > self.program.epochs for rank in self.wants):
            self.program.impossible = True
            return
        near = [min(self.far[rank][node] for rank in self.wants) for node in range(len(first))]
        for i in range(len(self.network.arcs)):
            self._send(i, first, near)
        for node in range(self.network.nodes):
            if not self.network.holds(node):
                self._pass_on(node)
            elif first[node] < had.get(node, NEVER):
                self._hold(node, first[node])
        if self.last:
            self._finish()
        else:
            self._obtain()
            self._approach()

    @property
    def _end(self) -> int:
        """The epoch by which all transfers of the round have arrived."""
        return self.program.epochs + max(arc.span for arc in self.network.arcs)

    def _send(self, i: int, first: list[int], near: list[int]) -> None:
        """Make the variables of an arc, except for a head that will have the chunk by then."""
        arc, program = self.network.arcs[i], self.program
        if near[arc.head] >= NEVER or first[arc.tail] >= NEVER:
            return
        latest = program.epochs - 1
        if self.last:
            latest = min(latest, program.epochs - near[arc.head] - arc.span - 1)
        there = self.standing.had[self.chunk].get(arc.head, NEVER)
        # Useless if an earlier round delivers the chunk to the head by then.
        latest = min(latest, there - arc.span - 2)
        for epoch in range(max(0, first[arc.tail] + arc.offset - 1), latest + 1):
            variable = program.new()
            program.sent[self.chunk, i, epoch] = variable
            self.departures[arc.tail, epoch + 1 - arc.offset].append(variable)
            self.arrivals[arc.head, epoch + arc.span + 1].append(variable)
            self.loads[i].setdefault(epoch, []).append(variable)

    def _hold(self, node: int, first: int) -> None:
        """State that a node has a chunk once it has arrived, and sends only what it has."""
        program = self.program
        until = min(self._end, self.standing.had[self.chunk].get(node, NEVER) - 1)
        held: int | None = None
        for time in range(first, until + 1):
            came = tuple(self.arrivals.get((node, time), ()))
            # The state changes with arrivals only: one variable serves all epochs until the next.
            if came:
                before = () if held is None else (held,)
                held = program.new()
                program.rows.append(Row((*before, *came), (held,), 0, equal=True))
            for variable in self.departures.get((node, time), ()):
                program.rows.append(Row((variable,), () if held is None else (held,), 0))
            if held is not None:
                self.places[time][node] = program.held[self.chunk, node, time] = held

    def _pass_on(self, node: int) -> None:
        """State that a switch without a buffer passes on arrivals, also those of earlier rounds."""
        copies, standing = self.network.copies(node), self.standing
        for time in sorted({time for tail, time in self.departures if tail == node}):
            came = tuple(self.arrivals.get((node, time), ()))
            left = standing.came[self.chunk, node, time]
            gone = self.departures[node, time]
            if not copies:
                left -= standing.gone[self.chunk, node, time]
                self.program.rows.append(Row((*gone,), came, left))
            # One arrival is enough for all copies, so after one of an earlier round no row is
            # needed.
            elif not left:
                self.program.rows.extend(Row((variable,), came, 0) for variable in gone)

    def _finish(self) -> None:
        for rank in self.wants:
            held = self.program.held.get((self.chunk, rank, self.program.epochs))
            if held is None:
                self.program.impossible = True
                return
            self.program.rows.append(Row((held,), (), 1, equal=True))

    def _obtain(self) -> None:
        for rank in self.wants:
            for time in range(1, self.program.epochs + 1):
                held = self.program.held.get((self.chunk, rank, time))
                if held is not None:
                    self._add(held, Fraction(1, time))

    def _approach(self) -> None:
        """Reward deliveries in the look-ahead, and chunks that are nearer than before."""
        had = self.standing.had[self.chunk]
        for time in range(self.program.epochs, self._end + 1):
            share = Fraction(1, time - self.program.epochs + 1)
            at: list[_Place] = [(node, (x,)) for node, x in self.places[time].items()]
            at += self._in_switches(time)
            for rank in self.wants:
                best = max(self._worth(n, rank) for n, since in had.items() if since <= time)
                self._reward(rank, share, best, at)

    def _in_switches(self, time: int) -> list[_Place]:
        """Return the switches that pass on in the next round the arrivals of a time."""
        return [
            (node, tuple(came))
            for (node, when), came in self.arrivals.items()
            if when == time and not self.network.holds(node) and self._passes_later(node, time)
        ]

    def _passes_later(self, node: int, time: int) -> bool:
        leaving = (arc.offset for arc in self.network.arcs if arc.tail == node)
        return all(time - 1 + offset >= self.program.epochs for offset in leaving)

    def _reward(self, rank: int, share: Fraction, best: Fraction, at: list[_Place]) -> None:
        """Make a variable for each distance below the present one: whether it is reached."""
        worth = {node: self._worth(node, rank) for node, _ in at}
        # Places no nearer than the best at the start of the round bring no reward.
        levels = sorted({w for w in worth.values() if w > best} | {best}, reverse=True)
        # The gains of all levels down to the nearest place reached add up to the value of that
        # place.
        for level, following in pairwise(levels):
            within = tuple(x for node, came in at if worth[node] >= level for x in came)
            gain = share * (level - following)
            if len(within) == 1:
                self._add(within[0], gain)
            else:
                reached = self.program.new()
                self.program.rows.append(Row((reached,), within, 0))
                self._add(reached, gain)

    def _worth(self, node: int, rank: int) -> Fraction:
        return Fraction(1) if node == rank else GAMMA / (1 + self.far[rank][node])

    def _add(self, variable: int, worth: Fraction) -> None:
        assert self.program.objective is not None
        self.program.objective[variable] = self.program.objective.get(variable, 0) + worth
