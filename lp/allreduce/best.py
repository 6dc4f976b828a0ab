"""Entry point of the allreduce program for the core: a schedule, a bound, or a remark.

Problem: the best allreduce within a time limit.
Input:   a topology; the weights of roots, if fixed; whether switches multicast.
Output:  the schedule of the program, and the exact bound that its prices prove; at the limit the
         bound of the last program solved.
Cost:    that of :mod:`lp.allreduce.cutting_planes` and :mod:`lp.allreduce.rounding`; where switches
         copy, two programs.
Source:  ForestColl, appendix on the optimality of allreduce. An entry point of the group
         ``forestcoll.allreduce`` (:mod:`forestcoll.core.best_allreduce`).

With multicast switches there are two programs. In that of the bound, these switches forward
nothing, need nothing and may be roots. That of the schedule mixes trees that span some of them
(:mod:`lp.allreduce.mixture`), so that the core can pack them. The two values are mostly equal.
"""

from __future__ import annotations

import time
from typing import Any

from forestcoll.core.best_allreduce import Improved
from forestcoll.errors import (
    CapacityOverflowError,
    SolverError,
    TimeLimitError,
    UnsupportedError,
)
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import Orbits, find_orbits
from lp.allreduce.cutting_planes import allreduce_optimum
from lp.allreduce.mixture import Ingredient, MixtureProgram
from lp.allreduce.mixture_rounding import mixture_forest
from lp.allreduce.orbit_program import Roles
from lp.allreduce.result import AllreduceOptimum, rate_scale
from lp.allreduce.rounding import allreduce_forest
from lp.allreduce.spans import spans_of
from lp.solver.linear_program import Settings

__all__ = ["improved", "proved"]

SEARCH = 0.25
"""Of the time, for finding symmetries."""

MOST_LINKS = 10_000
"""Classes of links; beyond it the program would fill the memory and not end."""


def improved(
    topology: Topology, weights: tuple[int, ...] | None, *, copying: bool, seconds: float
) -> Improved:
    """Solve the allreduce program and build its schedule.

    Parameters
    ----------
    topology : Topology
        On which an allreduce is possible.
    weights : tuple of int, optional
        Weight of each rank as a root; free roots if not given.
    copying : bool
        Whether switches marked ``multicast`` multicast and reduce.
    seconds : float
        Time limit for everything together.

    Returns
    -------
    Improved
        The results at the time limit.
    """
    copies = copying and any(node.multicast for node in topology.nodes)
    deadline = time.monotonic() + seconds
    orbits = _orbits(topology, weights, seconds)
    found = _proved(topology, weights, orbits, copies, seconds, deadline)
    if isinstance(found, Improved):
        return found
    try:
        schedule: Allreduce[Any] = (
            _with_copies(found, weights or (), orbits, deadline)
            if copies
            else allreduce_forest(found, weights or (), deadline)
        )
    except TimeLimitError:
        return Improved(None, found.exact, f"no schedule was found in {seconds:g} s")
    except (SolverError, CapacityOverflowError) as error:
        return Improved(None, found.exact, f"the program's shares make no schedule: {error}")
    return Improved(schedule, found.exact)


def proved(
    topology: Topology, weights: tuple[int, ...] | None, *, copying: bool, seconds: float
) -> Improved:
    """Solve the program as :func:`improved` does, for its bound only.

    Returns
    -------
    Improved
        Without a schedule; with a remark if the program did not finish.
    """
    copies = copying and any(node.multicast for node in topology.nodes)
    deadline = time.monotonic() + seconds
    orbits = _orbits(topology, weights, seconds)
    found = _proved(topology, weights, orbits, copies, seconds, deadline)
    return found if isinstance(found, Improved) else Improved(None, found.exact)


def _orbits(topology: Topology, weights: tuple[int, ...] | None, seconds: float) -> Orbits:
    """Search for the symmetries that keep the weights, if there are any."""
    if weights is None:
        return find_orbits(topology, SEARCH * seconds)
    marks = [0] * len(topology.nodes)
    for node, weight in zip(topology.compute, weights, strict=True):
        marks[node] = weight
    return find_orbits(topology, SEARCH * seconds, marks=marks)


def _proved(
    topology: Topology,
    weights: tuple[int, ...] | None,
    orbits: Orbits,
    copies: bool,
    seconds: float,
    deadline: float,
) -> AllreduceOptimum | Improved:
    """Return the solution of the program, or the partial results without it."""
    try:
        return _solved(topology, weights, orbits, copies, deadline)
    except TimeLimitError as error:
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
    copies: bool,
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
        roles=Roles.of(topology, copying=copies, weights=weights or ()),
        scale_gb_s=rate_scale(topology),
    )


def _with_copies(
    found: AllreduceOptimum, weights: tuple[int, ...], orbits: Orbits, deadline: float
) -> Allreduce[MulticastForest]:
    """Build the schedule whose trees reach some of the multicast switches.

    Spans are added until the rate meets the bound.
    """
    topology, classes = found.topology, int(orbits.link.max()) + 1
    program = MixtureProgram(topology, orbits, weights)
    best: tuple[float, tuple[Ingredient, ...]] | None = None
    room = MOST_LINKS // classes
    for spans in spans_of(topology, orbits):
        for span in spans[:room]:
            program.add(span)
        room -= len(spans[:room])
        try:
            best = program.solved(deadline)
        except TimeLimitError:
            if best is None:
                raise
            break
        if found.is_attained_by(best[0]) or room <= 0:
            break
    assert best is not None  # there is a first round, and room for it
    return mixture_forest(topology, best[1], weights, deadline)
