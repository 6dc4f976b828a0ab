"""Exact conversion of a flow in epochs into a clocked schedule.

Problem: decompose the flow of each source into paths, assign each an interval of whole units, and
         slow the clock by as much as the rounding needs.
Output:  a step schedule whose ends are GPUs and switches.
Cost:    a path for each transfer at most; linear in the transfers of all paths, after sorting.
Source:  flow decomposition; Liu et al., TE-CCL (SIGCOMM 2024), section 4.1, search backwards from
         the destinations as for whole chunks. Largest remainders as in
         :mod:`forestcoll.all_to_all.path_schedule`.

Between two transfers of a path the data waits at a GPU. Data that returns to a GPU waits there
instead. Data sent in epoch k on an arc that is busy for b epochs leaves at an even rate over these.
So its rate is always 1 / (b tau) of the load of a window, and within the bandwidth of the link if
the window is within its capacity. Each chunk of a pair has ``PARTS`` units, so the interval of a
path is off by less than one unit. The excess of the fullest window is computed in whole numbers,
and all times are multiplied by it: a factor near 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from baselines.building.demanded_chunks import chunks_of
from baselines.synthesizers.teccl.conversion import Move, clocked
from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.lp.lp_horizon import Flow
from forestcoll.errors import SolverError
from forestcoll.problem.demand import Demand as GivenDemand
from forestcoll.schedule.sends import Chunks
from forestcoll.schedule.steps import StepSchedule

__all__ = ["PARTS", "Way", "moves_of", "schedule_of", "stretch", "ways"]

Way = tuple[tuple[int, int], ...]
"""Arcs with the epochs in which they are used."""

_NEGLIGIBLE = 1e-9
"""Chunks that a solver's tolerance may leave over."""

_MISSING = 1e-6
"""Share of a pair's data that may lack a path."""

_State = tuple[int, int]
"""A node and a time."""


def ways(network: EpochNetwork, flow: Flow) -> Iterator[tuple[int, int, dict[Way, float]]]:
    """Yield each source and destination with the amounts of its paths.

    Raises
    ------
    SolverError
        If the flow does not deliver what a destination is due.
    """
    amount = flow.program.amount
    for source in np.flatnonzero(amount.any(axis=1)).tolist():
        left = _residual(network, flow, source)
        for target in np.flatnonzero(amount[source]).tolist():
            due = float(amount[source, target])
            # Every path that is found uses up a column or the rest of the pair, so this ends.
            missing, found = due, defaultdict[Way, float](float)
            while missing > _NEGLIGIBLE:
                trail = left.trail_to((target, flow.epochs))
                if trail is None:
                    break
                share = min(missing, left.room(trail))
                left.take(trail, share)
                found[_straight(network, source, left.sends(trail))] += share
                missing -= share
            if missing > _MISSING * due:
                raise SolverError(
                    f"teccl: the flow from rank {source} leaves {missing:.3g} chunks for rank "
                    f"{target} without a way"
                )
            yield source, target, dict(found)


