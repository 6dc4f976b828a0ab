"""Depth-limited schedules of every collective, with upper bounds on their rates.

Problem: for few bytes, hops count more than throughput; how fast are trees of at most h hops?
Input:   a request, as for :func:`forestcoll.generation.generate`.
Output:  the fastest schedule found within a depth; or all that were found, each deeper and faster
         than the one before, with an upper bound on the rate of its depth.
Cost:    that of :mod:`forestcoll.bounded_depth.depth_ladder`, for each phase.
Source:  Own; ForestColl optimizes throughput alone.

The depth of an allreduce is the sum over both phases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any, Generic, TypeVar

from forestcoll.allreduce.collective_schedule import schedule_of
from forestcoll.bounded_depth.depth_ladder import Climb, Ladder, deepest
from forestcoll.core.assembly import tree_depths
from forestcoll.core.pipeline import EXPLICIT, Form
from forestcoll.core.stopwatch import Progress, Stopwatch
from forestcoll.errors import CapacityOverflowError, InfeasibleError, UnsupportedError
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology.describe import counted
from forestcoll.topology.in_brief import InARow
from forestcoll.topology.in_rows import InRows
from forestcoll.topology.spec import Network

__all__ = [
    "DepthPoint", "DepthPoints", "ShallowSchedules", "least_depth", "points_of", "rate_by_depth",
    "schedule_within",
]  # fmt: skip


F = TypeVar("F", Forest, FactoredForest)


@dataclass(frozen=True, slots=True, repr=False)
class DepthPoint(InARow):
    """A point of the Pareto front of depth and throughput, with its schedule.

    Parameters
    ----------
    depth : int
        Depth of the deepest tree, in hops from GPU to GPU; for an allreduce, the sum over phases.
    algbw_gb_s : Fraction
        Algorithmic bandwidth, in GB/s.
    at_most_gb_s : Fraction, optional
        Upper bound for trees within this depth, whatever their number; None for an allreduce.
    k : int
        Trees per unit of weight.
    """

    depth: int
    algbw_gb_s: Fraction
    at_most_gb_s: Fraction | None
    k: int
    schedule: Forest | Allreduce[Forest] = field(repr=False)

    @property
    def proved(self) -> bool:
        """Whether the schedule is proved to be the fastest of its depth."""
        return self.algbw_gb_s == self.at_most_gb_s

    def in_a_row(self) -> dict[str, object]:
        """Return the depth, the rate with its bound, and k."""
        return {
            "depth": self.depth,
            "algbw_gb_s": self.algbw_gb_s,
            "at_most_gb_s": self.at_most_gb_s,
            "proved": self.proved,
            "k": self.k,
        }


class DepthPoints(InRows[DepthPoint]):
    """The Pareto front of depth and throughput, by depth."""

    __slots__ = ()
    what = "depth"


def schedule_within(request: Request, form: Form[F], clock: Stopwatch) -> F | Allreduce[F]:
    """Make a schedule; if the request limits the depth, the fastest found within the limit.

    Parameters and errors are those of :func:`forestcoll.allreduce.collective_schedule.schedule_of`.

    Raises
    ------
    InfeasibleError
        If the depth is below the eccentricity of a root, so that no trees exist.
    CapacityOverflowError
        Also if numbers are too large for the search.
    """
    most = request.options.max_depth
    if most is None or request.topology.num_compute == 1:
        return schedule_of(request, form, clock)
    _check(request, most)
    return ShallowSchedules(request, form, clock).within(most)


class ShallowSchedules(Generic[F]):
    """The fastest schedules found within increasing depth limits, in one continued search.

    Parameters and errors are those of :func:`forestcoll.allreduce.collective_schedule.schedule_of`;
    the depth of the request is ignored.
    """

    def __init__(self, request: Request, form: Form[F], clock: Stopwatch) -> None:
        self._request, self._clock = request, clock
        self._form: Form[F] = form
        self._made: F | Allreduce[F] = schedule_of(request, form, clock)
        self._ladders: _Ladders | None = None

    def is_settled(self, most: int) -> bool:
        """Whether a limit has no effect: the schedule without it satisfies it and is fastest."""
        # Without a proof of an allreduce, a pair of depth-bounded forests may be faster.
        proved = not isinstance(self._made, Allreduce) or self._made.optimal
        return proved and _height(self._made) <= most

    def within(self, most: int) -> F | Allreduce[F]:
        """Return the fastest within a limit; limits must not decrease from call to call.

        Raises
        ------
        InfeasibleError, CapacityOverflowError
            As for :func:`schedule_within`.
        """
        _check(self._request, most)
        if self.is_settled(most):
            return self._made
        if self._ladders is None:
            self._ladders = _Ladders(self._request, self._clock)
        found, hold = self._ladders.up_to(most), self._form.hold
        fastest = min(found, key=lambda one: one.time_s_per_gb, default=None)
        if _height(self._made) <= most and (
            fastest is None or self._made.time_s_per_gb <= fastest.time_s_per_gb
        ):
            return self._made
        if fastest is None:
            raise _too_large(self._request)
        if isinstance(fastest, Allreduce):
            reduce, gather = fastest.phases
            return Allreduce(hold(reduce), hold(gather), remark=fastest.remark)
        return hold(fastest)


def points_of(request: Request, clock: Stopwatch) -> DepthPoints:
    """Return schedules from the shallowest to the fastest, each deeper than the one before.

    Raises
    ------
    UnsupportedError
        If there is a single GPU; as for :func:`schedule_within`.
    InfeasibleError
        As for :func:`schedule_within`.
    """
    if request.topology.num_compute == 1:
        raise UnsupportedError("the schedule of a single GPU is empty and has no depth")
    most = request.options.max_depth
    _check(request, most)
    return DepthPoints(_found(request, clock, most))


def least_depth(request: Request) -> int:
    """Return the least depth of any schedule: the eccentricity of a root, in GPU hops."""
    return sum(Climb.of(one).least for one in _phases(request))


def _check(request: Request, most: int | None) -> None:
    if request.options.method != "forestcoll":
        raise UnsupportedError(
            "the paper's algorithms have no depth limit; use the method forestcoll"
        )
    if most is not None and most < (least := least_depth(request)):
        raise InfeasibleError(
            f"{request.topology.name}: no {request.collective} has trees of "
            f"{counted(most, 'hop')} from GPU to GPU: the largest eccentricity of a root is "
            f"{least}; give a depth of {least} or more"
        )


def _phases(request: Request) -> list[Request]:
    if request.collective != "allreduce":
        return [request]
    names = ("reduce-scatter", "allgather") if request.root is None else ("reduce", "broadcast")
    options = [replace(request.options, collective=name) for name in names]
    return [replace(request, options=one) for one in options]


def _found(request: Request, clock: Stopwatch, most: int | None) -> list[DepthPoint]:
    if request.collective == "allreduce":
        schedule = schedule_of(request, EXPLICIT, clock)
        low = [schedule] if most is None or _height(schedule) <= most else []
        both = [*_Ladders(request, clock).up_to(most), *low]
        points = _not_dominated(_point(one, None) for one in both)
    else:
        ladder = Ladder.of(request, clock)
        points = [_point(forest, ladder.climb) for forest in ladder.up_to(most)]
    if not points:
        raise _too_large(request)
    return points


def _too_large(request: Request) -> CapacityOverflowError:
    return CapacityOverflowError(
        f"{request.topology.name}: trees or bandwidths are too large numbers for the search "
        f"for shallow trees; take fewer trees, or round weights and bandwidths to fewer digits"
    )


class _Ladders:
    """The ladder of a collective of one phase, or those of both phases of an allreduce."""

    def __init__(self, request: Request, clock: Stopwatch) -> None:
        *reducing, gathering = _phases(request)
        self._network = request.topology
        self._gather = Ladder.of(gathering, clock)
        self._is_pair = bool(reducing)
        self._reduce = None  # if every link has an equal reverse, the gathering is reversed
        if reducing and self._network.reversed() != self._network:
            self._reduce = Ladder.of(reducing[0], clock)

    def up_to(self, most: int | None) -> Sequence[Forest | Allreduce[Forest]]:
        """Return forests, or pairs of them: for each sum of depths the pair of least time."""
        if not self._is_pair:
            return self._gather.up_to(most)
        reduce = self._reduce or self._gather
        # The other phase needs its own least depth.
        gathering = self._gather.up_to(None if most is None else most - reduce.climb.least)
        reducing = (
            [transposed(forest, self._network) for forest in gathering]
            if self._reduce is None
            else reduce.up_to(None if most is None else most - self._gather.climb.least)
        )
        return _paired(reducing, gathering, most)


def _paired(
    reducing: Sequence[Forest], gathering: Sequence[Forest], most: int | None
) -> list[Allreduce[Forest]]:
    best: dict[int, tuple[Forest, Forest]] = {}
    for reduce, gather in product(reducing, gathering):
        depth = deepest(reduce) + deepest(gather)
        slow = reduce.time_s_per_gb + gather.time_s_per_gb
        if (most is None or depth <= most) and (
            depth not in best or slow < sum(one.time_s_per_gb for one in best[depth])
        ):
            best[depth] = reduce, gather
    return [
        Allreduce(*both, remark=f"reduction + gathering within {counted(depth, 'hop')}")
        for depth, both in best.items()
    ]


def _point(schedule: Forest | Allreduce[Forest], climb: Climb | None) -> DepthPoint:
    depth = _height(schedule)
    gather = schedule.gather if isinstance(schedule, Allreduce) else schedule
    at_most = None if climb is None else climb.at_most_gb_s(depth)
    return DepthPoint(depth, schedule.algbw_gb_s, at_most, gather.k, schedule)


def _not_dominated(points: Iterable[DepthPoint]) -> list[DepthPoint]:
    kept: list[DepthPoint] = []
    for point in sorted(points, key=lambda one: (one.depth, -one.algbw_gb_s)):
        if not kept or point.algbw_gb_s > kept[-1].algbw_gb_s:
            kept.append(point)
    return kept


def _height(
    schedule: Forest | FactoredForest | Allreduce[Forest] | Allreduce[FactoredForest],
) -> int:
    if isinstance(schedule, Allreduce):
        return sum(_height(phase) for phase in schedule.phases)
    if isinstance(schedule, FactoredForest):
        return int(tree_depths(schedule)[1].max(initial=0))
    return deepest(schedule)


def rate_by_depth(
    topology: Network,
    options: Options | None = None,
    *,
    progress: Progress | None = None,
    **given: Any,
) -> DepthPoints:
    """Find schedules of small depth, with the throughput of each.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
        A network of two GPUs or more.
    options : Options, optional
        As for :func:`forestcoll.generation.generate`; ``max_depth`` ends the list, ``k`` fixes the
        number of trees per GPU.
    progress : callable, optional
        Called with (stage, done, total).
    **given
        Single options by name.

    Returns
    -------
    DepthPoints
        A tuple of DepthPoint, by depth, from the least depth of this collective (the eccentricity
        of a root, in hops from GPU to GPU). No point dominates another. The last is the schedule of
        :func:`forestcoll.generation.generate` with these options, unless the search found shallower
        trees that are as fast. For an allreduce, a pair of forests may be faster. All others are
        the fastest *found* at their depth; where ``proved``, none faster exists.

    Raises
    ------
    UnsupportedError
        If there is a single GPU, or the method is "paper".
    InfeasibleError
        If ``max_depth`` is below the eccentricity of a root.
    ForestCollError
        As for :func:`forestcoll.generation.generate`.

    Examples
    --------
    Two boxes of eight GPUs: at depth 1 every shard crosses the slow links seven times too often.
    One more hop, over the fast links, removes this cost.

    >>> from forestcoll.topology import load_topology
    >>> for point in rate_by_depth(load_topology("dgx_a100:boxes=2")):
    ...     print(point.depth, point.algbw_gb_s, point.k, point.proved)
    1 50 1 True
    2 1040/3 13 True
    """
    return points_of(Request.of(topology, Options.of(options, given)), Stopwatch(progress))
