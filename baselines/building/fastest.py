"""Choice of the fastest variant of a method.

Problem: of some schedules of the same collective, take the fastest.
Input:   step schedules.
Output:  one of them: the least time pipelined; of equals, the least in steps; of these the first.
Cost:    two measurements of each.
Source:  ours: what "theoretical algbw" means for every method
         (:mod:`forestcoll.schedule.cost_model.measures`).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from forestcoll.schedule.cost_model.measures import cost, synchronous
from forestcoll.schedule.steps import StepSchedule

__all__ = ["fastest"]


def fastest(schedules: Iterable[StepSchedule]) -> StepSchedule:
    """Return the schedule whose data flows fastest; of equals the fastest in steps."""
    return min(schedules, key=_times)


def _times(schedule: StepSchedule) -> tuple[Fraction, Fraction]:
    return cost(schedule).time_s_per_gb, synchronous(schedule).time_s_per_gb