@dataclass(frozen=True, slots=True)
class _Residual:
    """The rest of a source's flow: for each state, the amounts that arrive by each column.

    ``sent`` has the arc and epoch of columns that are transfers, ``before`` the state from which
    each column leads.
    """

    root: _State
    into: dict[_State, dict[int, float]]
    before: dict[int, _State]
    sent: dict[int, tuple[int, int]]

    def trail_to(self, target: _State) -> list[tuple[_State, int]] | None:
        """Follow the fullest columns back to the root, without cycles that take no time.

        Returns states with the columns by which they are reached, the last first; None if there is
        no trail.
        """
        trail: list[tuple[_State, int]] = []
        place = {target: 0}
        state = target
        while state != self.root:
            entering = self.into.get(state)
            if not entering:
                return None
            # The fullest column first, which gives few paths.
            column = max(entering, key=entering.__getitem__)
            trail.append((state, column))
            state = self.before[column]
            if state in place:
                # A state is a node at a time, so this cycle takes no time: it leads through
                # switches that pass on while data arrives. Without it, the flow is conserved and
                # delivers as much.
                trip = trail[place[state] :]
                self.take(trip, self.room(trip))
                del trail[place[state] :]
                place = {state: at for state, at in place.items() if at <= len(trail)}
            else:
                place[state] = len(trail)
        return trail

    def room(self, trail: list[tuple[_State, int]]) -> float:
        """Return the least amount on a trail."""
        return min(self.into[state][column] for state, column in trail)

    def take(self, trail: list[tuple[_State, int]], amount: float) -> None:
        """Subtract an amount from a trail."""
        for state, column in trail:
            self.into[state][column] -= amount
            if self.into[state][column] <= _NEGLIGIBLE:
                del self.into[state][column]

    def sends(self, trail: list[tuple[_State, int]]) -> list[tuple[int, int]]:
        """Return the transfers of a trail in order of time."""
        return [self.sent[column] for _, column in reversed(trail) if column in self.sent]


def _residual(network: EpochNetwork, flow: Flow, source: int) -> _Residual:
    program = flow.program
    left = _Residual((source, 0), defaultdict(dict), {}, {})
    mine = np.flatnonzero(
        (program.source == source) & (flow.x[: len(program.source)] > _NEGLIGIBLE)
    )
    for column in mine.tolist():
        i, epoch = int(program.arc[column]), int(program.epoch[column])
        arc = network.arcs[i]
        left.sent[column] = i, epoch
        left.before[column] = arc.tail, epoch + 1 - arc.offset
        left.into[arc.head, epoch + arc.span + 1][column] = float(flow.x[column])
    kept = flow.x[len(program.source) :]
    for row in np.flatnonzero((program.keeper[:, 0] == source) & (kept > _NEGLIGIBLE)).tolist():
        _, node, time = program.keeper[row].tolist()
        column = len(program.source) + row
        left.before[column] = node, time
        left.into[node, time + 1][column] = float(kept[row])
    return left


def _straight(network: EpochNetwork, source: int, sends: list[tuple[int, int]]) -> Way:
    """Drop the transfers between two visits of a node that keeps data."""
    trail: list[tuple[int, int]] = []
    seen = {source: 0}
    for send in sends:
        trail.append(send)
        head = network.arcs[send[0]].head
        if head in seen:
            del trail[seen[head] :]
            seen = {node: at for node, at in seen.items() if at <= len(trail)}
        elif network.holds(head):
            seen[head] = len(trail)
    return tuple(trail)


PARTS = 720_720
"""The least common multiple of 1 to 16."""


_MOST_UNITS = 2**52
"""Limit of the units of all data: planes and clocks multiply them."""


def schedule_of(
    network: EpochNetwork,
    demand: Demand,
    found: Iterable[tuple[int, int, dict[Way, float]]],
    size_bytes: int,
) -> StepSchedule:
    """Assign the data to the paths of :func:`ways`, and put it on the clock."""
    chunks, moves = moves_of(network, demand, found)
    slower = stretch(network, chunks, moves, size_bytes)
    made = clocked(network, chunks, moves, "all-to-all", size_bytes, slower)
    return made if demand.given is None else replace(made, demand=demand.given).in_short()


def moves_of(
    network: EpochNetwork, demand: Demand, found: Iterable[tuple[int, int, dict[Way, float]]]
) -> tuple[Chunks, list[Move]]:
    """Assign each path an interval of its pair's units; merge adjacent ones with equal moves."""
    from forestcoll.all_to_all.path_schedule import largest_remainders

    if demand.given is not None:
        return _moves_of_given(network, demand.given, found)
    pairs: list[tuple[int, int]] = []
    size: list[int] = []
    moves: list[Move] = []
    for source, target, shares in found:
        ordered = sorted(shares)
        whole = PARTS * round(sum(shares.values()))
        units = largest_remainders([shares[way] for way in ordered], whole)
        moves += _moves(network, len(pairs), zip(ordered, units, strict=True))
        pairs.append((source, target))
        size.append(whole)
    root, target = np.array(pairs, dtype=np.int32).T
    cut = Chunks(np.array(size, dtype=np.int64), PARTS * demand.chunks.whole, root, target)
    return cut, moves


