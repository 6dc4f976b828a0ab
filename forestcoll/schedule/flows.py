"""Flow schedules: an all-to-all with fractional paths for every pair of GPUs.

GPUs appear by *rank*. Unlike in trees and steps, a GPU may forward data that it does not want, as a
switch does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Topology

__all__ = ["FlowSchedule"]


@dataclass(frozen=True, eq=False)
class FlowSchedule(ByValue):
    """An all-to-all as a fluid over paths.

    The data M is the size of nccl-tests: all data that one GPU sends, itself included. So each
    pair has M / N. A path of weight w carries w / ``whole`` of its pair's part.

    Parameters
    ----------
    method : str
        The name of the method that made it.
    whole : int
        The sum of the weights of each pair's paths.
    routes : Routes
        The paths of every ordered pair of ranks, from ``routes.tail`` to ``routes.head``, in
        compressed rows; the weight of a path is its multiplicity. Between its ends a path may visit
        switches and GPUs.
    """

    topology: Topology = field(hash=False)
    method: str
    whole: int
    routes: Routes = field(repr=False)

    @property
    def collective(self) -> str:
        """Always "all-to-all"."""
        return "all-to-all"

    @property
    def num_paths(self) -> int:
        """Number of paths of all pairs together."""
        return len(self.routes.multiplicity)
