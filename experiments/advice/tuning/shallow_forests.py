"""Depth-bounded forests for ascending depth limits.

One search continues from limit to limit (:mod:`forestcoll.bounded_depth.depth_ladder`): all limits
together take as long as the greatest alone.
"""

from __future__ import annotations

import time

from forestcoll.bounded_depth.depth_limit import ShallowSchedules
from forestcoll.core.pipeline import EXPLICIT
from forestcoll.core.stopwatch import Stopwatch
from forestcoll.errors import TimeLimitError
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.topology.model import Topology

__all__ = ["ShallowForests"]


class ShallowForests:
    """Forests within ascending depth limits.

    Parameters
    ----------
    collective : str
        One of :data:`forestcoll.topology.validation.COLLECTIVES`.
    lp_time_limit_s : float
        For the allreduce program.
    """

    def __init__(
        self, topology: Topology, collective: str, root: str | int | None, lp_time_limit_s: float
    ) -> None:
        self._request = Request.of(
            topology, Options(collective=collective, root=root, lp_time_limit_s=lp_time_limit_s)
        )
        self._clock = Stopwatch(self._tick)
        self._began = self._seconds = 0.0
        self._stopped = False
        self._found: ShallowSchedules[Forest] | None = None

    def within(self, depth: int, seconds: float) -> Forest | Allreduce[Forest]:
        """Return the fastest schedule found within a depth.

        Raises
        ------
        TimeLimitError
            If this depth takes longer, or a smaller one did: smaller ones come first.
        ForestCollError
            As of :func:`forestcoll.generation.generate`.
        """
        self._began, self._seconds = time.perf_counter(), seconds
        if self._stopped:
            raise self._late()
        if self._found is None:
            self._found = ShallowSchedules(self._request, EXPLICIT, self._clock)
        return self._found.within(depth)

    def is_settled(self, depth: int) -> bool:
        """Whether a depth is known to exclude nothing: the optimal forests are as shallow."""
        return self._found is not None and self._found.is_settled(depth)

    def _tick(self, stage: str, done: int, total: int) -> None:
        if time.perf_counter() - self._began > self._seconds:
            self._stopped = True
            raise self._late()

    def _late(self) -> TimeLimitError:
        return TimeLimitError(f"took longer than {self._seconds:g} s to make")
