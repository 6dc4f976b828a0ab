"""Estimate of a sufficient number of epochs, from coarse epochs.

Problem: a number K of epochs of length tau for which there is a schedule; not the least.
Output:  K; or a schedule of K epochs.
Cost:    three small programs for each total time that is tried.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), appendix E, algorithm 1: total times from a list, each
         in 4, 8 and 12 epochs; K is the first that has a schedule, over tau, rounded up.

The paper's list is given; here it begins with the bound of distances and the cut, and grows by a
quarter. A program that is undecided after little work counts as infeasible.

In the paper K is an upper bound of the least number. It need not be: coarse epochs waste less where
a link takes a fraction of an epoch, and drop latencies that finer ones count. So K is at least the
lower bound, and where it is proved too small it grows by a quarter.
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
from baselines.synthesizers.teccl.milp.horizon import Found, least_epochs, nothing_found
from baselines.synthesizers.teccl.milp.solvers import Effort, Outcome, solve
from forestcoll.problem.limits import Limits

__all__ = ["COUNTS", "Estimate", "estimated_epochs", "within_estimate"]

COUNTS = (4, 8, 12)
"""Numbers of coarse epochs."""

_GROWTH = Fraction(5, 4)

_WORK = 2.0
"""CP-SAT's deterministic seconds for a coarse program."""

_SECONDS = 2.0
"""Seconds for other solvers."""

Rounded = Callable[[Fraction], EpochNetwork]
"""Returns the network in epochs of a length in microseconds."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Result of algorithm 1.

    Parameters
    ----------
    epochs : int
        K.
    total_us : Fraction
        The total time for which there is a schedule in coarse epochs.
    coarse : int
        The number of these.
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
        Returns the network in epochs of any length.
    epoch : Fraction
        tau, in microseconds.

    Raises
    ------
    DisconnectedError
        If no path leads from a GPU to another that needs its chunk.
    TimeLimitError
        If time is up.
    """
    deadline = limits.deadline
    fine = rounded(epoch)
    least = least_epochs(fine, demand)
    total = least * epoch
    while True:
        for count in COUNTS:
            left = deadline - time.monotonic()
            if left <= 0:
                raise nothing_found(fine, least)
            coarse = rounded(total / count)
            if _has_schedule(coarse, demand, count, solver, left, limits.threads):
                # Coarse epochs may drop latencies, so their total can be below the lower bound.
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
    """Find a schedule within the estimate, or within a quarter more epochs, and so on.

    Parameters and errors as for :func:`estimated_epochs`. Returns K, and the schedule, which may
    take fewer.
    """
    deadline = limits.deadline
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
    raise nothing_found(network, bound)
