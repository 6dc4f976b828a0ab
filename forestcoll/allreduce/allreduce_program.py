"""The allreduce program within a time limit: a schedule, a bound, or a remark.

Problem: the best allreduce within a time limit.
Input:   a topology; the weights of roots, if fixed; whether switches multicast.
Output:  the schedule of the program, and the exact bound that its prices prove; at the limit the
         bound of the last program solved.
Cost:    that of :mod:`forestcoll.allreduce.cutting_planes` and
         :mod:`forestcoll.allreduce.rounding`.
Source:  ForestColl, appendix on the optimality of allreduce.

With multicast switches the bound's program has these forward nothing, need nothing and be roots if
that helps. :mod:`forestcoll.in_network.multicast_program` then builds the schedule.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeAlias

from forestcoll.allreduce.best_allreduce import Improved
from forestcoll.allreduce.cutting_planes import allreduce_optimum
from forestcoll.allreduce.orbit_program import Roles
from forestcoll.allreduce.result import AllreduceOptimum, rate_scale
from forestcoll.allreduce.rounding import allreduce_forest
from forestcoll.errors import (
    CapacityOverflowError,
    SolverError,
    TimeLimitError,
    UnsupportedError,
)
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.solver.linear_program import Settings
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import Orbits, find_orbits

__all__ = ["MOST_LINKS", "Build", "improved", "proved"]

SEARCH = 0.25
"""Of the time, for finding symmetries."""

MOST_LINKS = 10_000
"""Classes of links; beyond it the program would fill the memory and not end."""


Build: TypeAlias = Callable[[AllreduceOptimum, tuple[int, ...], Orbits, float], Allreduce[Any]]
"""Builds a schedule from the solution, the given weights, the symmetries and a deadline."""


def _packed(
    found: AllreduceOptimum, weights: tuple[int, ...], _: Orbits, deadline: float
) -> Allreduce[Any]:
    return allreduce_forest(found, weights, deadline)


def improved(
    topology: Topology,
    weights: tuple[int, ...] | None,
    *,
    seconds: float,
    multicast: bool = False,
    build: Build = _packed,
) -> Improved:
    """Solve the allreduce program and build its schedule.

    Parameters
    ----------
    topology : Topology
        On which an allreduce is possible.
    weights : tuple of int, optional
        Weight of each rank as a root; free roots if not given.
    seconds : float
        Time limit for everything together.
    multicast : bool
        Whether switches marked ``multicast`` multicast and reduce in the program of the bound.
    build : callable
        Builds the schedule; it may raise the errors of :func:`.rounding.allreduce_forest` and
        TimeLimitError. By default the trees are packed for switches that forward.

    Returns
    -------
    Improved
        The results at the time limit.
    """
    deadline = time.monotonic() + seconds
    orbits = _orbits(topology, weights, seconds)
    found = _proved(topology, weights, orbits, multicast, seconds, deadline)
    if isinstance(found, Improved):
        return found
    try:
        schedule = build(found, weights or (), orbits, deadline)
    except TimeLimitError:
        return Improved(None, found.exact, f"no schedule was found in {seconds:g} s")
    except (SolverError, CapacityOverflowError) as error:
        return Improved(None, found.exact, f"the program's shares make no schedule: {error}")
    return Improved(schedule, found.exact)


def proved(
    topology: Topology, weights: tuple[int, ...] | None, *, multicast: bool, seconds: float
) -> Improved:
    """Solve the program as :func:`improved` does, for its bound only.

    Returns
    -------
    Improved
        Without a schedule; with a remark if the program did not finish.
    """
    deadline = time.monotonic() + seconds
    orbits = _orbits(topology, weights, seconds)
    found = _proved(topology, weights, orbits, multicast, seconds, deadline)
    return found if isinstance(found, Improved) else Improved(None, found.exact)


def _orbits(topology: Topology, weights: tuple[int, ...] | None, seconds: float) -> Orbits:
    """Search for the symmetries that keep the weights, if there are any."""
    if weights is None:
        return find_orbits(topology, SEARCH * seconds)
    # Averaging over a symmetry that moves a weight would change the parts, so only symmetries
    # that keep all weights are allowed.
    marks = [0] * len(topology.nodes)
    for node, weight in zip(topology.compute, weights, strict=True):
        marks[node] = weight
    return find_orbits(topology, SEARCH * seconds, marks=marks)


def _proved(
    topology: Topology,
    weights: tuple[int, ...] | None,
    orbits: Orbits,
    multicast: bool,
    seconds: float,
    deadline: float,
) -> AllreduceOptimum | Improved:
    """Return the solution of the program, or the partial results without it."""
    try:
        return _solved(topology, weights, orbits, multicast, deadline)
    except TimeLimitError as error:
        # Weak duality: prices of any earlier program are a valid bound, finished or not.
        proof = error.proof if isinstance(error.proof, AllreduceBound) else None
        return Improved(None, proof, f"the allreduce program did not finish in {seconds:g} s")
    except (SolverError, CapacityOverflowError) as error:
        return Improved(None, None, f"the allreduce program failed: {error}")
    except UnsupportedError as error:
        return Improved(None, None, str(error))


def _solved(
    topology: Topology,
    weights: tuple[int, ...] | None,
    orbits: Orbits,
    multicast: bool,
    deadline: float,
) -> AllreduceOptimum:
    classes = int(orbits.link.max()) + 1
    if classes > MOST_LINKS:
        raise UnsupportedError(
            f"the network has {classes} kinds of links, more than the {MOST_LINKS} that the "
            f"allreduce program can hold"
        )
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeLimitError("no time is left for the program")
    return allreduce_optimum(
        topology,
        Settings(seconds=left),
        orbits=orbits,
        roles=Roles.of(topology, multicast=multicast, weights=weights or ()),
        scale_gb_s=rate_scale(topology),
    )
