"""Fewest epochs of the linear program.

Problem: the least K for which the program has a solution; then every larger K has one.
Output:  the flow of the fewest epochs found, and a lower bound.
Cost:    a linear program for each K that is tried, about twice the logarithm of the bound's error.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 4.1 and appendix E. K goes up from a bound in
         growing steps, then by bisection.

The bound is the larger of the distances and the optimum of an all-to-all without epochs
(:mod:`forestcoll.all_to_all`), as proved by its prices: the average over time of a flow in K
epochs is such a flow. That K epochs are too few is proved by the solver in floats, within
``TOLERANCE``.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.lp.flow_program import FlowProgram, amounts, write
from baselines.synthesizers.teccl.milp.horizon import Tell, least_epochs, nothing_found
from forestcoll.errors import InfeasibleError, TimeLimitError
from forestcoll.problem.limits import MOST_SECONDS, Limits

__all__ = [
    "MOST_TRANSFERS", "TOLERANCE", "Flow", "fewest_epochs", "least_epochs_of_flows",
    "within_epochs",
]  # fmt: skip

TOLERANCE = 1e-9
"""Row tolerance of :class:`forestcoll.solver.linear_program.Settings`."""

MOST_TRANSFERS = 5_000_000
"""Limit of sources times arcs times epochs for which a program is written."""

_SAFE = 1e-9
"""Relative error of a bound in floats, subtracted before it is rounded up."""


@dataclass(frozen=True)
class Flow:
    """A solution, and a lower bound on the epochs.

    Parameters
    ----------
    x : float array, one entry a column of the program
    bound : int
        There is no solution in fewer epochs.
    """

    program: FlowProgram = field(repr=False)
    x: npt.NDArray[np.float64] = field(repr=False)
    bound: int

    @property
    def epochs(self) -> int:
        """Epochs until all data has arrived."""
        return self.program.epochs


def least_epochs_of_flows(network: EpochNetwork, demand: Demand, limits: Limits) -> int:
    """Return a lower bound on the epochs, from distances and bandwidths.

    From distances alone if there is no time.

    Raises
    ------
    DisconnectedError
        If no path leads from a GPU to another that needs its data.
    """
    from forestcoll.all_to_all.linear_optimum import all_to_all_rate
    from forestcoll.solver.linear_program import Settings

    least = least_epochs(network, demand)
    seconds = MOST_SECONDS if limits.seconds is None else limits.seconds
    if seconds <= 0:
        return least
    settings = Settings(method="highs-ipm", seconds=seconds, threads=limits.threads)
    try:
        found = all_to_all_rate(network.topology, amounts(network, demand), settings=settings)
    except TimeLimitError:
        return least
    # Every pair gets the rate times its chunks, so all data take as long as one chunk does.
    chunks = found.bound_gb_s * float(network.epoch_us / demand.chunk_kb)
    return max(least, math.ceil((1 - _SAFE) / chunks))


def within_epochs(
    network: EpochNetwork, demand: Demand, epochs: int, solver: str, limits: Limits
) -> Flow:
    """Find a flow in so many epochs.

    Raises
    ------
    InfeasibleError
        If there is none.
    TimeLimitError
        If time is up.
    """
    search = _Search(network, demand, solver, limits)
    least = least_epochs_of_flows(network, demand, limits)
    try:
        works = epochs >= least and search.works(epochs)
    except TimeLimitError as error:
        raise TimeLimitError(
            f"teccl: no answer for {epochs} epochs on {network.topology.name} in the time given",
            bound=least,
        ) from error
    if not works:
        raise InfeasibleError(
            f"teccl: {epochs} epochs are too few on {network.topology.name}, for parts of chunks "
            f"too"
        )
    assert search.best is not None
    return Flow(search.best.program, search.best.x, least)


def fewest_epochs(
    network: EpochNetwork,
    demand: Demand,
    solver: str,
    limits: Limits,
    tell: Tell = lambda incumbent, bound: None,
) -> Flow:
    """Search for the least number of epochs.

    At the limit it returns the fewest epochs found. ``tell`` is called with the epochs found, if
    any, and the lower bound.

    Raises
    ------
    DisconnectedError
        If no path leads from a GPU to another that needs its data.
    TimeLimitError
        If nothing was found; its ``bound`` is the least number of epochs still open.
    """
    search = _Search(network, demand, solver, limits)
    return search.run(least_epochs_of_flows(network, demand, limits), tell)


class _Search:
    def __init__(self, network: EpochNetwork, demand: Demand, solver: str, limits: Limits) -> None:
        self.network = network
        self.demand = demand
        self.method = "gurobi" if solver == "gurobi" else "highs"
        self.limits = limits
        self.deadline = limits.deadline
        self.best: Flow | None = None
        self.limit = "in the time given"

    def run(self, bound: int, tell: Tell) -> Flow:
        step = 1
        tell(None, bound)
        try:
            # Steps double from the bound, so the largest program tried is small if the bound is
            # good.
            while not self.works(bound + step - 1):
                bound += step
                step *= 2
                tell(None, bound)
            assert self.best is not None
            # Infeasible below the bound, feasible at best.epochs: bisection keeps both.
            while bound < self.best.epochs:
                tell(self.best.epochs, bound)
                middle = (bound + self.best.epochs) // 2
                if not self.works(middle):
                    bound = middle + 1
        except TimeLimitError:
            if self.best is None:
                raise nothing_found(self.network, bound, self.limit) from None
        tell(self.best.epochs, bound)
        return Flow(self.best.program, self.best.x, bound)

    def works(self, epochs: int) -> bool:
        """Solve for so many epochs, and keep the flow if there is one."""
        from forestcoll.solver.linear_program import Settings
        from forestcoll.solver.solve import solve

        sources = len(set(self.demand.roots))
        if sources * len(self.network.arcs) * epochs > MOST_TRANSFERS:
            self.limit = "in a program that fits memory, larger chunks take fewer epochs"
            raise nothing_found(self.network, epochs, self.limit)
        stated = write(self.network, self.demand, epochs)
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise nothing_found(self.network, epochs)
        settings = Settings(
            method=self.method,
            seconds=min(left, MOST_SECONDS),
            threads=self.limits.threads,
            tolerance=TOLERANCE,
        )
        try:
            found = solve(stated.program, settings)
        except InfeasibleError:
            return False
        self.best = Flow(stated, found.x, 0)
        return True
