"""Fastest allreduce: reduce-scatter + allgather if proved optimal, else the allreduce LP's.

Problem: reduce-scatter + allgather takes the sum of two least times. Unequal parts at the roots, or
         phases that share links unequally, may be faster.
Input:   the combination; sets of nodes that may be tight in both phases.
Output:  the combination, with a bound that it attains; otherwise the faster of it and the schedule
         that an allreduce program finds within its time limit, with the program's bound.
Cost:    linear in the links for each family of sets; else that of the program.
Source:  ForestColl section 5.7 and its appendix on the optimality of allreduce;
         :mod:`forestcoll.core.partition_bound` for the proof without a program.

The caller gives the program as a callable, since networks with multicast switches have another
one, and since its modules load HiGHS, which takes as long as many schedules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from forestcoll.core.partition_bound import Parts, best_known_bound
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest

__all__ = ["PROGRAM_STAGE", "Improved", "best_allreduce"]

PROGRAM_STAGE = "allreduce program"
"""The stage in which the program runs."""

F = TypeVar("F", Forest, FactoredForest, MulticastForest)


@dataclass(frozen=True, slots=True)
class Improved:
    """What an allreduce program found.

    Parameters
    ----------
    schedule : Allreduce, optional
        Without a bound; None if it found none.
    bound : AllreduceBound, optional
        The best bound that it proved; None if it proved none.
    remark : str
        Why there is no schedule, or no better bound; otherwise empty.
    """

    schedule: Allreduce[Any] | None
    bound: AllreduceBound | None
    remark: str = ""


def best_allreduce(
    combination: Allreduce[F],
    families: Iterable[Parts] = (),
    *,
    multicast: bool = False,
    program: Callable[[], Improved] | None = None,
    hold: Callable[[Any], F] = lambda forest: forest,
) -> Allreduce[F]:
    """Return the faster of a combination and the allreduce program's schedule.

    Parameters
    ----------
    combination : Allreduce
        An optimal reduction and an optimal gathering.
    families : iterable of sets of ranks
        Partitions of the GPUs that may prove the combination optimal; single GPUs and boxes are
        tried too.
    multicast : bool
        Whether switches marked ``multicast`` multicast and reduce.
    program : callable, optional
        Runs the allreduce program within its time limit; None: it does not run.
    hold : callable
        Converts a forest of the program to the form of the combination.

    Returns
    -------
    Allreduce
        With the best known bound, and a remark that says which schedule it is and why.
    """
    sequential = combination.sequential_s_per_gb
    bound = best_known_bound(
        combination.topology,
        families,
        multicast=multicast,
        least=1 / sequential if sequential else sequential,
    )
    if bound is None:  # a single GPU
        return combination
    known = replace(combination, bound=bound)
    if bound.algbw_gb_s * sequential == 1:
        return replace(known, remark=f"{_NAME}, optimal by the cuts of its phases")
    if bound.algbw_gb_s * combination.time_s_per_gb == 1:
        return replace(known, remark=f"{_NAME}, optimal by a cut")
    if program is None:
        return replace(known, remark=f"{_NAME}; the allreduce program was not asked")
    return _better(known, program(), hold)


_NAME = "reduction + gathering"


def _better(known: Allreduce[F], found: Improved, hold: Callable[[Any], F]) -> Allreduce[F]:
    """Return the faster schedule with the lower bound, the combination if both are alike."""
    bounds = [one for one in (known.bound, found.bound) if one is not None]
    bound = min(bounds, key=lambda one: one.algbw_gb_s)
    ours, made = known.time_s_per_gb, found.schedule
    if made is not None and made.time_s_per_gb < ours:
        remark = "; ".join(filter(None, ("allreduce program", found.remark)))
        return Allreduce(hold(made.reduce), hold(made.gather), bound, remark)
    why = found.remark or "the allreduce program made nothing faster"
    if bound.algbw_gb_s * ours == 1:
        why = "optimal by the bound of the allreduce program"
    return replace(known, bound=bound, remark=f"{_NAME}; {why}")
