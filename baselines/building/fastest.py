"""Choice of the fastest variant of a method.

Problem: choose the fastest of several schedules of one collective.
Input:   step schedules.
Output:  the one of least pipelined time; ties go to the least synchronous time, then the first.
Cost:    two measurements of each.
Source:  ours: the meaning of "theoretical algbw" for every method
         (:mod:`forestcoll.schedule.cost_model.measures`).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from forestcoll.schedule.cost_model.measures import cost, synchronous
from forestcoll.schedule.steps import StepSchedule

__all__ = ["fastest"]


def fastest(schedules: Iterable[StepSchedule]) -> StepSchedule:
    """Return the schedule of least pipelined time; ties go to the least synchronous time."""
    return min(schedules, key=_times)


def _times(schedule: StepSchedule) -> tuple[Fraction, Fraction]:
    return cost(schedule).time_s_per_gb, synchronous(schedule).time_s_per_gb
