"""Exact times of an allreduce whose phases share time slots, at any size and latency.

Problem: how wide must slots be so that no link carries more in a slot than it can, in both phases
         together, and no hop begins before its data have arrived?
Input:   two forests with slots that count from the start of the allreduce; then sizes, latencies.
Output:  the width of a slot and the time, as fractions; None where slots do not fit together.
Cost:    that of :mod:`forestcoll.forest_over_time.slot_times` for each phase.
Source:  ours; docs/mathematics/forests-over-time.md.

Trees of equal place carry the same data: the gathering tree begins when the root has got the first
sums of the reduction tree. Both send as fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.forest_over_time.slot_times import SlotTimes, arrive_as_one, us_per_byte
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.time_plan import Slots

__all__ = ["CommonTimes", "TimesOfPhases"]

_Ints = npt.NDArray[np.int64]

_NEVER = 2**31 - 1  # a slot that no plan reaches


@dataclass(frozen=True, slots=True)
class TimesOfPhases:
    """Times in microseconds.

    Parameters
    ----------
    width_us : Fraction
        Of a slot.
    ends_us : tuple of Fraction
        When the last data of the reduction, and those of the gathering, have arrived.
    """

    width_us: Fraction
    ends_us: tuple[Fraction, Fraction]


class CommonTimes:
    """Widths and times of an allreduce.

    Parameters
    ----------
    schedule : Allreduce of two Forests
        Trees and multiplicities of both phases are equal, place by place.
    slots : tuple of Slots
        Of each phase; their width does not count.
    """

    def __init__(self, schedule: Allreduce[Forest], slots: tuple[Slots, Slots]) -> None:
        self._topology = schedule.topology
        both = zip(schedule.phases, slots, strict=True)
        self._phases = [SlotTimes(forest, one) for forest, one in both]
        self._fits = all(one.fits for one in self._phases)
        if self._fits:
            loads = _summed(*(one.loads for one in self._phases))
            self._us_per_byte = us_per_byte(self._topology, loads, self._phases[0].units)
            self._wait = _least_wait(schedule, slots)

    def at(self, size_bytes: int | Fraction, alpha_us: Fraction) -> TimesOfPhases | None:
        """Return the width of slots and the end of each phase.

        Returns
        -------
        TimesOfPhases or None
            None if data reach a link unequally late, or hops do not wait for one another.
        """
        if not self._fits or not arrive_as_one(
            self._topology, [one.reached(alpha_us) for one in self._phases]
        ):
            return None
        waits = [one.least_width(alpha_us) for one in self._phases]
        least = [one for one in waits if one is not None]
        if len(least) < len(waits) or self._wait < 1:
            return None
        sums = self._phases[0].slowest_hop(alpha_us) / self._wait
        width = max(self._us_per_byte * size_bytes, sums, *least)
        reduction, gathering = (one.end(width, alpha_us) for one in self._phases)
        return TimesOfPhases(width, (reduction, gathering))


def _summed(some: _Ints, others: _Ints) -> _Ints:
    """Return the loads of both phases by slot and link."""
    found = np.zeros((max(len(some), len(others)), some.shape[1]), dtype=np.int64)
    found[: len(some)] += some
    found[: len(others)] += others
    return found


def _least_wait(schedule: Allreduce[Forest], slots: tuple[Slots, Slots]) -> int:
    """Return the fewest slots from a hop to a root to the first hop with its sums from there."""
    ends, begins = (
        np.where(forest.parent[one.tree] == forest.root[one.tree][:, None], one.slot, none)
        for forest, one, none in zip(schedule.phases, slots, (-1, _NEVER), strict=True)
    )
    return int((begins.min(axis=1) - ends.max(axis=1)).min())
