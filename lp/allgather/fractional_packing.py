"""Optimal fractional tree packing by column generation: an oracle for the exact core.

Problem: over all spanning out-trees T of the GPUs, whose edges are paths through switches,

             max  x
             s.t. sum of y_T over the T rooted at v  = x      for every GPU v
                  sum of y_T load_T(e)              <= b_e    for every link e
                  y >= 0

         where load_T(e) counts the edges of T whose path uses e. There are too many trees to state
         them all. With prices p_e of the links, the best tree to add from v is the cheapest, and

             x <= sum_e p_e b_e / sum_v (price of the cheapest tree from v)

         for any prices (weak duality). So the best bound so far and the value of the trees found so
         far enclose the optimum.
Output:  x and its bound in GB/s as floats, with the trees and their weights; N x is the algorithmic
         bandwidth, the core's N x*.
Cost:    per round one linear program, shortest paths from every GPU, and N cheapest trees of
         O(N^3) each (times: docs/mathematics/allgather-programs.md).
Source:  Edmonds' theorem on disjoint branchings in its fractional form, as ForestColl section 5
         uses it; pricing by Chu-Liu/Edmonds (:mod:`lp.allgather.arborescence`). Prices are smoothed
         (Wentges 1997).

An edge from u to v costs as much as the cheapest path through switches, which do not multicast. A
path through another GPU is unnecessary: that GPU is in the tree anyway, and splitting the path
there costs no more.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from forestcoll.errors import SolverError, TimeLimitError
from forestcoll.topology import Topology
from forestcoll.topology.validation import validate
from lp.allgather.packing_program import PackedTree, PackingProgram
from lp.solver.linear_program import Settings, Solution, Vector
from lp.solver.solve import solve

__all__ = ["GAP", "FractionalPacking", "fractional_packing"]

GAP = 5e-8
"""Value and bound may differ by so much, relatively, at the end."""

_SMOOTHING = 0.7
"""How much of the prices comes from the best bound's."""

_FLOOR = 1e-10
"""Of the first prices, below which none falls: of two ways for nothing, the shorter is taken."""


@dataclass(frozen=True, slots=True)
class FractionalPacking:
    """A fractional packing: trees that share the links, with its rate and bound.

    Parameters
    ----------
    rate_gb_s : float
        x: the sum of the weights of every root's trees.
    bound_gb_s : float
        Upper bound on x of any packing.
    trees : tuple of PackedTree
        Those with a weight.
    rounds, columns : int
        Programs solved, and trees generated.
    status : str
        "optimal": rate and bound differ by no more than :data:`GAP`.
    tolerance : float
        Largest violation of a constraint, in units of the first bound on x.
    """

    topology: Topology
    rate_gb_s: float
    bound_gb_s: float
    trees: tuple[PackedTree, ...] = field(repr=False)
    rounds: int
    columns: int
    status: str
    tolerance: float

    @property
    def algbw_gb_s(self) -> float:
        """N x."""
        return self.rate_gb_s * self.topology.num_compute


def fractional_packing(topology: Topology, settings: Settings) -> FractionalPacking:
    """Find the best fractional packing.

    Parameters
    ----------
    settings : Settings
        The time limit is for all rounds together.

    Raises
    ------
    InvalidTopologyError
        Unless an allgather is possible (:func:`forestcoll.topology.validate`).
    TimeLimitError
        With the FractionalPacking so far as incumbent, and the best bound on x in GB/s.
    SolverError
        If the solver fails.

    Examples
    --------
    In a ring of 4 GPUs each sends its shard both ways, 3 hops in all for every tree: 12 x <= 8.

    >>> from forestcoll.topology import load_topology
    >>> found = fractional_packing(load_topology("ring:nodes=4"), Settings(seconds=10))
    >>> round(found.rate_gb_s, 6), round(found.bound_gb_s, 6)
    (0.666667, 0.666667)
    """
    validate(topology, "allgather")
    program = PackingProgram(topology)
    deadline = time.monotonic() + settings.seconds
    centre = program.first_prices()
    bound = program.price(centre).bound
    rounds, x = 0, np.zeros(1)
    while True:
        try:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeLimitError("no time is left")
            solution = solve(program.stated(), replace(settings, seconds=left))
        except TimeLimitError as error:
            so_far = _result(program, x, bound, rounds, "feasible", settings)
            raise TimeLimitError(
                f"{topology.name}: the limit of {settings.seconds:g} s was reached after "
                f"{rounds} rounds; x is from {so_far.rate_gb_s:.9g} to {so_far.bound_gb_s:.9g} "
                f"GB/s; allow more time",
                incumbent=so_far,
                bound=so_far.bound_gb_s,
            ) from error
        rounds, x, known = rounds + 1, solution.x, program.num_columns
        bound, centre = _improved(program, solution, bound, centre)
        if bound <= solution.objective * (1 + GAP):
            return _result(program, x, bound, rounds, solution.status, settings)
        if program.num_columns == known:
            raise SolverError(
                f"{topology.name}: no tree helps, yet the bound exceeds the value by a factor of "
                f"{bound / solution.objective:.12g}; the solver is not accurate enough"
            )


def _improved(
    program: PackingProgram, solution: Solution, bound: float, centre: Vector
) -> tuple[float, Vector]:
    """Add trees at smoothed prices, then at plainer ones until a tree is new or the bound closes.

    Returns the best bound and its prices.
    """
    assert solution.row_duals is not None  # there are no whole variables
    own = np.maximum(solution.row_duals[program.num_roots :], 0) + _FLOOR * program.first_prices()
    known = program.num_columns
    for smoothing in (_SMOOTHING, _SMOOTHING / 2, 0.0):
        prices = smoothing * centre + (1 - smoothing) * own
        priced = program.price(prices)
        if priced.bound < bound:
            bound, centre = priced.bound, prices / priced.cost
        if program.num_columns > known or bound <= solution.objective * (1 + GAP):
            break
    return bound, centre


def _result(
    program: PackingProgram,
    x: Vector,
    bound: float,
    rounds: int,
    status: str,
    settings: Settings,
) -> FractionalPacking:
    return FractionalPacking(
        topology=program.topology,
        rate_gb_s=float(x[-1]) * program.scale_gb_s,
        bound_gb_s=bound * program.scale_gb_s,
        trees=tuple(program.weighted(x)),
        rounds=rounds,
        columns=program.num_columns,
        status=status,
        tolerance=settings.tolerance,
    )
