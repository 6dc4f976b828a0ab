"""Schedules for a size: forests over time of every collective, with a bound on their time.

Problem: the optimum assumes large data; at a size, latencies count as well.
Input:   a request, alpha; then sizes.
Output:  a schedule of trees, an upper bound on its time, a lower bound on that of any schedule.
Cost:    that of :mod:`forestcoll.forest_over_time.one_phase` for each phase.
Source:  ours; docs/mathematics/forests-over-time.md. An allreduce is a reduction and then a
         gathering, whose times add up. Where every link has an equal reverse, the reduction is the
         gathering reversed; there both may also share their slots.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from forestcoll.core.stopwatch import Stopwatch
from forestcoll.cut_over_time.time_search import LeastTimes
from forestcoll.errors import UnsupportedError
from forestcoll.forest_over_time.common_slots.allreduce_in_slots import AllreducesInSlots
from forestcoll.forest_over_time.one_phase import STAGE, ForestsOfPhase
from forestcoll.forest_over_time.planned_forest import reduction_of
from forestcoll.forest_over_time.time_minimum import Report
from forestcoll.problem.over_time.time_bound import TimeBound
from forestcoll.problem.request import Request
from forestcoll.problem.sizes import size_text
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.topology.in_brief import InARow

__all__ = ["TimedForests", "TimedSchedule"]

_GOOD = Fraction(101, 100)  # of the bound: constant rates that take no longer will do


@dataclass(frozen=True, slots=True, repr=False)
class TimedSchedule(InARow):
    """A schedule with bounds on its time at a size, in the fluid model.

    Parameters
    ----------
    schedule : Forest, or an Allreduce of two
    size_bytes : int
        As nccl-tests counts it: all shards together.
    alpha_us : Fraction
        Latency of a hop from GPU to GPU, beside those of its links.
    time_us : Fraction
        A plan of the schedule's rates takes this long: an upper bound on its least time, not
        that itself.
    plan : str
        "constant rates" from the start on, or "slots"; for an allreduce, of both phases, or
        "common slots" of both.
    bound : TimeBound
        A lower bound on the time of any schedule.
    """

    schedule: Forest | Allreduce[Forest]
    size_bytes: int
    alpha_us: Fraction
    time_us: Fraction
    plan: str
    bound: TimeBound = field(repr=False)

    def in_a_row(self) -> dict[str, object]:
        """Return the size, and the time with its lower bound."""
        return {
            "size": size_text(self.size_bytes),
            "time_us": self.time_us,
            "at_least_us": self.bound.time_us,
            "of_bound": self.of_bound,
            "plan": self.plan,
        }

    @property
    def of_bound(self) -> Fraction:
        """The time as a multiple of the lower bound, 1 or more."""
        return self.time_us / self.bound.time_us


class TimedForests:
    """Forests over time of a collective, for many sizes.

    Parameters
    ----------
    request : Request
    alpha_us : Fraction

    Raises
    ------
    UnsupportedError
        For a single GPU, or more GPUs than
        :data:`forestcoll.forest_over_time.one_phase.MOST_GPUS`.
    ForestCollError
        As :func:`forestcoll.generation.generate`.

    Examples
    --------
    >>> from forestcoll.problem.options import Options
    >>> made = TimedForests(Request.of("dgx_a100:boxes=2", Options()), Fraction(10)).at(2**22)
    >>> made.plan, made.time_us < Fraction(31), made.of_bound < Fraction(21, 20)
    ('slots', True, True)
    """

    def __init__(
        self, request: Request, alpha_us: Fraction, clock: Stopwatch | None = None
    ) -> None:
        if request.topology.num_compute == 1:
            raise UnsupportedError(
                f"{request.topology.name} has a single GPU: nothing moves, so no time passes"
            )
        self._request, self._alpha_us = request, alpha_us
        self._clock = Stopwatch() if clock is None else clock
        network = request.topology
        both = request.collective == "allreduce"
        rooted = both or request.root is not None
        self._least = LeastTimes(
            network,
            request.collective,
            alpha_us,
            root=None if both else request.root,
            weights=None if rooted else request.options.weights,
        )
        self._mirrored = network.reversed() == network
        self._phases = [ForestsOfPhase(one, alpha_us, self._clock) for one in self._of_one_phase()]
        self._both = None
        if both and self._mirrored and request.free_root:
            self._both = AllreducesInSlots(network, self._phases[0], alpha_us)

    def at(self, size_bytes: int) -> TimedSchedule:
        """Return the schedule of least time found for a size."""
        bound = self._least.bound(size_bytes, one_pass=False)
        return self._clock.run(STAGE, lambda report: self._timed(size_bytes, bound, report))

    def _timed(self, size_bytes: int, bound: TimeBound, report: Report | None) -> TimedSchedule:
        request = self._request
        # Half of an allreduce's bound is no bound of a phase; there slots are always tried.
        good = Fraction(0) if request.collective == "allreduce" else _GOOD * bound.time_us
        found = [phase.at(size_bytes, good, report) for phase in self._phases]
        schedule: Forest | Allreduce[Forest] = found[-1]
        if request.collective == "allreduce":
            if len(found) == 1:  # the reduction is the gathering reversed
                found = [reduction_of(found[0], request.topology), found[0]]
            remark = f"reduction + gathering for {size_bytes} bytes"
            schedule = Allreduce(found[0], found[1], remark=remark)
        plans = [one.plan for one in found if one.plan is not None]
        made = TimedSchedule(
            schedule=schedule,
            size_bytes=size_bytes,
            alpha_us=self._alpha_us,
            time_us=sum((plan.time_us for plan in plans), start=Fraction(0)),
            plan=" + ".join(
                dict.fromkeys("slots" if plan.slots else "constant rates" for plan in plans)
            ),
            bound=bound,
        )
        return made if self._both is None else _in_common_slots(self._both, made, report)

    def _of_one_phase(self) -> list[Request]:
        request = self._request
        if request.collective != "allreduce":
            return [request]
        rooted = request.root is not None
        names = ("reduce", "broadcast") if rooted else ("reduce-scatter", "allgather")
        phases = [
            replace(request, options=replace(request.options, collective=name)) for name in names
        ]
        return phases[1:] if self._mirrored else phases


def _in_common_slots(
    both: AllreducesInSlots, made: TimedSchedule, report: Report | None
) -> TimedSchedule:
    """Return the allreduce whose phases share slots, if it takes less time."""
    found = both.at(made.size_bytes, made.time_us, _GOOD * made.bound.time_us, report)
    if found is None or found.gather.plan is None:
        return made
    time_us = found.gather.plan.time_us
    both_at_once = replace(found, remark=f"both phases at once for {made.size_bytes} bytes")
    return replace(made, schedule=both_at_once, time_us=time_us, plan="common slots")
