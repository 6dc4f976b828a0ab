"""Division of one clocked schedule among the demands that were solved together.

Input:   a step schedule of all chunks, and the demands in the order of their chunks.
Output:  a step schedule for each, all on the same clock.
Cost:    linear in the transfers, for each demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baselines.synthesizers.teccl.demanded import demanded
from baselines.synthesizers.teccl.instance.commodities import Demand
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.steps import StepSchedule

__all__ = ["Stage", "split"]


class Stage(NamedTuple):
    """A demand among several, with its collective and the size of its data."""

    collective: str
    size_bytes: int
    demand: Demand


def split(whole: StepSchedule, stages: Sequence[Stage]) -> list[StepSchedule]:
    """Return the schedule of each stage."""
    clock, sends, first = whole.clock, whole.sends, 0
    assert clock is not None
    assert clock.left is not None
    parts = []
    for collective, size_bytes, demand in stages:
        end = first + len(demand.wants)
        some = np.flatnonzero((first <= sends.chunk) & (sends.chunk < end))
        start, taken = clock.start[some], sends.taken(some)
        routes, path = _used(whole.routes, taken.paths)
        step = np.unique(start, return_inverse=True)[1].astype(np.int32)
        chunk = taken.chunk - np.int32(first)
        own = replace(
            whole,
            collective=collective,
            chunks=demand.chunks,
            sends=replace(taken, step=step, chunk=chunk, path=path),
            routes=routes,
            clock=replace(
                clock,
                size_bytes=size_bytes,
                start=start,
                end=clock.end[some],
                left=clock.left[some],
            ),
        )
        parts.append(own if demand.given is None else demanded(own, demand))
        first = end
    return parts


def _used(routes: Routes, path: npt.NDArray[np.int32]) -> tuple[Routes, npt.NDArray[np.int32]]:
    """Return the paths that some transfers use, and the new path number of each transfer."""
    used, number = np.unique(path, return_inverse=True)
    flat = [(ends, way) for ends, ways in routes.paths().items() for way in ways]
    some: dict[tuple[int, int], list[Path]] = {}
    for i in used.tolist():
        some.setdefault(flat[i][0], []).append(flat[i][1])
    return Routes.from_paths(some), number.astype(np.int32)
