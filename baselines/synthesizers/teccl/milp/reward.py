"""TE-CCL's own objective: earlier arrivals of chunks are worth more.

Problem: among the schedules of K epochs, maximise the sum of 1 / (k + 1) over all destinations and
         all epochs k, from 0, by whose end they have their chunks.
Cost:    a program that takes a solver longer than any solution.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 3.1 (the objective) and section 6 (stopped at a
         gap of 30 %). The printed sum is over sources and destinations; the sum over chunks is
         implied. The largest reward need not have the fewest epochs: for these K must be the least.
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
    """A solution with its reward.

    Parameters
    ----------
    kept : dict
        The transfers, as of :func:`baselines.synthesizers.teccl.cleaning.needed`.
    epochs : int
        Epochs until all chunks have arrived.
    status : Status
        Whether it is optimal, within the gap, or the result at a limit.
    value : Fraction
        Reward of the solver's solution; the useful transfers alone have the same.
    bound : float
        Upper bound on the reward of any schedule of so many epochs.
    """

    kept: dict[Sent, Sent | None] = field(repr=False)
    epochs: int
    status: Status
    value: Fraction
    bound: float


def set_reward(program: EpochProgram, demand: Demand) -> None:
    """Make the sum of 1 / (k + 1) the objective of a program that delivers all chunks.

    A chunk held when epoch k + 1 begins was obtained by the end of epoch k.
    """
    wanted = [(chunk, rank) for chunk, ranks in enumerate(demand.wants) for rank in ranks]
    program.objective = {
        program.held[chunk, rank, time]: Fraction(1, time)
        for chunk, rank in wanted
        for time in range(1, program.epochs)
        if (chunk, rank, time) in program.held
    }
    # All chunks are there after the last epoch, so its terms are the same in every solution.
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
    """Find the schedule of the largest reward in so many epochs.

    At the time limit it returns the best found. ``hint``: transfers of a schedule of at most so
    many epochs.

    Raises
    ------
    InfeasibleError
        If it is proved that so many epochs are too few.
    TimeLimitError
        If nothing was found in time.
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
