"""Decomposition of a flow in epochs into paths, each a list of transfers.

Problem: write the flow of each source as ways through arcs and epochs, with what each carries.
Input:   a solution of the linear program.
Output:  for each pair its ways and their amounts, in chunks.
Cost:    a way for each transfer at most, found transfer by transfer.
Source:  flow decomposition; Liu et al., TE-CCL (SIGCOMM 2024), section 4.1, searches from the
         destinations as for whole chunks (T23).

Between two transfers of a way the data waits at the GPU where it is. What comes back to a GPU
where it was before waits there instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.lp.lp_horizon import Flow
from forestcoll.errors import SolverError

__all__ = ["Way", "ways"]

Way = tuple[tuple[int, int], ...]
"""Arcs and the epochs in which they are taken."""

_NEGLIGIBLE = 1e-9
"""Chunks: what a solver's tolerance may leave over."""

_MISSING = 1e-6
"""Of what a pair is due: how much may be without a way before it is an error."""

_State = tuple[int, int]
"""A node and a time."""


def ways(network: EpochNetwork, flow: Flow) -> Iterator[tuple[int, int, dict[Way, float]]]:
    """Yield each source, destination and what goes which way.

    Raises
    ------
    SolverError
        If the flow leaves a destination without what it is due.
    """
    amount = flow.program.amount
    for source in np.flatnonzero(amount.any(axis=1)).tolist():
        left = _residual(network, flow, source)
        for target in np.flatnonzero(amount[source]).tolist():
            due = float(amount[source, target])
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
    """What is left of a source's flow: of each state, how much comes in by which column.

    ``sent`` has the arc and epoch of columns that are transfers, ``before`` the state from which
    each column leads.
    """

    root: _State
    into: dict[_State, dict[int, float]]
    before: dict[int, _State]
    sent: dict[int, tuple[int, int]]

    def trail_to(self, target: _State) -> list[tuple[_State, int]] | None:
        """Follow the fullest columns back, without those that go round in no time; None if stuck.

        Returns states with the columns by which they are reached, the last first.
        """
        trail: list[tuple[_State, int]] = []
        place = {target: 0}
        state = target
        while state != self.root:
            entering = self.into.get(state)
            if not entering:
                return None
            column = max(entering, key=entering.__getitem__)
            trail.append((state, column))
            state = self.before[column]
            if state in place:
                trip = trail[place[state] :]
                self.take(trip, self.room(trip))
                del trail[place[state] :]
                place = {state: at for state, at in place.items() if at <= len(trail)}
            else:
                place[state] = len(trail)
        return trail

    def room(self, trail: list[tuple[_State, int]]) -> float:
        """Return the least that is left on a trail."""
        return min(self.into[state][column] for state, column in trail)

    def take(self, trail: list[tuple[_State, int]], amount: float) -> None:
        """Take an amount off a trail, and drop what is negligible."""
        for state, column in trail:
            self.into[state][column] -= amount
            if self.into[state][column] <= _NEGLIGIBLE:
                del self.into[state][column]

    def sends(self, trail: list[tuple[_State, int]]) -> list[tuple[int, int]]:
        """Return the transfers of a trail in the order of time."""
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
    """Leave out what leads back to a node that keeps what it gets."""
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
