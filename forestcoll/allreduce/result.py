"""Result of the allreduce program, and the rate of reduce-scatter + allgather for comparison.

Problem: the largest rate of an allreduce, over all divisions of the data among roots and of the
         links between reduction and gathering.
Input:   a topology on which an allreduce is possible.
Output:  the value with a bound, the parts, the capacities of both phases; the rate of a
         reduce-scatter followed by an allgather, which never exceeds it.
Cost:    two exact optima for the latter.
Source:  ForestColl, the paper's section and appendix on allreduce: sequential phases take the sum
         of their times, N x* / 2 if both have the rate x*. Its hypothesis that this is
         optimal where all GPUs have equal bandwidth does not hold as worded in section 5.7: two
         boxes of 2 and of 6 such GPUs refute it (``tests/allreduce/test_cutting_planes.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from forestcoll.core.optimality import optimum
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.solver.linear_program import Vector
from forestcoll.topology.model import Topology

__all__ = [
    "AGREEMENT", "AllreduceOptimum", "BindingCut", "combination_algbw", "rate_scale",
    "useful_bandwidth",
]  # fmt: skip

AGREEMENT = 1e-7
"""Rates nearer than this, relatively, are taken for equal."""


@dataclass(frozen=True, slots=True)
class BindingCut:
    """A cut that limits the rate: in an optimal dual solution it has a price.

    Parameters
    ----------
    phase : str
        "gather": the parts rooted inside must leave over the gathering's share of the links.
        "reduce": they must enter over the reduction's.
    nodes : tuple of int
        Positions of the nodes inside; with symmetries, one of several alike.
    price : float
        Increase of the rate, in GB/s, per additional GB/s over this cut and its images in total.
    """

    phase: str
    nodes: tuple[int, ...]
    price: float


@dataclass(frozen=True, slots=True)
class AllreduceOptimum:
    """An optimal solution of the allreduce program, in floats.

    Parameters
    ----------
    topology : Topology
    algbw_gb_s : float
        Data size by time: the sum of the parts.
    bound_gb_s : float
        No allreduce by trees is faster, up to the tolerance.
    parts_gb_s : float array, one entry a GPU
        x_v: the part of the rate rooted at each rank.
    reduce_gb_s, gather_gb_s : float array, one entry a link
        c_RE and c_BC.
    status : str
        "optimal".
    tolerance : float
        Largest violation of a constraint, as a fraction of the scale of :func:`rate_scale`.
    method : str
        Of :data:`forestcoll.solver.solve.METHODS`.
    binding : tuple of BindingCut
        Highest price first; empty where the program has no cuts.
    cuts, rounds : int
        Cuts generated, and programs solved.
    node_orbits, link_orbits : int
        Classes of nodes and links whose variables were taken to be equal.
    exact : AllreduceBound, optional
        A bound in fractions near ``bound_gb_s``, with the prices that prove it.
    """

    topology: Topology = field(repr=False)
    algbw_gb_s: float
    bound_gb_s: float
    parts_gb_s: Vector = field(repr=False)
    reduce_gb_s: Vector = field(repr=False)
    gather_gb_s: Vector = field(repr=False)
    status: str
    tolerance: float
    method: str
    binding: tuple[BindingCut, ...] = field(default=(), repr=False)
    cuts: int = 0
    rounds: int = 1
    node_orbits: int = 0
    link_orbits: int = 0
    exact: AllreduceBound | None = field(default=None, repr=False)

    def is_attained_by(self, algbw_gb_s: Fraction | float) -> bool:
        """Whether a rate equals the bound, to :data:`AGREEMENT`."""
        return self.bound_gb_s <= float(algbw_gb_s) * (1 + AGREEMENT)


def combination_algbw(topology: Topology) -> Fraction:
    """Return the exact rate of an optimal reduce-scatter and then an optimal allgather.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> combination_algbw(load_topology("ring:nodes=4"))
    Fraction(4, 3)
    """
    times = (optimum(topology, reduction=reduction).time_s_per_gb for reduction in (True, False))
    return 1 / sum(times, start=Fraction(0))


def rate_scale(topology: Topology) -> float:
    """Return an upper bound on the rate, in GB/s, for which 1 stands in the programs.

    It is twice the rate of the combination, which is at least half the best: let S have some GPUs
    but not all. The parts rooted in S leave it as copies, the others as sums, so no allreduce is
    faster than the bandwidth out of S. An allgather's rate is N B(S) / |S| for some S, more than
    B(S); a reduce-scatter's the same for links that enter; so each takes less time than the
    allreduce, and both together less than twice that.
    """
    return 2 * float(combination_algbw(topology))


def useful_bandwidth(topology: Topology, scale_gb_s: float | None = None) -> Vector:
    """Return the bandwidths in units of a bound on the rate, :func:`rate_scale`, none above 2 N.

    With all parts together at most 1, a tree crosses a link at most once for each other GPU, so a
    phase has no use for N on any link; and whatever is wider would spoil the solver's accuracy.
    """
    scale = rate_scale(topology) if scale_gb_s is None else scale_gb_s
    most = 2.0 * topology.num_compute
    each = [float(bandwidth) / scale for bandwidth, _ in topology.columns.kinds]
    useful: Vector = np.minimum(np.array(each), most)[topology.columns.kind]
    return useful
