"""The rate of an all-to-all, exact where symmetries make the program small, else nearly.

Problem: the best rate that is found in a given time, whatever the size of the network.
Input:   a network; how near the bounds must come; seconds.
Output:  an optimum of the linear program, or an approximate flow with its bound.
Cost:    one source of each orbit of GPUs in the program: seconds for line graphs, circulants and
         tori of a thousand GPUs. Others take the time of approximate flows.
Source:  none; :mod:`forestcoll.all_to_all.linear_optimum` and
         :mod:`forestcoll.all_to_all.concurrent_flow`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from forestcoll.all_to_all.flow_problem import FlowProblem, flow_problem
from forestcoll.all_to_all.linear_optimum import AllToAllOptimum, all_to_all_rate, grid_rate
from forestcoll.errors import TimeLimitError
from forestcoll.solver.linear_program import Settings
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import Orbits, find_orbits, no_symmetry

if TYPE_CHECKING:
    from forestcoll.all_to_all.concurrent_flow import ApproximateFlow

__all__ = ["near_optimum"]

MOST_UNKNOWNS = 70_000
"""Of the program, flows of every source on every link; beyond it takes many minutes."""


def near_optimum(
    topology: Topology, amount: npt.ArrayLike | None = None, *, eps: float, seconds: float
) -> AllToAllOptimum | ApproximateFlow:
    """Solve the program if it is small enough or a grid's, else bring bounds to within 1 + eps.

    With shared capacities the program is solved whatever its size: approximations have none.

    Parameters
    ----------
    amount : array of shape (N, N), optional
        Amount that each rank has for each other, in any unit; 1 for every other by default.
    eps : float
        For the bounds.
    seconds : float
        For all of it. The search for symmetries gets a tenth.

    Raises
    ------
    InvalidParameterError
        If the amounts, eps or the time are out of range.
    DisconnectedError
        If a GPU cannot reach one that it has something for.
    TimeLimitError
        If there is no such rate in time; with an approximate flow as the incumbent, if there is
        one, and a bound.
    """
    deadline = time.perf_counter() + seconds
    problem = flow_problem(topology, amount)
    left = _left(problem, deadline)
    orbits = find_orbits(topology, left / 10) if problem.uniform else no_symmetry(topology)
    unknowns = (int(orbits.node.max()) + 1) * len(topology.links)
    left = _left(problem, deadline)
    if unknowns > MOST_UNKNOWNS and not topology.shared:
        found = grid_rate(problem, orbits, settings=Settings(seconds=left / 2))
        return found or _approximated(problem, orbits, eps, deadline)
    asked = None if problem.uniform else amount
    return all_to_all_rate(topology, asked, settings=Settings(seconds=left), orbits=orbits)


def _approximated(
    problem: FlowProblem, orbits: Orbits, eps: float, deadline: float
) -> ApproximateFlow:
    """Bring the bounds together for one source of each orbit; if they do not meet so, for all."""
    from forestcoll.all_to_all.concurrent_flow import approximate_flow  # the program needs none

    if len(orbits.generators):
        try:
            folded = problem.folded(orbits)
            found = approximate_flow(folded, eps=eps, seconds=_left(problem, deadline))
        except TimeLimitError:
            if time.perf_counter() >= deadline:
                raise
        else:
            return replace(found, orbits=orbits)
    return approximate_flow(problem, eps=eps, seconds=_left(problem, deadline))


def _left(problem: FlowProblem, deadline: float) -> float:
    """Return the remaining seconds; without any, equal spending on all links is what is known."""
    left = deadline - time.perf_counter()
    if left > 0:
        return left
    bound = problem.bound_gb_s(np.append(1 / problem.bandwidth, np.zeros(len(problem.limit))))
    raise TimeLimitError(
        f"{problem.topology.name}: the time was over before the program was stated; in GB/s per "
        f"unit of demand the rate is at most {bound:.6g}; allow more time",
        bound=bound,
    )
