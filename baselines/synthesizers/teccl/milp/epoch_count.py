"""Estimate of a sufficient number of epochs, from coarse epochs.

Problem: a number of epochs K, of length tau, for which there is a schedule; not the least.
Input:   an instance for any length of epochs; tau; a solver, limits.
Output:  K; or a schedule of K epochs.
Cost:    three small programs for each total time that is tried.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), appendix E, algorithm 1: total times from a list, each
         in 4, 8 and 12 epochs; the first that has a schedule, over tau, rounded up, is K.

The list is the caller's there; here it begins with what distances and the cut allow and grows by a
quarter. A program that is not decided after a little work counts as one without a schedule.

In the paper K is an upper bound of the least number. It need not be: coarse epochs waste less
where a link takes a fraction of an epoch, and forget latencies that finer ones count. So K is made
no less than the bound from below, and where it is proved to be too small it grows by a quarter.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from baselines.synthesizers.teccl.cleaning import epochs_taken, needed
from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.epoch_program import write
from baselines.synthesizers.teccl.milp.horizon import Found, least_epochs
from baselines.synthesizers.teccl.milp.solvers import Effort, Outcome, solve
from forestcoll.errors import TimeLimitError
from forestcoll.problem.limits import Limits

__all__ = ["COUNTS", "Estimate", "estimated_epochs", "within_estimate"]

COUNTS = (4, 8, 12)
"""Epochs in a total time."""

_GROWTH = Fraction(5, 4)

_WORK = 2.0
"""Of CP-SAT's deterministic seconds, for a coarse program."""

_SECONDS = 2.0
"""The same for the other solvers, of the clock."""

Rounded = Callable[[Fraction], EpochNetwork]
"""The network in epochs of a length in microseconds."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What algorithm 1 finds.

    Parameters
    ----------
    epochs : int
        K.
    total_us : Fraction
        The total time for which there is a schedule in coarse epochs.
    coarse : int
        How many.
    """

    epochs: int
    total_us: Fraction
    coarse: int


def estimated_epochs(
    rounded: Rounded, demand: Demand, epoch: Fraction, solver: str, limits: Limits
) -> Estimate:
    """Run algorithm 1.

    Parameters
    ----------
    rounded : callable
        Gives the network in epochs of any length.
    demand : Demand
    epoch : Fraction
        tau, in microseconds.
    solver : str
    limits : Limits

    Raises
    ------
    DisconnectedError
        If no path leads from a GPU to another that wants its chunk.
    TimeLimitError
        If the time is up.
    """
    deadline = limits.deadline()
    fine = rounded(epoch)
    least = least_epochs(fine, demand)
    total = least * epoch
    while True:
        for count in COUNTS:
            left = deadline - time.monotonic()
            if left <= 0:
                raise _too_late(fine, least)
            coarse = rounded(total / count)
            if _has_schedule(coarse, demand, count, solver, left, limits.threads):
                return Estimate(max(least, math.ceil(total / epoch)), total, count)
        total *= _GROWTH


def _has_schedule(
    network: EpochNetwork, demand: Demand, epochs: int, solver: str, seconds: float, threads: int
) -> bool:
    known = Effort(seconds, _WORK, threads)
    effort = known if solver == "cp-sat" else Effort(min(seconds, _SECONDS), threads=threads)
    return solve(write(network, demand, epochs), solver, effort).outcome is Outcome.FOUND


def within_estimate(
    rounded: Rounded, demand: Demand, epoch: Fraction, solver: str, limits: Limits
) -> tuple[int, Found]:
    """Find a schedule of no more epochs than the estimate, or of a quarter more, and so on.

    Parameters and errors as of :func:`estimated_epochs`. Returns K, and the schedule, which may
    take fewer.
    """
    deadline = limits.deadline()
    epochs = estimated_epochs(rounded, demand, epoch, solver, limits).epochs
    network = rounded(epoch)
    bound = least_epochs(network, demand)
    while (left := deadline - time.monotonic()) > 0:
        effort = Effort(left, threads=limits.threads)
        answer = solve(write(network, demand, epochs), solver, effort)
        if answer.outcome is Outcome.FOUND:
            kept = needed(network, demand, answer.sent)
            return epochs, Found(kept, epochs_taken(network, kept), bound)
        if answer.outcome is Outcome.INFEASIBLE:
            bound = epochs + 1
            epochs = math.ceil(epochs * _GROWTH)
    raise _too_late(network, bound)


def _too_late(network: EpochNetwork, bound: int) -> TimeLimitError:
    return TimeLimitError(
        f"teccl: nothing found on {network.topology.name} in the time given; {bound} epochs or "
        f"more are still open",
        bound=bound,
    )
