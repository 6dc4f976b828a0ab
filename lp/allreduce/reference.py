"""The allreduce optimum as a linear program, stated as in the paper: the reference.

Problem: on the complete digraph P of the GPUs (a pair (a, b) for each two), with x_v the part of
         the rate rooted at GPU v, and capacities of the pairs for both phases,

             max  sum_v x_v
             s.t. F(s, t; c_BC + x) >= sum_v x_v                 for every GPU t
                  F(t, s; c_RE + x) >= sum_v x_v                 for every GPU t
                  c_RE(a, b) + c_BC(a, b) = b'(a, b)             for every pair
                  sum_a h^a_e <= b_e                             for every link e
                  sum_in h^a(v) - sum_out h^a(v) = b'(a, v)      for GPUs v /= a; 0 for switches v
                  x, c, h >= 0

         where F is a max-flow, with a source s joined to every GPU v by an edge of capacity x_v
         (from every GPU, for F(t, s)), and is written as a flow for each t; flow that enters a GPU
         and does not leave it does no harm. b' is what the network can carry from GPU to GPU at
         once: flows h by their source a through GPUs and switches. Without switches P is the set
         of links and b' = b, with no h.
Input:   a topology on which an allreduce is possible.
Output:  sum_v x_v in GB/s, x and, without switches, c_RE and c_BC of the links.
Cost:    2 N (|P| + N) flow variables and N |E| of h, |P| = N (N - 1) with switches.
         :mod:`forestcoll.allreduce.cutting_planes` scales.
Source:  ForestColl, appendix on the optimality of allreduce: its linear program for networks
         without switches, and in words for those with switches; here the flows of h are summed up
         by their source (docs/mathematics/allreduce-program.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from forestcoll.allreduce.result import AllreduceOptimum, rate_scale, useful_bandwidth
from forestcoll.solver.linear_program import Settings, Vector
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import validate
from lp.modelling import solve_stated

__all__ = ["AllreduceLp", "allreduce_reference", "build", "extract"]


@dataclass(frozen=True, slots=True)
class AllreduceLp:
    """The program and its variables, in units of ``scale_gb_s``.

    Parameters
    ----------
    problem : cvxpy.Problem
    part : cvxpy.Variable
        x, one entry a GPU.
    reduce, gather : cvxpy.Variable
        c_RE and c_BC, one entry a pair.
    pairs : int array of two columns
        Ranks of each pair of P.
    """

    problem: Any
    part: Any
    reduce: Any
    gather: Any
    pairs: npt.NDArray[np.int64]
    scale_gb_s: float
    topology: Topology


def allreduce_reference(topology: Topology, settings: Settings) -> AllreduceOptimum:
    """Build, solve and read the program.

    Raises
    ------
    InvalidTopologyError
        Unless an allreduce is possible (:func:`forestcoll.topology.validate`).
    TimeLimitError, SolverError
        As :func:`forestcoll.solver.solve.solve`.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> ring = load_topology("ring:nodes=4")
    >>> round(allreduce_reference(ring, Settings(seconds=20)).algbw_gb_s, 6)
    1.333333
    """
    program = build(topology)
    solution = solve_stated(program.problem, settings)
    # The compiled program is a minimisation of the same value, perhaps shifted by a constant.
    return extract(program, settings, solution.objective - solution.bound)


def build(topology: Topology) -> AllreduceLp:
    """State the program; nothing is solved yet."""
    validate(topology, "allreduce")
    N, scale = topology.num_compute, rate_scale(topology)
    bandwidth = useful_bandwidth(topology)
    pairs = _pairs(topology)
    # The sum of the parts is at most 1, so no pair has a use for more in a phase.
    x = cp.Variable(N, bounds=[0, 1], name="x")
    reduce = cp.Variable(len(pairs), bounds=[0, 1], name="c_RE")
    gather = cp.Variable(len(pairs), bounds=[0, 1], name="c_BC")
    incidence = _incidence(pairs, N)
    constraints = [
        *_reaches_every_gpu(incidence, gather, x),
        *_reaches_every_gpu(-incidence, reduce, x),
    ]
    if topology.switches:
        constraints += _carried(topology, bandwidth, pairs, reduce + gather, scale)
    else:
        constraints.append(reduce + gather <= bandwidth)
        constraints += _within_groups(topology, reduce + gather, scale)
    problem = cp.Problem(cp.Maximize(_ones(N) @ x), constraints)
    return AllreduceLp(problem, x, reduce, gather, pairs, scale, topology)


def extract(program: AllreduceLp, settings: Settings, gap: float) -> AllreduceOptimum:
    """Read a solved program, in GB/s; the bound is so much above the value."""
    scale, direct = program.scale_gb_s, not program.topology.switches
    value = float(np.sum(program.part.value)) * scale
    none: Vector = np.zeros(0)
    return AllreduceOptimum(
        topology=program.topology,
        algbw_gb_s=value,
        bound_gb_s=value + gap * scale,
        parts_gb_s=program.part.value * scale,
        reduce_gb_s=program.reduce.value * scale if direct else none,
        gather_gb_s=program.gather.value * scale if direct else none,
        status=program.problem.status,
        tolerance=settings.tolerance,
        method=settings.method,
    )


def _pairs(topology: Topology) -> npt.NDArray[np.int64]:
    """Return P: all pairs of ranks, or those that a link joins where there are no switches."""
    if topology.switches:
        ranks = range(topology.num_compute)
        return np.array([(a, b) for a in ranks for b in ranks if a != b], dtype=np.int64)
    return np.array([(link.tail, link.head) for link in topology.links], dtype=np.int64)


def _ones(count: int) -> Vector:
    """For sums: cvxpy's own adds up memory that nobody set, which at times makes numpy warn."""
    return np.ones(count)


