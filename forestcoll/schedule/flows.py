"""Flow schedules: an all-to-all in which every pair's data flows at once over paths of its own.

GPUs appear by *rank*. Unlike in trees and steps, data passes through GPUs that neither want nor
change it: a GPU may forward, as a switch does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.schedule.forest import Path, Routes
from forestcoll.topology.model import Topology

__all__ = ["FlowSchedule"]


@dataclass(frozen=True)
class FlowSchedule:
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

    topology: Topology
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

    @classmethod
    def from_shares(
        cls,
        topology: Topology,
        method: str,
        shares: Mapping[tuple[int, int], Sequence[tuple[tuple[int, ...], float]]],
        whole: int,
    ) -> FlowSchedule:
        """Round the shares of each pair's paths to whole numbers that add up to the whole.

        Parameters
        ----------
        topology : Topology
        method : str
        shares : mapping from (source, destination) to sequence of (nodes of a path, share)
            The shares of a pair, in any unit, are positive.
        whole : int
            Each weight is off by less than one of so many parts. Paths of weight 0 are dropped.
        """
        paths = {}
        for pair, found in shares.items():
            weights = _largest_remainders([share for _, share in found], whole)
            paths[pair] = [
                Path(nodes, weight)
                for (nodes, _), weight in zip(found, weights, strict=True)
                if weight
            ]
        return cls(topology, method, whole, Routes.from_paths(paths))


def _largest_remainders(shares: Sequence[float], whole: int) -> list[int]:
    """Deal out a whole number in proportion to the shares."""
    exact = [Fraction(share) for share in shares]
    ideal = [share * whole / sum(exact) for share in exact]
    dealt = [int(part) for part in ideal]
    order = sorted(range(len(ideal)), key=lambda i: (dealt[i] - ideal[i], i))
    for i in order[: whole - sum(dealt)]:
        dealt[i] += 1
    return dealt
