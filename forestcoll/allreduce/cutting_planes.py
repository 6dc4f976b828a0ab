"""Allreduce optimum by cutting planes, over physical links and up to symmetry.

Problem: with x_v the part of the rate rooted at GPU v, and g and r the gathering's and the
         reduction's share of each link,

             max  sum_v x_v
             s.t. x(S) <= g(links that leave S)     for node sets S that miss a GPU
                  x(S) <= r(links that enter S)     for the same
                  g_e + r_e <= b_e                  for every link e
                  g(into w) >= g(out of w)          for every switch w
                  r(into w) <= r(out of w)          for every switch w
                  0 <= x, g, r

         There are exponentially many cuts. The program states only those that a solution of the
         others violates; a max-flow of the core finds them.
Input:   a topology on which an allreduce is possible; its orbits, if known.
Output:  value, bound, parts, shares of the links, binding cuts.
Cost:    N + 2 |E| variables, or one for each orbit of them; per round one solution and two passes
         of max-flows over the GPUs, one of each orbit.
Source:  ForestColl, appendix on the optimality of allreduce, with flows replaced by the cuts that
         they stand for and capacities between GPUs by balanced shares of the physical links.

Why the two are equal, and why one variable an orbit loses nothing (the average of optimal solutions
over a group is optimal): docs/mathematics/allreduce-program.md.

Solutions are floats. The search for cuts rounds them down to a grid, so that max-flows are exact. A
cut is stated if it is violated by more than :data:`MISSED`; at the end no such cut remains. A
first-order method may violate stated cuts by more, up to the result's tolerance.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from forestcoll.allreduce.dual import exact_bound
from forestcoll.allreduce.orbit_program import (
    GATHER,
    PHASES,
    REDUCE,
    CutProgram,
    Inside,
    Point,
    Roles,
)
from forestcoll.allreduce.result import AllreduceOptimum, BindingCut, combination_algbw
from forestcoll.core.optimality import optimum
from forestcoll.core.violation import violated_cut_between
from forestcoll.errors import TimeLimitError
from forestcoll.solver.linear_program import Settings, Solution
from forestcoll.solver.solve import solve
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import Orbits, check_orbits, find_orbits
from forestcoll.topology.validation import validate

__all__ = ["MISSED", "allreduce_optimum", "first_cuts", "missed_cuts"]

MISSED = 4e-9
"""By how much a cut must be missed, in units of the scale, to be stated."""

_GRID = 2.0**40


def allreduce_optimum(
    topology: Topology,
    settings: Settings,
    *,
    orbits: Orbits | None = None,
    roles: Roles | None = None,
    scale_gb_s: float | None = None,
) -> AllreduceOptimum:
    """Find the fastest allreduce by trees.

    Parameters
    ----------
    topology : Topology
    settings : Settings
        The time limit is for all rounds together.
    orbits : Orbits, optional
        Whose variables are taken to be equal: of
        :func:`forestcoll.topology.symmetry.automorphism.orbits_under` for a group that is known, or
        :func:`forestcoll.topology.symmetry.automorphism.no_symmetry`; searched for if not given.
    roles : Roles, optional
        Where parts may be summed up, who must get them, and which nodes only forward; GPUs, GPUs
        and switches if not given.
    scale_gb_s : float, optional
        As of :class:`forestcoll.allreduce.orbit_program.CutProgram`.

    Raises
    ------
    InvalidTopologyError
        Unless an allreduce is possible (:func:`forestcoll.topology.validate`).
    InvalidParameterError
        If the orbits are of another network.
    TimeLimitError
        With the exact rate of reduce-scatter and then allgather as incumbent, the best bound on the
        rate, both in GB/s, and the proof of the last program's, an AllreduceBound, if there is one.
    SolverError
        If the solver fails.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> found = allreduce_optimum(load_topology("dgx_a100:boxes=4"), Settings(seconds=20))
    >>> round(found.algbw_gb_s, 6), found.binding[0].phase
    (133.333333, 'gather')
    """
    validate(topology, "allreduce")
    orbits = find_orbits(topology) if orbits is None else orbits
    check_orbits(topology, orbits)
    program = CutProgram(topology, orbits, roles, scale_gb_s)
    for phase, inside in [*first_cuts(program), *_bottlenecks(program)]:
        program.add(phase, inside)
    deadline = time.monotonic() + settings.seconds
    solutions: list[Solution] = []
    while True:
        solutions.append(_solved(program, settings, deadline, solutions))
        point = program.point(solutions[-1].x)
        added = [
            program.add(phase, inside) for phase, inside in missed_cuts(program, point, deadline)
        ]
        # A missed cut may be stated already, if the solver violates it within its tolerance. Then
        # no round can add anything, and the result's ``tolerance`` covers the difference.
        if not any(added):
            return _result(program, settings, solutions)


def first_cuts(program: CutProgram) -> list[tuple[int, Inside]]:
    """Return, for each target, the cut of all nodes but it, in both phases."""
    cuts = []
    for phase in (GATHER, REDUCE):
        for target in program.targets:
            inside = np.ones(len(program.topology.nodes), dtype=np.bool_)
            inside[target] = False
            cuts.append((phase, inside))
    return cuts


def _bottlenecks(program: CutProgram) -> list[tuple[int, Inside]]:
    """Return the bottleneck cuts of allgather and reduce-scatter."""
    topology, cuts = program.topology, []
    for phase in (GATHER, REDUCE):
        inside = np.zeros(len(topology.nodes), dtype=np.bool_)
        inside[list(optimum(topology, reduction=phase == REDUCE).cut)] = True
        if not inside[list(program.roles.targets)].all():
            cuts.append((phase, inside))
    return cuts


def _solved(
    program: CutProgram, settings: Settings, deadline: float, before: list[Solution]
) -> Solution:
    """Solve what is stated so far in the time that is left."""
    topology, scale = program.topology, program.scale_gb_s
    left = deadline - time.monotonic()
    try:
        if left <= 0:
            raise TimeLimitError("no time is left")
        return solve(program.stated(), replace(settings, seconds=left))
    except TimeLimitError as error:
        bounds = [one.bound for one in before]
        known = min([*bounds, error.bound if isinstance(error.bound, float) else np.inf])
        rate = combination_algbw(topology)
        best = f"at most {known * scale:.9g} GB/s" if np.isfinite(known) else "unknown"
        raise TimeLimitError(
            f"{topology.name}: the limit of {settings.seconds:g} s was reached after "
            f"{program.num_cuts} cuts; the best rate is {best}, reduce-scatter and then allgather "
            f"have {float(rate):.9g} GB/s; allow more time",
            incumbent=rate,
            bound=known * scale if np.isfinite(known) else None,
            proof=exact_bound(program, before[-1]) if before else None,
        ) from error


def missed_cuts(program: CutProgram, point: Point, deadline: float) -> list[tuple[int, Inside]]:
    """Return a violated cut for each target that has one, in either phase.

    After the deadline, the first cut found is enough.
    """
    topology, roles, targets = program.topology, program.roles, program.targets
    reverse = topology.reversed()
    trees = np.zeros(len(topology.nodes), dtype=np.int64)
    trees[list(roles.roots)] = _on_grid(point.part)
    target = np.zeros(len(topology.nodes), dtype=np.uint8)
    target[list(targets)] = 1
    missed = []
    for phase, network, share in (
        (GATHER, topology, point.gather),
        (REDUCE, reverse, point.reduce[topology.reversed_places]),
    ):
        # No cut needs more than all parts together. Without this limit the sums of huge shares
        # could exceed 64 bits.
        capacity, passed = np.minimum(_on_grid(share), trees.sum()), 0
        while passed < len(targets):
            found = violated_cut_between(network, capacity, trees, target, passed=passed)
            if found is None:
                break
            if found.shortage > MISSED * _GRID:
                missed.append((phase, found.inside))
                if time.monotonic() > deadline:
                    return missed
            passed = found.passed + 1
    return missed


def _on_grid(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    # Rounded down, a share loses less than one unit; MISSED is some 4,400 units. So a cut counts as
    # missed for its own sake, not for the rounding of its links.
    return np.floor(np.maximum(values, 0) * _GRID).astype(np.int64)


def _result(program: CutProgram, settings: Settings, solutions: list[Solution]) -> AllreduceOptimum:
    solution = solutions[-1]
    assert solution.row_duals is not None  # there are no whole variables
    scale, point = program.scale_gb_s, program.point(solution.x)
    binding = [
        BindingCut(PHASES[phase], tuple(np.flatnonzero(inside).tolist()), price)
        for (phase, inside), price in program.priced_cuts(solution.row_duals)
        if price > settings.tolerance
    ]
    part = np.zeros(len(program.topology.nodes))
    part[list(program.roles.roots)] = point.part
    return AllreduceOptimum(
        topology=program.topology,
        algbw_gb_s=solution.objective * scale,
        bound_gb_s=solution.bound * scale,
        parts_gb_s=part[list(program.topology.compute)] * scale,
        reduce_gb_s=point.reduce * scale,
        gather_gb_s=point.gather * scale,
        status=solution.status,
        tolerance=max(settings.tolerance, MISSED, solution.violation),
        method=settings.method,
        binding=tuple(sorted(binding, key=lambda cut: -cut.price)),
        cuts=program.num_cuts,
        rounds=len(solutions),
        node_orbits=int(program.orbits.node.max()) + 1,
        link_orbits=int(program.orbits.link.max()) + 1,
        exact=exact_bound(program, solution),
    )
