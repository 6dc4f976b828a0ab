"""Flow schedules: an all-to-all in which every pair's data flows at once over paths of its own.

GPUs appear by *rank*. Unlike in trees and steps, data passes through GPUs that neither want nor
change it: a GPU may forward, as a switch does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Topology

__all__ = ["FlowSchedule"]


@dataclass(frozen=True, eq=False)
class FlowSchedule(ByValue):
    """An all-to-all as a fluid, over paths.

    The data M is what nccl-tests call its size: what one GPU sends in all, to itself too. So each
    pair has M / N. A path of weight w carries w / ``whole`` of its pair's part.

    Parameters
    ----------
    topology : Topology
    method : str
        Who made it.
    whole : int
        What the weights of each pair's paths add up to.
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
        """Paths of all pairs together."""
        return len(self.routes.multiplicity)
