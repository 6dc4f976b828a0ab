"""Flow schedules: an all-to-all, equal or with any amounts, on fractional paths.

GPUs appear by *rank*. Unlike in trees and steps, a GPU may forward data that it does not want, as a
switch does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from forestcoll.problem.demand import Demand
from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.forest import Routes
from forestcoll.topology.describe import counted
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.model import Topology

__all__ = ["FlowSchedule"]


@dataclass(frozen=True, eq=False, repr=False)
class FlowSchedule(ByValue, InBrief):
    """An all-to-all as a fluid over paths.

    Without a demand the data M is the size of nccl-tests: all data that one GPU sends, itself
    included. So each pair has M / N, and a path of weight w carries w / ``whole`` of its pair's
    part. With a demand, M is all its bytes together, and a path of weight w carries w / ``whole``
    bytes.

    Parameters
    ----------
    method : str
        The name of the method that made it.
    whole : int
        The sum of the weights of each pair's paths; with a demand, for each of its bytes.
    routes : Routes
        The paths of every ordered pair of ranks with data, from ``routes.tail`` to
        ``routes.head``, in compressed rows; the weight of a path is its multiplicity. Between its
        ends a path may visit switches and GPUs.
    demand : Demand, optional
        Who has how much for whom, each chunk for one GPU; every pair has as much if not given.
    price : tuple of int
        The claim of a bound: prices of the links and then of the shared capacities, as of
        :class:`forestcoll.problem.price_bound.PriceBound`. Empty if none is claimed.
    """

    topology: Topology = field(hash=False)
    method: str
    whole: int
    routes: Routes = field(repr=False)
    demand: Demand | None = field(default=None, repr=False)
    price: tuple[int, ...] = field(default=(), repr=False)

    @property
    def collective(self) -> str:
        """The collective, "all-to-all"; with a demand its amounts may differ."""
        return "all-to-all"

    def in_a_line(self) -> str:
        """Return the method, the collective, the network and the number of paths."""
        paths = counted(self.num_paths, "path")
        return f"{self.method} {self.collective} on {self.topology.name}: {paths}"

    def in_a_table(self) -> dict[str, object]:
        """Return the same, with the demand."""
        return {
            "topology": self.topology.name,
            "method": self.method,
            "collective": self.collective,
            "demand": None if self.demand is None else self.demand.name,
            "pairs": len(self.routes.tail),
            "paths": self.num_paths,
        }

    @property
    def num_paths(self) -> int:
        """Number of paths of all pairs together."""
        return len(self.routes.multiplicity)
