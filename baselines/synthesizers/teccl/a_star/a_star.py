"""TE-CCL's A*: schedules of many epochs, built in rounds of a few epochs.

Problem: bring all chunks to all who want them, by a program for some epochs after another.
Input:   a network in epochs, chunks, how many epochs a round has, a solver, limits, a gap.
Output:  the transfers of all rounds.
Cost:    a program of K epochs a round; the epochs may be more than the fewest.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 4.2 and appendix D, called A* there. Its public
         code fails beyond 15 epochs and can report fewer epochs than are possible; here the epochs
         are those of the transfers, put together and checked as any others.

Ours besides:

- A round in which all could be brought there is first asked for just that, in ever fewer epochs. So
  where one round is enough the epochs are the fewest, if the solver gets that far.
- A round that brings no chunk to who wants it, and none nearer, is thrown away, and done again with
  a chunk to be brought there whatever else, in as many epochs as the longest way takes.
- A round's program is solved with bounded work (of CP-SAT; of the others, for a share of the time,
  if there is a limit), not to the end.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from baselines.synthesizers.teccl.a_star.round_program import write_round
from baselines.synthesizers.teccl.a_star.standing import Standing
from baselines.synthesizers.teccl.cleaning import epochs_taken, needed
from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.epoch_program import (
    EpochProgram,
    Row,
    Sent,
    earliest,
)
from baselines.synthesizers.teccl.milp.horizon import Found, least_epochs
from baselines.synthesizers.teccl.milp.solvers import Answer, Effort, Outcome, solve
from forestcoll.errors import InvalidParameterError, TimeLimitError
from forestcoll.problem.limits import Limits

__all__ = ["by_rounds", "shortest_round"]

_WORK = 20.0
"""Of CP-SAT's deterministic seconds, for a round's reward."""

_LAST_WORK = 4.0
"""The same for a round that may be the last."""

_LEAST_SECONDS = 0.1
"""No round gets less of the clock, while there is any."""

_GROWTH = 4.0
"""Of the work, as long as nothing is found."""


def shortest_round(network: EpochNetwork) -> int:
    """Return the fewest epochs of a round: all arrives in the same round or the next."""
    return max(arc.span for arc in network.arcs) + 1


def by_rounds(
    network: EpochNetwork,
    demand: Demand,
    epochs: int,
    solver: str,
    limits: Limits,
    gap: float = 0.0,
) -> Found:
    """Find a schedule by rounds of so many epochs.

    ``gap`` is that of a round's reward. The bound of what is returned is from distances and the cut
    alone.

    Raises
    ------
    InvalidParameterError
        If the slowest link takes more epochs than a round has.
    DisconnectedError
        If no path leads from a GPU to another that wants its chunk.
    TimeLimitError
        If the time is up.
    """
    shortest = shortest_round(network)
    if epochs < shortest:
        raise InvalidParameterError(
            f"round_epochs is {epochs}; it must be {shortest} or more, for the slowest link of "
            f"{network.topology.name}"
        )
    least = least_epochs(network, demand)
    deadline = limits.deadline()
    rounds = _Rounds(network, demand, epochs, solver, deadline, limits.threads, gap, least)
    kept = needed(network, demand, rounds.run())
    return Found(kept, epochs_taken(network, kept), least)


@dataclass
class _Rounds:
    network: EpochNetwork
    demand: Demand
    epochs: int
    solver: str
    deadline: float
    threads: int
    gap: float
    least: int
    sent: list[Sent] = field(default_factory=list)
    begin: int = 0
    far: list[list[int]] = field(default_factory=list)

    def run(self) -> tuple[Sent, ...]:
        """Go on until everybody has, or will have, what he wants."""
        ranks = range(self.network.topology.num_compute)
        self.far = [earliest(self.network, rank, backwards=True) for rank in ranks]
        while True:
            standing = self._standing(self.sent, self.begin)
            if not any(standing.wanting(self.demand)):
                return tuple(self.sent)
            last = self._last(standing)
            if last is not None:
                return (*self.sent, *last)
            self._go_on(standing)

    def _standing(self, sent: list[Sent], begin: int) -> Standing:
        return Standing.of(self.network, self.demand, sent, begin)

    def _last(self, standing: Standing) -> list[Sent] | None:
        """Bring all there in this round, in as few epochs as can be; None if it is too short."""
        found, epochs, in_air = None, self.epochs, standing.in_air(self.demand)
        while self.begin + epochs >= self.least and (found is None or epochs >= in_air):
            program = write_round(self.network, self.demand, standing, self.far, epochs, last=True)
            answer = self._solve(program, _LAST_WORK)
            if answer.outcome is not Outcome.FOUND:
                break
            found = list(answer.sent)
            epochs = epochs_taken(self.network, found) - 1
        return None if found is None else self._moved(found)

    def _go_on(self, standing: Standing) -> None:
        """Do a round; at least a chunk is where it is wanted, or nearer, after it."""
        epochs = self.epochs
        before = self._missing(standing)
        program = write_round(self.network, self.demand, standing, self.far, epochs)
        sent = [*self.sent, *self._moved(self._solved(program))]
        if self._missing(self._standing(sent, self.begin + epochs)) >= before:
            epochs = max(epochs, self._longest_way())
            program = write_round(self.network, self.demand, standing, self.far, epochs)
            obtained = tuple(
                program.held[chunk, rank, epochs]
                for chunk, ranks in enumerate(standing.wanting(self.demand))
                for rank in ranks
                if (chunk, rank, epochs) in program.held
            )
            program.rows.append(Row((), obtained, -1))
            sent = [*self.sent, *self._moved(self._solved(program))]
        self.sent = sent
        self.begin += epochs

    def _missing(self, standing: Standing) -> tuple[int, int]:
        """Count what is wanted still, and how far it is in all."""
        distances = [
            min(self.far[rank][node] for node in standing.had[chunk])
            for chunk, ranks in enumerate(standing.wanting(self.demand))
            for rank in ranks
        ]
        return len(distances), sum(distances)

    def _longest_way(self) -> int:
        """Return in how many epochs any chunk can go anywhere, once links are no longer busy."""
        ways = zip(self.demand.roots, self.demand.wants, strict=True)
        windows = max(group.window for group in self.network.groups)
        return windows + max(self.far[rank][root] for root, ranks in ways for rank in ranks)

    def _solved(self, program: EpochProgram) -> tuple[Sent, ...]:
        """Work ever harder, until there is anything."""
        work = _WORK
        while True:
            answer = self._solve(program, work)
            if answer.outcome is Outcome.FOUND:
                return answer.sent
            assert answer.outcome is Outcome.OPEN, "to send nothing is a solution"
            if time.monotonic() >= self.deadline:
                raise TimeLimitError(
                    f"teccl: no answer for the round that begins with epoch {self.begin} on "
                    f"{self.network.topology.name} in the time given"
                )
            work *= _GROWTH

    def _solve(self, program: EpochProgram, work: float) -> Answer:
        """Give a round as much time as all those that must follow."""
        rounds = max(1, math.ceil((self.least - self.begin) / self.epochs))
        left = self.deadline - time.monotonic()
        seconds = max(left / (rounds + 1), min(left, _LEAST_SECONDS))
        return solve(program, self.solver, Effort(seconds, work, self.threads, self.gap))

    def _moved(self, sent: list[Sent] | tuple[Sent, ...]) -> list[Sent]:
        """Count epochs from the beginning of all."""
        return [(chunk, i, epoch + self.begin) for chunk, i, epoch in sent]
