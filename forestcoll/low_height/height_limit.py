"""Schedules of every collective within a height, and what throughput each height costs.

Problem: for few bytes hops count more than throughput; how fast are trees of at most h hops?
Input:   a request, as of :func:`forestcoll.generate.generate`.
Output:  the fastest schedule found within a height; or all that were found, each taller and faster
         than the one before, beside a rate that nothing as low exceeds.
Cost:    that of :mod:`forestcoll.low_height.height_ladder`, for each phase.
Source:  Own; ForestColl optimizes throughput alone.

Of an allreduce the height is the sum of both phases.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

from forestcoll.core.assembly import heights
from forestcoll.core.pipeline import EXPLICIT, Form, schedule_of
from forestcoll.core.stopwatch import Stopwatch
from forestcoll.errors import CapacityOverflowError, InfeasibleError, UnsupportedError
from forestcoll.low_height.height_ladder import Climb, tallest
from forestcoll.problem.request import Request
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.reverse import turned
from forestcoll.topology.describe import counted

__all__ = ["HeightPoint", "least_height", "points_of", "schedule_within"]

F = TypeVar("F", Forest, FactoredForest)


@dataclass(frozen=True, slots=True)
class HeightPoint:
    """A schedule than which no other one found is as low and as fast.

    Parameters
    ----------
    height : int
        Of the tallest tree, in hops from GPU to GPU; of an allreduce, the sum over both phases.
    algbw_gb_s : Fraction
        Algorithmic bandwidth, in GB/s.
    at_most_gb_s : Fraction, optional
        What no trees up to this height exceed, whatever their number; None of an allreduce.
    k : int
        Trees per unit of weight.
    schedule : Forest or Allreduce
    """

    height: int
    algbw_gb_s: Fraction
    at_most_gb_s: Fraction | None
    k: int
    schedule: Forest | Allreduce[Forest] = field(repr=False)

    @property
    def proved(self) -> bool:
        """Whether nothing as low is faster."""
        return self.algbw_gb_s == self.at_most_gb_s


def schedule_within(
    request: Request, form: Form[F], clock: Stopwatch, *, routed: bool = False
) -> F | Allreduce[F]:
    """Make a schedule, within the height that is asked for if one is; then the fastest found.

    Parameters and errors are those of :func:`forestcoll.core.pipeline.schedule_of`.

    Raises
    ------
    InfeasibleError
        If the height is below the eccentricity of a root, which no trees are.
    CapacityOverflowError
        If numbers are too large for the search, too.
    """
    most = request.max_height
    if most is None or request.topology.num_compute == 1:
        return schedule_of(request, form, clock, routed=routed)
    _check(request)
    made: F | Allreduce[F] = schedule_of(request, form, clock, routed=routed)
    low = _height(made) <= most
    if isinstance(made, Allreduce):
        # Where nothing proves it, a pair that low trees make may be faster.
        return (
            made if low and made.optimal else _fastest(made if low else None, request, form, clock)
        )
    if low:
        return made
    forests = [point.schedule for point in _found(request, clock, most)]
    fastest = min(forests, key=lambda schedule: schedule.time_s_per_gb)
    assert isinstance(fastest, Forest)
    return form.hold(fastest)


def _fastest(
    made: Allreduce[F] | None, request: Request, form: Form[F], clock: Stopwatch
) -> Allreduce[F]:
    """Return the fastest of an allreduce, if one is made as low, and of pairs of low trees."""
    pairs = _pairs(request, clock, request.max_height)
    if not (pairs or made):
        raise _too_large(request)
    fastest = min(pairs, key=lambda pair: pair.time_s_per_gb, default=None)
    if made and (fastest is None or made.time_s_per_gb <= fastest.time_s_per_gb):
        return made
    assert fastest is not None
    return Allreduce(form.hold(fastest.reduce), form.hold(fastest.gather), remark=fastest.remark)


def points_of(request: Request, clock: Stopwatch) -> tuple[HeightPoint, ...]:
    """Return schedules from the lowest to the fastest, each taller and faster than that before.

    Raises
    ------
    UnsupportedError
        If there is a single GPU; as of :func:`schedule_within`.
    InfeasibleError
        As of :func:`schedule_within`.
    """
    if request.topology.num_compute == 1:
        raise UnsupportedError("the schedule of a single GPU is empty and has no height")
    _check(request)
    return tuple(_found(request, clock, request.max_height))


def least_height(request: Request) -> int:
    """Return the height that no schedule is below: the eccentricity of a root, in GPU hops."""
    return sum(Climb.of(one).least for one in _phases(request))


def _check(request: Request) -> None:
    if request.method != "forestcoll":
        raise UnsupportedError(
            "the paper's algorithms know no heights; take the method forestcoll for low trees"
        )
    if request.max_height is not None and request.max_height < (least := least_height(request)):
        raise InfeasibleError(
            f"{request.topology.name}: no {request.collective} has trees of "
            f"{counted(request.max_height, 'hop')} from GPU to GPU: a GPU's eccentricity makes it "
            f"{least} at least; give a height of {least} or more"
        )


def _phases(request: Request) -> list[Request]:
    """Return what is asked as collectives of one phase."""
    if request.collective != "allreduce":
        return [request]
    names = ("reduce-scatter", "allgather") if request.root is None else ("reduce", "broadcast")
    return [replace(request, collective=name) for name in names]


def _found(request: Request, clock: Stopwatch, most: int | None) -> list[HeightPoint]:
    schedule = schedule_of(request, EXPLICIT, clock)
    if isinstance(schedule, Forest):
        climb = Climb.of(request)
        forests = climb.forests(schedule, tallest(schedule) if most is None else most, clock)
        points = [_point(forest, climb) for forest in forests]
    else:
        both = _pairs(request, clock, most)
        if most is None or _height(schedule) <= most:
            both.append(schedule)
        points = _not_dominated(_point(one, None) for one in both)
    if not points:
        raise _too_large(request)
    return points


def _too_large(request: Request) -> CapacityOverflowError:
    return CapacityOverflowError(
        f"{request.topology.name}: trees or bandwidths are too large numbers for the search "
        f"for low trees; take fewer trees, or round weights and bandwidths to fewer digits"
    )


def _pairs(request: Request, clock: Stopwatch, most: int | None) -> list[Allreduce[Forest]]:
    """Put forests of both phases together: of equal heights in sum those of the least time."""
    phases = [_ladder(one, clock, most) for one in _phases(request)[1:]]
    network = request.topology
    if network.reversed().links == network.links:
        reducing = [turned(forest, network) for forest in phases[0]]
    else:
        reducing = _ladder(_phases(request)[0], clock, most)
    best: dict[int, tuple[Forest, Forest]] = {}
    for reduce in reducing:
        for gather in phases[0]:
            height = tallest(reduce) + tallest(gather)
            slow = reduce.time_s_per_gb + gather.time_s_per_gb
            if (most is None or height <= most) and (
                height not in best or slow < sum(one.time_s_per_gb for one in best[height])
            ):
                best[height] = reduce, gather
    return [
        Allreduce(*both, remark=f"reduction + gathering within {counted(height, 'hop')}")
        for height, both in best.items()
    ]


def _ladder(request: Request, clock: Stopwatch, most: int | None) -> list[Forest]:
    climb = Climb.of(request)
    forest = schedule_of(request, EXPLICIT, clock)
    assert isinstance(forest, Forest)
    return climb.forests(forest, tallest(forest) if most is None else most, clock)


def _point(schedule: Forest | Allreduce[Forest], climb: Climb | None) -> HeightPoint:
    height = _height(schedule)
    gather = schedule.gather if isinstance(schedule, Allreduce) else schedule
    at_most = None if climb is None else climb.at_most_gb_s(height)
    return HeightPoint(height, schedule.algbw_gb_s, at_most, gather.k, schedule)


def _not_dominated(points: Iterable[HeightPoint]) -> list[HeightPoint]:
    kept: list[HeightPoint] = []
    for point in sorted(points, key=lambda one: (one.height, -one.algbw_gb_s)):
        if not kept or point.algbw_gb_s > kept[-1].algbw_gb_s:
            kept.append(point)
    return kept


def _height(
    schedule: Forest | FactoredForest | Allreduce[Forest] | Allreduce[FactoredForest],
) -> int:
    if isinstance(schedule, Allreduce):
        return sum(_height(phase) for phase in schedule.phases)
    if isinstance(schedule, FactoredForest):
        return int(heights(schedule)[1].max(initial=0))
    return tallest(schedule)
