"""From a request to its schedule: one forest, or the fastest allreduce found.

Problem: the schedule of any collective over switches that forward.
Input:   a request.
Output:  a forest, explicit or factored; for an allreduce two, with a bound.
Cost:    that of the core's stages; the allreduce program's, if no cut proves the two optimal.
Source:  ForestColl sections 5 and 5.7.
"""

from __future__ import annotations

from functools import partial
from typing import TypeVar

from forestcoll.allreduce.best_allreduce import PROGRAM_STAGE, Improved, best_allreduce
from forestcoll.core.pipeline import Form, both_phases, forest_of
from forestcoll.core.stopwatch import Stopwatch
from forestcoll.problem.request import Request
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest

__all__ = ["schedule_of"]

F = TypeVar("F", Forest, FactoredForest)


def schedule_of(request: Request, form: Form[F], clock: Stopwatch) -> F | Allreduce[F]:
    """Make one forest, or two for an allreduce.

    Parameters
    ----------
    request : Request
        Its ``options.multicast`` is ignored: switches only forward here. See
        :mod:`forestcoll.in_network`.
    form : Form
        :data:`.pipeline.EXPLICIT` or :data:`.pipeline.FACTORED`.
    clock : Stopwatch
        Measures the stages of :mod:`forestcoll.core.pipeline`, and :data:`.PROGRAM_STAGE`.

    Raises
    ------
    ForestCollError
        As for :func:`forestcoll.generation.generate`.
    """
    schedule: F | Allreduce[F]
    if request.collective == "allreduce":
        schedule = _allreduce(request, form, clock)
    else:
        schedule = forest_of(request, form, clock)
    if request.options.routed:
        phases = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
        clock.run("routing", lambda _: [forest.routes.hop for forest in phases])
    return schedule


def _allreduce(request: Request, form: Form[F], clock: Stopwatch) -> Allreduce[F]:
    combination, families = both_phases(request, form, clock)
    asked = request.is_free and request.options.lp_time_limit_s > 0
    program = partial(clock.run, PROGRAM_STAGE, lambda _: _improved(request))
    return best_allreduce(combination, families, program=program if asked else None, hold=form.hold)


def _improved(request: Request) -> Improved:
    from forestcoll.allreduce.orientation import oriented_allreduce

    if request.free_root and (oriented := oriented_allreduce(request.topology)) is not None:
        return Improved(oriented, oriented.bound)
    from forestcoll.allreduce.allreduce_program import improved  # loads HiGHS

    weights = None if request.free_root else request.weights
    return improved(request.topology, weights, seconds=request.options.lp_time_limit_s)
