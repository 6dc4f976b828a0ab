"""The allreduce program as the core asks for it: a schedule, a bound, or why there is none.

Problem: the best allreduce within a stated time.
Input:   a topology; where parts must be summed up, if that is asked for; whether switches copy.
Output:  the schedule of the program, and the exact bound that its prices prove; at the limit the
         bound of the last program solved.
Cost:    that of :mod:`lp.allreduce.cutting_planes` and :mod:`lp.allreduce.rounding`; where switches
         copy, two programs.
Source:  ForestColl, appendix on the optimality of allreduce. An entry point of the group
         ``forestcoll.allreduce`` (:mod:`forestcoll.core.best_allreduce`).

Where switches copy and add, the program for the bound lets them forward nothing, need nothing and
be roots; that for the schedule takes them for GPUs without data of their own, which must be
reached, so that the core's spanning trees serve. The two values are mostly the same.
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
from forestcoll.multicast.copying import as_gpus, from_spanning
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import find_orbits, no_symmetry
from lp.allreduce.cutting_planes import allreduce_optimum
from lp.allreduce.orbit_program import Roles
from lp.allreduce.result import AllreduceOptimum, rate_scale
from lp.allreduce.rounding import allreduce_forest
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
        Of each rank: where the parts are summed up; anywhere if not given.
    copying : bool
        Whether switches marked ``multicast`` copy and add.
    seconds : float
        For all together.

    Returns
    -------
    Improved
        What was found until then.
    """
    copies = copying and any(node.multicast for node in topology.nodes)
    deadline = time.monotonic() + seconds
    found = _proved(topology, weights, copies, seconds)
    if isinstance(found, Improved):
        return found
    try:
        schedule: Allreduce[Any] = (
            _with_copies(topology, weights, deadline)
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
    found = _proved(topology, weights, copies, seconds)
    return found if isinstance(found, Improved) else Improved(None, found.exact)


def _proved(
    topology: Topology, weights: tuple[int, ...] | None, copies: bool, seconds: float
) -> AllreduceOptimum | Improved:
    """Return the solution of the program, or what is known without it."""
    try:
        return _solved(topology, topology, weights, copies=copies, seconds=seconds)
    except TimeLimitError as error:
        proof = error.proof if isinstance(error.proof, AllreduceBound) else None
        return Improved(None, proof, f"the allreduce program did not finish in {seconds:g} s")
    except (SolverError, CapacityOverflowError) as error:
        return Improved(None, None, f"the allreduce program failed: {error}")
    except UnsupportedError as error:
        return Improved(None, None, str(error))


def _solved(
    topology: Topology,
    network: Topology,
    weights: tuple[int, ...] | None,
    *,
    copies: bool,
    seconds: float,
) -> AllreduceOptimum:
    """Solve the program of a network, which is the topology or has GPUs for its switches."""
    if network is topology:
        roles = Roles.of(topology, copying=copies, weights=weights or ())
    else:
        forwarding = network.switches
        roles = Roles(topology.compute, network.compute, forwarding, weights or ())
    began = time.monotonic()
    orbits = no_symmetry(topology)  # as weights may differ
    if weights is None:
        orbits = find_orbits(topology, SEARCH * seconds)
    classes = int(orbits.link.max()) + 1
    if classes > MOST_LINKS:
        raise UnsupportedError(
            f"the network has {classes} kinds of links, more than the {MOST_LINKS} that the "
            f"allreduce program can hold"
        )
    left = seconds - (time.monotonic() - began)
    if left <= 0:
        raise TimeLimitError("no time is left for the program")
    return allreduce_optimum(
        network,
        Settings(seconds=left),
        orbits=orbits,
        roles=roles,
        scale_gb_s=rate_scale(topology),
    )


def _with_copies(
    topology: Topology, weights: tuple[int, ...] | None, deadline: float
) -> Allreduce[Any]:
    """Build the schedule in which marked switches take part as GPUs do."""
    network = as_gpus(topology)
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeLimitError("no time is left for the schedule")
    found = _solved(topology, network, weights, copies=True, seconds=left)
    of_network = () if weights is None else _weights_of(network, topology, weights)
    made = allreduce_forest(found, of_network, deadline)
    return Allreduce(from_spanning(made.reduce, topology), from_spanning(made.gather, topology))


def _weights_of(network: Topology, topology: Topology, weights: tuple[int, ...]) -> tuple[int, ...]:
    """Give weights to the ranks of the network with more GPUs: none to those that are switches."""
    weight = dict(zip(topology.compute, weights, strict=True))
    return tuple(weight.get(node, 0) for node in network.compute)
