"""Forests over time for the sizes of a search.

All sizes share the search for trees (:mod:`forestcoll.forest_over_time`), and one time limit.
"""

from __future__ import annotations

import time
from fractions import Fraction

from forestcoll.core.stopwatch import Stopwatch
from forestcoll.errors import TimeLimitError
from forestcoll.forest_over_time.timed_forests import TimedForests
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.topology.model import Topology

__all__ = ["SizedForests"]


class SizedForests:
    """Forests over time, one for each size.

    Parameters
    ----------
    collective : str
        One of :data:`forestcoll.topology.validation.COLLECTIVES`.
    alpha_us : Fraction
        Of the simulations.
    """

    def __init__(
        self, topology: Topology, collective: str, root: str | int | None, alpha_us: Fraction
    ) -> None:
        self._request = Request.of(topology, Options(collective=collective, root=root))
        self._alpha_us = alpha_us
        self._clock = Stopwatch(self._tick)
        self._began = self._spent = self._seconds = 0.0
        self._stopped = False
        self._found: TimedForests | None = None

    def at(self, size_bytes: int, seconds: float) -> Forest | Allreduce[Forest]:
        """Return the schedule of least time found for a size, within the time for all sizes.

        Raises
        ------
        TimeLimitError
            If that time ends before there is a schedule, or has ended at a smaller size.
        ForestCollError
            As of :class:`forestcoll.forest_over_time.timed_forests.TimedForests`.
        """
        self._began, self._seconds = time.perf_counter(), seconds
        if self._stopped:
            raise self._late()
        try:
            if self._found is None:
                self._found = TimedForests(self._request, self._alpha_us, self._clock)
            return self._found.at(size_bytes).schedule
        finally:
            self._spent += time.perf_counter() - self._began

    def _tick(self, stage: str, done: int, total: int) -> None:
        if self._spent + time.perf_counter() - self._began > self._seconds:
            self._stopped = True
            raise self._late()

    def _late(self) -> TimeLimitError:
        return TimeLimitError(f"took longer than {self._seconds:g} s to make, with smaller sizes")
