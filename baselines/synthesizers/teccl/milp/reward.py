"""TE-CCL's own objective: earlier arrivals of chunks are worth more.

Problem: maximise the sum, over all who want a chunk and all epochs k by whose end they have it, of
         1 / (k + 1), k from 0, among the schedules of K epochs.
Input:   a network in epochs, chunks, K, a solver, limits, a gap.
Output:  the transfers, what they are worth, what none are worth more than.
Cost:    a program, which takes a solver longer than to find any solution.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 3.1 (the objective) and section 6 (stopped
         where the gap is 30 %). The printed sum is over sources and destinations; over chunks is
         understood. Of most reward is not of the fewest epochs: for these K must be the least.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction

from baselines.synthesizers.teccl.cleaning import epochs_taken, needed
from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.epoch_program import EpochProgram, Sent, write
from baselines.synthesizers.teccl.milp.horizon import check_found, least_epochs
from baselines.synthesizers.teccl.milp.solvers import Answer, Effort, Outcome, Status, solve
from forestcoll.problem.limits import Limits

__all__ = ["Rewarded", "most_reward", "set_reward"]


@dataclass(frozen=True)
class Rewarded:
    """A solution and what is known of it.

    Parameters
    ----------
    kept : dict
        The transfers, as of :func:`baselines.synthesizers.teccl.cleaning.needed`.
    epochs : int
        Until all has arrived.
    status : Status
        Whether it is optimal, or within the gap, or what there was at the limit.
    value : Fraction
        The solver's solution's, which the transfers reach without those that serve nobody.
    bound : float
        No schedule of so many epochs is worth more.
    """

    kept: dict[Sent, Sent | None] = field(repr=False)
    epochs: int
    status: Status
    value: Fraction
    bound: float


def set_reward(program: EpochProgram, demand: Demand) -> None:
    """Make the sum of 1 / (k + 1) the objective of a program that delivers all by its end.

    What is held when epoch k + 1 begins has been obtained by the end of epoch k.
    """
    wanted = [(chunk, rank) for chunk, ranks in enumerate(demand.wants) for rank in ranks]
    program.objective = {
        program.held[chunk, rank, time]: Fraction(1, time)
        for chunk, rank in wanted
        for time in range(1, program.epochs)
        if (chunk, rank, time) in program.held
    }
    program.constant = Fraction(len(wanted), program.epochs)


def most_reward(
    network: EpochNetwork,
    demand: Demand,
    epochs: int,
    solver: str,
    limits: Limits,
    gap: float = 0.0,
    hint: Collection[Sent] = (),
) -> Rewarded:
    """Find the schedule of most reward in so many epochs.

    When the time is up, what has been found by then. ``hint``: transfers of a schedule of so many
    epochs or fewer.

    Raises
    ------
    InfeasibleError
        If it is proved that so many epochs are too few.
    TimeLimitError
        If nothing has been found when the time is up.
    """
    answer = Answer(Outcome.INFEASIBLE)
    if epochs >= least_epochs(network, demand):
        program = write(network, demand, epochs)
        set_reward(program, demand)
        seconds = math.inf if limits.seconds is None else limits.seconds
        effort = Effort(seconds, threads=limits.threads, gap=gap)
        answer = solve(program, solver, effort, hint)
    check_found(answer.outcome, network, epochs)
    assert answer.status is not None
    assert answer.value is not None
    assert answer.bound is not None
    kept = needed(network, demand, answer.sent)
    return Rewarded(kept, epochs_taken(network, kept), answer.status, answer.value, answer.bound)
