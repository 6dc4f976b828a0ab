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

from forestcoll.all_to_all.best_flow import MOST_UNKNOWNS
from forestcoll.all_to_all.concurrent_flow import ApproximateFlow, approximate_flow
from forestcoll.all_to_all.flow_problem import flow_problem
from forestcoll.all_to_all.linear_optimum import AllToAllOptimum, all_to_all_rate
from forestcoll.solver.linear_program import Settings
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import find_orbits

__all__ = ["near_optimum"]


def near_optimum(
    topology: Topology, *, eps: float, seconds: float
) -> AllToAllOptimum | ApproximateFlow:
    """Solve the program if it is small enough, else bring bounds to within 1 + eps.

    Raises
    ------
    InvalidParameterError
        If eps or the time is out of range.
    UnsupportedError
        If the program is too large and the network has shared capacities.
    TimeLimitError
        If there is no such rate in time; with an approximate flow as the incumbent, if there is
        one, and a bound.
    """
    orbits = find_orbits(topology, seconds / 10)
    if (int(orbits.node.max()) + 1) * len(topology.links) <= MOST_UNKNOWNS:
        return all_to_all_rate(topology, settings=Settings(seconds=seconds), orbits=orbits)
    return approximate_flow(flow_problem(topology), eps=eps, seconds=seconds)
