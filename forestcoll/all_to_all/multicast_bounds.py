"""Bounds on the time of any demand, also one whose chunks several GPUs need.

Problem: how long does a demand take at least, and at most?
Input:   a network, a demand.
Output:  at least: prices on the boundary of a GPU or a box, or those that bind if each target gets
         its chunk on its own. At most: the paths of just that.
Cost:    an all-to-all of all targets, and a search from every source for each price.
Source:  ours. Packing trees for chunks with some targets each is NP-hard (Steiner trees), so that
         bounds differ in general; TE-CCL searches for schedules between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from forestcoll.all_to_all.attained import Attained
from forestcoll.all_to_all.best_flow import SECONDS, best_flow
from forestcoll.all_to_all.two_tiers import two_tiers
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound, boundary_prices
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology

__all__ = ["DemandBounds", "demand_bounds"]


@dataclass(frozen=True, slots=True)
class DemandBounds:
    """The least time of a demand lies between these.

    Parameters
    ----------
    least : PriceBound
        No schedule takes less.
    apart : FlowSchedule
        A schedule in which every target gets its chunk on its own.
    """

    least: PriceBound
    apart: FlowSchedule = field(repr=False)

    @property
    def meet(self) -> bool:
        """Whether the schedule takes no longer than the bound, which is the optimum then."""
        return Attained(self.apart, self.least).is_optimal


def demand_bounds(
    topology: Network, demand: Demand | None, *, seconds: float = SECONDS
) -> DemandBounds:
    """Bound the time of a demand; of equal parts if it is None.

    Raises
    ------
    DisconnectedError, TimeLimitError, UnsupportedError
        As :func:`forestcoll.all_to_all.best_flow.best_flow`.

    Examples
    --------
    A chunk of 8 bytes for both other GPUs of a ring one way round crosses the first link once, or
    twice if each gets it on its own.

    >>> demand = Demand.of_chunks(3, [(0, 8, [1, 2])])
    >>> found = demand_bounds("ring:nodes=3,bidirectional=false", demand)
    >>> found.least.inverse_rate
    Fraction(8, 1)
    >>> from forestcoll.schedule import verify
    >>> verify(found.apart).congestion
    Fraction(16, 1)
    """
    network = as_topology(topology)
    if demand is None or demand.is_unicast:
        made = best_flow(network, demand, seconds=seconds)
        return DemandBounds(PriceBound.of(network, demand, made.price), made)
    apart = best_flow(network, Demand.of_matrix(demand.matrix, demand.name), seconds=seconds)
    bounds = (PriceBound.of(network, demand, price) for price in _prices(network, apart.price))
    return DemandBounds(max(bounds, key=lambda bound: bound.inverse_rate), apart)


def _prices(topology: Topology, binding: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    yield binding
    sets: list[tuple[int, ...]] = [(gpu,) for gpu in topology.compute]
    if (tiers := two_tiers(topology)) is not None:
        sets += [tuple(tiers.nodes_of(box)) for box in range(len(tiers.switch))]
    for nodes in sets:
        for into in (False, True):
            yield tuple(boundary_prices(topology, nodes, into=into))