def _moves_of_given(
    network: EpochNetwork,
    given: GivenDemand,
    found: Iterable[tuple[int, int, dict[Way, float]]],
) -> tuple[Chunks, list[Move]]:
    """Assign the same of a given demand: a pair's units are those of its chunks, one by one."""
    from forestcoll.all_to_all.path_schedule import largest_remainders

    # A byte has as many units as 64 bits allow, so that few bytes can be divided too.
    units = max(1, min(PARTS, _MOST_UNITS // given.bytes))
    cut = chunks_of(given, units)
    chunks_for: dict[tuple[int, int], list[int]] = defaultdict(list)
    for chunk, pair in enumerate(zip(cut.root.tolist(), cut.target.tolist(), strict=True)):
        chunks_for[pair].append(chunk)
    moves: list[Move] = []
    for source, target, shares in found:
        ordered, chunks = sorted(shares), chunks_for[source, target]
        ends = np.cumsum(cut.size[chunks]).tolist()
        dealt = largest_remainders([shares[way] for way in ordered], ends[-1])
        for move in _moves(network, 0, zip(ordered, dealt, strict=True)):
            moves += _cut_at(move, chunks, ends)
    return cut, moves


def _cut_at(move: Move, chunks: Sequence[int], ends: Sequence[int]) -> Iterator[Move]:
    """Divide a move of a pair's units among the pair's chunks, which end at these units."""
    assert move.amount is not None
    low, high = move.first, move.first + move.amount
    for chunk, begin, end in zip(chunks, (0, *ends), ends, strict=False):
        if low < end and begin < high:
            first, last = max(low, begin), min(high, end)
            yield move._replace(chunk=chunk, first=first - begin, amount=last - first)


def _moves(network: EpochNetwork, chunk: int, dealt: Iterable[tuple[Way, int]]) -> list[Move]:
    parts: dict[tuple[int, int, Fraction], list[list[int]]] = defaultdict(list)
    first = 0
    for way, units in dealt:
        late, before = Fraction(0), Fraction(0)
        for i, epoch in way if units else ():
            # A dropped latency delays what a switch passes on at once. Otherwise data leaves in a
            # later epoch, and the clock lengthens epochs by the largest such delay.
            late = late + before if network.arcs[i].offset < 1 else Fraction(0)
            before = network.arcs[i].dropped_us
            intervals = parts[i, epoch, late]
            if intervals and intervals[-1][1] == first:
                intervals[-1][1] = first + units
            else:
                intervals.append([first, first + units])
        first += units
    return [
        Move(chunk, i, epoch, late, low, high - low)
        for (i, epoch, late), intervals in parts.items()
        for low, high in intervals
    ]


def stretch(
    network: EpochNetwork, chunks: Chunks, moves: Sequence[Move], size_bytes: int
) -> Fraction:
    """Return the factor on the clock that the fullest window needs; at least 1."""
    load: dict[tuple[int, int], int] = defaultdict(int)
    for move in moves:
        assert move.amount is not None
        for epoch in range(move.epoch, move.epoch + network.arcs[move.arc].busy):
            load[move.arc, epoch] += move.amount
    fullest: dict[int, int] = {}
    for (i, _), units in load.items():
        fullest[i] = max(units, fullest.get(i, 0))
    unit_kb = Fraction(size_bytes, 1000 * chunks.whole)
    ends, most = network.topology.ends, Fraction(1)
    for i, units in fullest.items():
        arc = network.arcs[i]
        link = network.topology.link_between[ends[arc.tail], ends[arc.head]]
        room = arc.busy * network.epoch_us * link.bandwidth_gb_s
        most = max(most, units * unit_kb / room)
    return most
