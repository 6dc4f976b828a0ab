"""The throughput optimum of an allgather as a linear program: an oracle for the exact core.

Problem: maximise x subject to F(s, t; G_x) >= N x for every GPU t (ForestColl Theorem 1), where G_x
         is the network with a source s joined to every GPU v by an edge of capacity x. In full,
         with one flow f^t for each GPU t,

             max  x
             s.t. sum_{(u,v) in E} f^t_(u,v) + g^t_v - sum_{(v,w) in E} f^t_(v,w) >= N x [v = t]
                                                               for every node v and GPU t
                  0 <= f^t_e <= b_e                            for every link e and GPU t
                  0 <= g^t_v <= x                              for every GPU v and GPU t

         where g^t_v is the flow on (s, v) towards t. A node may keep flow, which is harmless. With
         shared capacities, or a switch that sends more than it receives, variables c_e replace b_e
         above. They are the use of a link by all trees together: c_e <= b_e, the sum over the
         links of a shared capacity is at most its limit, and no switch sends more than it receives.
Output:  x* in GB/s as a float, with the solver's status and tolerance.
Cost:    N (|E| + N) + 1 variables and N |V| rows (times: docs/mathematics/allgather-programs.md).
Source:  ForestColl section 5.2, Theorem 1; the linear form of a max-flow as in its appendix on
         allreduce. Bandwidths are divided by an upper bound on x*, so that the optimum lies
         in (0, 1]: HiGHS can call badly scaled programs infeasible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import networkx as nx
import numpy as np

from forestcoll.solver.linear_program import Settings, Solution
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import uses_all_bandwidth, validate
from lp.modelling import solve_stated

__all__ = [
    "TOLERANCE", "AllgatherLp", "AllgatherOptimum", "allgather_rate", "build", "extract", "solve",
]  # fmt: skip

TOLERANCE = 1e-9
"""By how much a row, a bound or a reduced cost may be off, in the scaled program."""


@dataclass(frozen=True, slots=True)
class AllgatherOptimum:
    """Optimum of the linear program.

    Parameters
    ----------
    rate_gb_s : float
        x*: the bandwidth at which every GPU can send its shard to all others.
    algbw_gb_s : float
        N x*.
    status : str
        The solver's; "optimal".
    tolerance : float
        Feasibility and optimality tolerance that the solver was given.
    """

    rate_gb_s: float
    algbw_gb_s: float
    status: str
    tolerance: float


@dataclass(frozen=True, slots=True)
class AllgatherLp:
    """The program, its variable x, and the GB/s for which x = 1 stands."""

    problem: Any
    rate: Any
    scale_gb_s: float
    topology: Topology


def allgather_rate(topology: Topology, *, seconds: float) -> AllgatherOptimum:
    """Build, solve and read the program.

    Parameters
    ----------
    seconds : float
        For the solver.

    Raises
    ------
    InvalidTopologyError
        Unless an allgather is possible (:func:`forestcoll.topology.validate`).
    TimeLimitError, SolverError
        Unless the solver proves an optimum within the time.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> round(allgather_rate(load_topology("dgx_a100:boxes=2"), seconds=60).algbw_gb_s, 6)
    346.666667
    """
    program = build(topology)
    solve(program, seconds=seconds)
    return extract(program)


def build(topology: Topology) -> AllgatherLp:
    """State the program; nothing is solved yet.

    Raises
    ------
    InvalidTopologyError
        Unless an allgather is possible (:func:`forestcoll.topology.validate`).
    """
    validate(topology)
    N = topology.num_compute
    # No GPU can receive the N - 1 other shards faster than its links allow.
    scale = float(min(topology.ingress_gb_s[v] for v in topology.compute)) / (N - 1)
    bandwidth = np.array([float(link.bandwidth_gb_s) for link in topology.links]) / scale

    graph = topology.to_networkx()
    names = [node.name for node in topology.nodes]
    ends = [(names[link.tail], names[link.head]) for link in topology.links]
    incidence = nx.incidence_matrix(graph, nodelist=names, edgelist=ends, oriented=True)

    x = cp.Variable(bounds=[0, 1], name="x")
    # Flows have a column for each target; no link has a use for more than the N shards.
    most = np.tile(np.minimum(bandwidth, N)[:, None], N)
    flow = cp.Variable(most.shape, bounds=[np.zeros_like(most), most], name="f")
    fed = cp.Variable((N, N), bounds=[0, 1], name="g")
    kept = incidence @ flow
    constraints = [
        kept[list(topology.compute)] + fed >= N * x * np.eye(N),
        fed <= x,
    ]
    if topology.switches:
        constraints.append(kept[list(topology.switches)] >= 0)
    if not uses_all_bandwidth(topology, reduction=False):
        constraints += _used_in_all(topology, flow, bandwidth, incidence, scale)
    return AllgatherLp(cp.Problem(cp.Maximize(x), constraints), x, scale, topology)


def _used_in_all(
    topology: Topology, flow: Any, bandwidth: Any, incidence: Any, scale: float
) -> list[Any]:
    """State the use of links by all trees: balanced at switches, within shared capacities."""
    used = cp.Variable(len(bandwidth), bounds=[np.zeros_like(bandwidth), bandwidth], name="c")
    stated = [flow <= used[:, None]]
    if topology.switches:
        stated.append((incidence @ used)[list(topology.switches)] >= 0)
    for places, limit in topology.shared_places:
        stated.append(np.ones(len(places)) @ used[list(places)] <= float(limit) / scale)
    return stated


def solve(program: AllgatherLp, *, seconds: float, method: str = "highs") -> Solution:
    """Solve the program by one of :data:`forestcoll.solver.solve.METHODS`.

    Raises
    ------
    TimeLimitError, SolverError
        Unless an optimum is proved within the time, as of :func:`forestcoll.solver.solve.solve`.
    """
    return solve_stated(
        program.problem, Settings(seconds=seconds, method=method, tolerance=TOLERANCE)
    )


def extract(program: AllgatherLp) -> AllgatherOptimum:
    """Read a solved program, in GB/s."""
    rate = float(program.rate.value) * program.scale_gb_s
    return AllgatherOptimum(
        rate_gb_s=rate,
        algbw_gb_s=rate * program.topology.num_compute,
        status=program.problem.status,
        tolerance=TOLERANCE,
    )