def _incidence(ends: npt.NDArray[np.int64], nodes: int) -> Any:
    """Return the matrix that takes a flow on arcs to what each node keeps of it."""
    arcs = np.arange(len(ends))
    values = np.concatenate([np.ones(len(ends)), -np.ones(len(ends))])
    rows = np.concatenate([ends[:, 1], ends[:, 0]])
    shape = (nodes, len(ends))
    return sp.csr_array((values, (rows, np.concatenate([arcs, arcs]))), shape=shape)


def _reaches_every_gpu(incidence: Any, capacity: Any, x: Any) -> list[Any]:
    """F(s, t; capacity + x) >= sum x for every t: a column of flows for each target."""
    N, arcs = incidence.shape
    flow, fed = (cp.Variable((size, N), bounds=[0, 1]) for size in (arcs, N))
    return [
        incidence @ flow + fed >= np.eye(N) * (_ones(N) @ x),
        flow <= capacity.reshape((arcs, 1), order="C") @ np.ones((1, N)),
        fed <= x.reshape((N, 1), order="C") @ np.ones((1, N)),
    ]


def _carried(
    topology: Topology,
    bandwidth: Vector,
    pairs: npt.NDArray[np.int64],
    wanted: Any,
    scale: float,
) -> list[Any]:
    """The network carries b' = wanted for all pairs at once: a column of flows for each source."""
    N = topology.num_compute
    ends = np.array([(link.tail, link.head) for link in topology.links], dtype=np.int64)
    most = np.repeat(bandwidth[:, None], N, axis=1)
    h = cp.Variable((len(ends), N), bounds=[np.zeros_like(most), most], name="h")
    kept = _incidence(ends, len(topology.nodes)) @ h
    node = np.array(topology.compute)[pairs[:, 1]]
    return [
        h @ _ones(N) <= bandwidth,
        *_within_groups(topology, h @ _ones(N), scale),
        kept[node, pairs[:, 0]] == wanted,
        kept[list(topology.switches)] == 0,
    ]


def _within_groups(topology: Topology, used: Any, scale: float) -> list[Any]:
    """Rows that keep the use of a shared capacity by both phases within its limit."""
    return [
        _ones(len(places)) @ used[list(places)] <= float(limit) / scale
        for places, limit in topology.shared_places
    ]
