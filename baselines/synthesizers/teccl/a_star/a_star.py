"""TE-CCL's A*: schedules of many epochs, built in rounds of a few epochs.

Problem: deliver all chunks by a sequence of small programs.
Output:  the transfers of all rounds.
Cost:    a program of K epochs a round; the total may exceed the fewest epochs.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 4.2 and appendix D. The public code fails beyond
         15 epochs and can report fewer epochs than are possible. Here the epochs are counted from
         the transfers of all rounds, which are checked like any others.

Additions of ours:

- If one round could deliver everything, its program asks for that first, in fewer and fewer epochs.
  So where one round is enough, the epochs are the fewest unless the solver stops early.
- A round that neither delivers a chunk nor brings one nearer is repeated with as many epochs as the
  longest path, and with a constraint that some chunk is delivered.
- Each round's program gets bounded work (CP-SAT) or a share of the time (other solvers).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from baselines.synthesizers.teccl.a_star.round_program import Standing, write_round
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
"""CP-SAT's deterministic seconds for the reward of a round."""

_LAST_WORK = 4.0
"""CP-SAT's deterministic seconds for a round that may be the last."""

_LEAST_SECONDS = 0.1
"""Least time of a round, while there is any left."""

_GROWTH = 4.0
"""Factor on the work, as long as nothing is found."""


def shortest_round(network: EpochNetwork) -> int:
    """Return the fewest epochs of a round: each chunk arrives in the same round or the next."""
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

    ``gap`` is the relative gap of a round's reward. The bound of the result comes from distances
    and the bottleneck cut alone.

    Raises
    ------
    InvalidParameterError
        If the slowest link takes more epochs than a round has.
    DisconnectedError
        If no path leads from a GPU to another that needs its chunk.
    TimeLimitError
        If time is up.
    """
    shortest = shortest_round(network)
    if epochs < shortest:
        raise InvalidParameterError(
            f"round_epochs is {epochs}; it must be {shortest} or more, for the slowest link of "
            f"{network.topology.name}"
        )
    least = least_epochs(network, demand)
    rounds = _Rounds(network, demand, epochs, solver, limits.deadline, limits.threads, gap, least)
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
        """Deliver everything in this round, in the fewest epochs; None if it is too short."""
        found, epochs, in_air = None, self.epochs, standing.in_air(self.demand)
        # Chunks in flight arrive after `in_air` epochs in any case, so fewer epochs gain nothing.
        while self.begin + epochs >= self.least and (found is None or epochs >= in_air):
            program = write_round(self.network, self.demand, standing, self.far, epochs, last=True)
            answer = self._solve(program, _LAST_WORK)
            if answer.outcome is not Outcome.FOUND:
                break
            found = list(answer.sent)
            epochs = epochs_taken(self.network, found) - 1
        return None if found is None else self._moved(found)

    def _go_on(self, standing: Standing) -> None:
        """Do a round that delivers a chunk or brings one nearer."""
        epochs = self.epochs
        before = self._missing(standing)
        program = write_round(self.network, self.demand, standing, self.far, epochs)
        sent = [*self.sent, *self._moved(self._solved(program))]
        # (missing deliveries, their distances) falls in every round, so the rounds end.
        if self._missing(self._standing(sent, self.begin + epochs)) >= before:
            epochs = max(epochs, self._longest_way())
            program = write_round(self.network, self.demand, standing, self.far, epochs)
            obtained = tuple(
                program.held[chunk, rank, epochs]
                for chunk, ranks in enumerate(standing.wanting(self.demand))
                for rank in ranks
                if (chunk, rank, epochs) in program.held
            )
            # At least one of these: minus their sum is at most -1.
            program.rows.append(Row((), obtained, -1))
            sent = [*self.sent, *self._moved(self._solved(program))]
        self.sent = sent
        self.begin += epochs

    def _missing(self, standing: Standing) -> tuple[int, int]:
        """Count the missing deliveries, and add up their distances."""
        distances = [
            min(self.far[rank][node] for node in standing.had[chunk])
            for chunk, ranks in enumerate(standing.wanting(self.demand))
            for rank in ranks
        ]
        return len(distances), sum(distances)

    def _longest_way(self) -> int:
        """Return epochs enough for any chunk to reach any GPU, once links are idle."""
        ways = zip(self.demand.roots, self.demand.wants, strict=True)
        windows = max(group.window for group in self.network.groups)
        return windows + max(self.far[rank][root] for root, ranks in ways for rank in ranks)

    def _solved(self, program: EpochProgram) -> tuple[Sent, ...]:
        """Increase the work until there is a solution."""
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
        """Solve with an equal share of the time for this round and those that must follow."""
        rounds = max(1, math.ceil((self.least - self.begin) / self.epochs))
        left = self.deadline - time.monotonic()
        seconds = max(left / (rounds + 1), min(left, _LEAST_SECONDS))
        return solve(program, self.solver, Effort(seconds, work, self.threads, self.gap))

    def _moved(self, sent: list[Sent] | tuple[Sent, ...]) -> list[Sent]:
        """Count the epochs of transfers from the start of the first round."""
        return [(chunk, i, epoch + self.begin) for chunk, i, epoch in sent]
