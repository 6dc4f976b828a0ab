"""Measured times of a collective as shares of the bound, of NCCL's best, and of a simulation.

Problem: is my number good, at each size?
Input:   a run, the expected rates of the network, an alpha.
Output:  for each size, what share of the bound it reaches, of the fastest of NCCL's algorithms
         without latencies, and of that algorithm simulated at this size.
Cost:    a simulation for each size; none for networks of over MOST_SIMULATED GPUs.
Source:  none.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from baselines.registry import METHODS
from experiments.advice.expected import NCCL_METHODS, Expected
from experiments.advice.measured.nccl_tests_output import MeasuredRun, MeasuredSize
from experiments.advice.time_limit import time_limit
from forestcoll.compilation import compile_program
from forestcoll.errors import TimeLimitError
from forestcoll.problem.limits import Limits
from forestcoll.schedule.simulate import AlphaBeta, Simulator, best_chunk_count

__all__ = ["MOST_SIMULATED", "MeasuredShare", "shares"]

MOST_SIMULATED = 64
"""GPUs, beyond which no size is simulated."""


@dataclass(frozen=True, slots=True)
class MeasuredShare:
    """A measured size beside what is possible.

    Parameters
    ----------
    size : MeasuredSize
    of_bound : float
        Least time of any schedule over the measured time.
    of_nccl : float or None
        Measured algbw over that of the fastest of NCCL's algorithms; None if there is none.
    of_simulated : float or None
        Measured algbw over that of the algorithm simulated; None if it was not simulated.
    """

    size: MeasuredSize
    of_bound: float
    of_nccl: float | None
    of_simulated: float | None


def shares(
    run: MeasuredRun, found: Expected, root: str | int | None, model: AlphaBeta, seconds: float
) -> tuple[str, list[MeasuredShare]]:
    """Return the fastest of NCCL's algorithms (empty if there is none), and every size.

    Parameters
    ----------
    run : MeasuredRun
    found : Expected
        Of the same collective, network and root.
    model : AlphaBeta
        Alpha of the simulation.
    seconds : float
        For all simulations together; sizes that come too late have none.
    """
    end = time.monotonic() + seconds
    nccl = [one for one in found.rates if one.what in NCCL_METHODS and one.algbw_gb_s]
    best = max(nccl, key=lambda one: one.algbw_gb_s or 0, default=None)
    simulator = None if best is None else _simulator(found, NCCL_METHODS[best.what], root, end)
    rows = []
    least = found.least_times_us([size.size_bytes for size in run.sizes])
    for size, least_us in zip(
        reversed(run.sizes), reversed(least), strict=True
    ):  # the large ones first: they matter if time runs out
        algbw = size.algbw_gb_s
        simulated = _simulated_gb_s(simulator, size.size_bytes, model, end)
        rows.append(
            MeasuredShare(
                size,
                float(least_us) / size.time_us,
                None if best is None else algbw / float(best.algbw_gb_s or 0),
                None if simulated is None else algbw / simulated,
            )
        )
    return "" if best is None else best.what, rows[::-1]


def _simulator(
    found: Expected, method: str, root: str | int | None, end: float
) -> Simulator | None:
    """Return a simulator of a method's schedule, or None if it is too large or takes too long."""
    if found.topology.num_compute > MOST_SIMULATED:
        return None
    left = end - time.monotonic()
    try:
        with time_limit(left):
            asked = {} if root is None else {"root": root}
            limits = Limits(seconds=left)
            made = METHODS[method].run(found.topology, found.collective, asked, limits)
            return Simulator(compile_program(made))
    except TimeLimitError:
        return None


def _simulated_gb_s(
    simulator: Simulator | None, size_bytes: int, model: AlphaBeta, end: float
) -> float | None:
    """Return the algbw with the best number of pipeline chunks; None if no time is left."""
    if simulator is None:
        return None
    try:
        with time_limit(end - time.monotonic()):
            return float(best_chunk_count(simulator, size_bytes, model).algbw_gb_s)
    except TimeLimitError:
        return None
