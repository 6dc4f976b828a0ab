"""Optimal allreduce rate over a single root, with both phases at once (for Blink).

Problem: maximise R subject to x + y <= b, where x carries out-trees of the root r with total weight
         R, and y in-trees. By Edmonds' theorem they exist if and only if every max-flow allows it:

             max  R
             s.t. f^t is a flow from r to t of value R or more, 0 <= f^t_e <= x_e
                  g^t is a flow from t to r of value R or more, 0 <= g^t_e <= y_e
                                                        for every link e and every GPU t but r
                  x_e + y_e <= b_e                      for every link e

         Flow that enters a node and does not leave it is allowed; it does no harm.
Input:   a topology without switches; the rank of the root.
Output:  R, the allreduce's algorithmic bandwidth, in GB/s as a float.
Cost:    2 (N |E| + |E|) + 1 variables and 2 N (|E| + N) rows.
Source:  Blink (MLSys 2020): an allreduce is a reduce and a broadcast of the same root; Edmonds
         (1973). Bandwidths are divided by the least that enters or leaves a GPU, a bound on R;
         no link has a use for more than that in a phase.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import cvxpy as cp
import networkx as nx
import numpy as np

from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.solver.linear_program import Settings
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import validate
from lp.modelling import solve_stated

__all__ = ["TOLERANCE", "overlapped_allreduce_gb_s"]

TOLERANCE = 1e-9
"""By how much a row, a bound or a reduced cost may be off, in the scaled program."""


def overlapped_allreduce_gb_s(topology: Topology, root: int, *, seconds: float) -> float:
    """Build, solve and read the program.

    Parameters
    ----------
    topology : Topology
    root : int
        Its rank.
    seconds : float
        For the solver.

    Raises
    ------
    UnsupportedError
        If there are switches.
    InvalidParameterError
        If there is no such rank, or the time limit is not positive and finite.
    InvalidTopologyError
        Unless an allreduce is possible (:func:`forestcoll.topology.validate`).
    TimeLimitError, SolverError
        Unless the solver proves an optimum within the time.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> round(overlapped_allreduce_gb_s(load_topology("ring:nodes=2"), 0, seconds=60), 6)
    1.0
    """
    if topology.switches:
        raise UnsupportedError(f"unsupported: {topology.name} has switches; the trees span none")
    validate(topology, "allreduce")
    if (
        not isinstance(root, Integral)
        or isinstance(root, bool)
        or not (0 <= int(root) < topology.num_compute)
    ):
        raise InvalidParameterError(
            f"root is {root!r}; {topology.name} has ranks 0 to {topology.num_compute - 1}"
        )
    through = zip(topology.ingress_gb_s, topology.egress_gb_s, strict=True)
    scale = float(min(min(both) for both in through))  # all nodes are GPUs
    problem, rate = _build(topology, root, scale)
    solve_stated(problem, Settings(seconds=seconds, tolerance=TOLERANCE))
    return float(rate.value) * scale


def _build(topology: Topology, root: int, scale: float) -> tuple[Any, Any]:
    """State the program and its variable R, in units of ``scale``."""
    size, links = topology.num_compute, len(topology.links)
    bandwidth = np.minimum([float(link.bandwidth_gb_s) / scale for link in topology.links], 2)
    names = [node.name for node in topology.nodes]
    incidence = nx.incidence_matrix(
        topology.to_networkx(),
        nodelist=names,
        edgelist=[(names[link.tail], names[link.head]) for link in topology.links],
        oriented=True,
    )
    others = [rank for rank in range(size) if rank != root]
    wanted = np.eye(size)[others][:, others]  # of each other GPU by each target
    rate = cp.Variable(bounds=[0, 1], name="R")
    constraints: list[Any] = []
    total: Any = 0
    for way, name in ((1, "out"), (-1, "in")):
        carried = cp.Variable((links, 1), bounds=[0, 1], name=f"trees {name}")
        flow = cp.Variable((links, size - 1), bounds=[0, 1], name=f"flow {name}")
        constraints += [
            (way * (incidence @ flow))[others] >= rate * wanted,
            flow <= carried @ np.ones((1, size - 1)),
        ]
        total = total + carried
    constraints.append(total <= bandwidth[:, None])
    for places, limit in topology.shared_places:
        constraints.append(np.ones(len(places)) @ total[list(places)] <= float(limit) / scale)
    return cp.Problem(cp.Maximize(rate), constraints), rate
