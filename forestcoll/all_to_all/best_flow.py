"""The best all-to-all known for a network: equal parts or any amounts, with a proof.

Problem: deliver all amounts in the least time, on any network.
Input:   a network, a demand in which every chunk is for one GPU; seconds.
Output:  a flow schedule with its bound; equal where the schedule is optimal, which ``verify``
         decides exactly.
Cost:    milliseconds for boxes and hubs whose ports bind; else that of the linear program, or of
         bounds that approach each other.
Source:  :mod:`forestcoll.all_to_all.two_tier_flow` and :mod:`forestcoll.all_to_all.program_flow`.

Parallel planes are merged first, and the paths are divided over them in the end.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from forestcoll.all_to_all.attained import MOST, Attained
from forestcoll.all_to_all.boxes.nic_chains import nic_chains
from forestcoll.all_to_all.two_tiers import TwoTiers, two_tiers
from forestcoll.errors import InvalidParameterError, TimeLimitError, UnsupportedError
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Routes
from forestcoll.schedule.transform.plane_routes import paths_over_planes
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology
from forestcoll.topology.symmetry.parallel_planes import Planes, merged_planes
from forestcoll.topology.validation import validate

if TYPE_CHECKING:
    from forestcoll.all_to_all.two_tier_flow import TwoTierRouter

__all__ = ["METHOD", "SECONDS", "AllToAllPlanner", "best_flow"]

Ints = npt.NDArray[np.int64]

METHOD = "all-to-all"
"""The method name of the schedules."""

SECONDS = 60.0
"""Default time limit."""

WHOLE = 720_720
"""The least common multiple of 1 to 16: parts of a pair's data, where a program finds paths."""

_WHOLES = (55_440, 2520, 60, 12, 1)
"""Fewer parts, for amounts so large that the weights of all paths would not fit 64 bits."""


class AllToAllPlanner:
    """Plans all-to-alls on one network; what depends on the network alone is computed once.

    In a mixture of experts every layer, or every batch, has other amounts.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    seconds : float
        For the program of each plan, where one is needed.
    parts : int
        As of :func:`best_flow`.

    Raises
    ------
    UnsupportedError
        If there is a single GPU.

    Examples
    --------
    >>> import numpy as np
    >>> planner = AllToAllPlanner("dgx_a100:boxes=2")
    >>> amounts = np.full((16, 16), 1_000_000)
    >>> float(planner.least_us(amounts))
    320.0
    >>> planner.plan(amounts).num_paths
    240
    """

    def __init__(self, topology: Network, *, seconds: float = SECONDS, parts: int = WHOLE) -> None:
        self.topology = as_topology(topology)
        self.seconds, self.parts = seconds, parts
        if self.topology.num_compute < 2:
            raise UnsupportedError(
                f"{self.topology.name} has one GPU, which has nothing to exchange"
            )
        self._planes = merged_planes(self.topology)
        self._most = MOST // _plane_parts(self._planes)
        tiers, self._chains = two_tiers(self._planes.merged), None
        if tiers is None and (chains := nic_chains(self._planes.merged)) is not None:
            tiers, self._chains = two_tiers(chains.reduced), chains
            if tiers is not None and (tiers.no_uplink or tiers.no_downlink):
                tiers = None  # over chains that GPUs share, data would meet itself on its way back
        self._router = None if tiers is None else _router(tiers)

    def plan(self, demand: Demand | npt.ArrayLike | None = None) -> FlowSchedule:
        """Return the best schedule known for a demand, with its bound.

        Parameters
        ----------
        demand : Demand or whole numbers of shape (N, N), optional
            Bytes that each GPU of a row has for each of a column; equal parts if not given.

        Raises
        ------
        InvalidParameterError, UnsupportedError, DisconnectedError, TimeLimitError
            As :func:`best_flow`; or if the amounts are no demand of this network.
        """
        asked = self._demand(demand)
        found = self._by_tiers(asked)
        if found is None or not found.is_optimal:
            found = _better(found, self._planes.merged, asked, self.seconds, self._parts(asked))
        return _over_planes(found, self._planes)

    def least_us(self, demand: Demand | npt.ArrayLike | None = None) -> Fraction:
        """Return the least time that the cuts of GPUs and boxes allow, in microseconds.

        Of equal parts: for one byte a pair. On networks without boxes and hubs, the time of the
        plan's bound.
        """
        asked = self._demand(demand)
        if self._router is None:
            made = self.plan(asked)
            return PriceBound.of(self.topology, asked, made.price).inverse_rate / 1000
        return self._cut(self._amounts(asked), asked).inverse_rate / 1000

    def _demand(self, given: Demand | npt.ArrayLike | None) -> Demand | None:
        if given is None:
            validate(self.topology, "allgather")
            return None
        demand = given if isinstance(given, Demand) else Demand.of_matrix(given)
        if demand.gpus != self.topology.num_compute:
            raise InvalidParameterError(
                f"{demand.name} is of {demand.gpus} GPUs; {self.topology.name} has "
                f"{self.topology.num_compute}"
            )
        if not demand.is_unicast:
            raise UnsupportedError(
                f"{demand.name} has chunks that several GPUs need; flows copy nothing: state an "
                f"amount for each target, or see the method teccl"
            )
        pairs = demand.source * demand.gpus + demand.target
        if (np.diff(pairs) > 0).all():
            return demand
        return Demand.of_matrix(demand.matrix, demand.name)  # chunks of one pair are one amount

    def _parts(self, demand: Demand | None) -> int:
        """Return the parts of each pair's data, or of a byte, with which all weights fit."""
        total = self.topology.num_compute**2 if demand is None else demand.bytes
        fewer = (self.parts, *(one for one in _WHOLES if one < self.parts))
        return next((one for one in fewer if one * total < self._most), 1)

    def _amounts(self, demand: Demand | None) -> Ints:
        if demand is not None:
            return demand.matrix
        ranks = self.topology.num_compute
        return np.ones((ranks, ranks), dtype=np.int64) - np.eye(ranks, dtype=np.int64)

    def _by_tiers(self, demand: Demand | None) -> Attained | None:
        """Route over boxes and hubs; None if the network has none."""
        if self._router is None:
            return None
        amounts = self._amounts(demand)
        schedule = self._router.flow(amounts, demand, most=self._most)
        if schedule is None:
            return None
        loads, chains = self._router.loads(amounts, schedule.whole), self._chains
        if chains is not None:
            routes = schedule.routes
            schedule = replace(
                schedule,
                topology=chains.topology,
                routes=Routes.later(lambda: chains.routes(routes)),
            )
            loads = None if loads is None else chains.loads(loads)
        return Attained(schedule, self._cut(amounts, demand), loads)

    def _cut(self, amounts: Ints, demand: Demand | None) -> PriceBound:
        """Return the bound of the cut of a GPU or a box that binds most."""
        assert self._router is not None  # asked for where there are boxes and hubs
        if self._chains is None:
            return self._router.narrowest_cut(amounts, demand)
        return self._chains.bound(*self._router.binding_set(amounts), demand)


def best_flow(
    topology: Network,
    demand: Demand | None = None,
    *,
    seconds: float = SECONDS,
    parts: int = WHOLE,
) -> FlowSchedule:
    """Find an all-to-all, optimal or with the best bound known.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    demand : Demand, optional
        Every chunk for one GPU; if not given, every GPU has as much for every other.
    seconds : float
        For the program, where one is needed.
    parts : int
        The paths of the program's pairs carry whole multiples of this part of the data. Fewer parts
        cost rate, but make fewer chunks in a runtime's file.

    Raises
    ------
    UnsupportedError
        If a chunk is for several GPUs, or there is a single GPU.
    DisconnectedError
        If a GPU has something for one that it cannot reach.
    TimeLimitError
        If the time was over before there was any schedule; it carries the bound.

    Examples
    --------
    >>> from forestcoll.schedule import verify
    >>> verdict = verify(best_flow("dgx_a100:boxes=2"))
    >>> verdict.optimal, verdict.algbw_gb_s
    (True, Fraction(50, 1))
    """
    return AllToAllPlanner(topology, seconds=seconds, parts=parts).plan(demand)


def _better(
    found: Attained | None, topology: Topology, demand: Demand | None, seconds: float, parts: int
) -> Attained:
    """Take the program where it is better, and the better of both bounds."""
    from forestcoll.all_to_all.program_flow import by_program, can_be_solved  # loads scipy

    if found is not None and not can_be_solved(demand):
        return found
    try:
        other = by_program(topology, demand, seconds=seconds, parts=parts)
    except TimeLimitError:
        if found is None:
            raise
        return found
    if found is None:
        return other
    best = min(found, other, key=lambda one: one.congestion)
    return replace(best, bound=max(found.bound, other.bound, key=lambda one: one.inverse_rate))


def _router(tiers: TwoTiers) -> TwoTierRouter:
    from forestcoll.all_to_all.two_tier_flow import TwoTierRouter  # here: only boxes need it

    return TwoTierRouter.of(tiers)


def _over_planes(found: Attained, planes: Planes) -> FlowSchedule:
    """Divide the paths over the real planes; their links take the merged links' prices."""
    price = found.bound.price
    schedule = replace(found.schedule, method=METHOD, price=price)
    if planes.is_trivial:
        return schedule
    times = _plane_parts(planes)
    routes = schedule.routes  # those of the planes are found when they are asked for

    def over_planes() -> Routes:
        many = replace(routes, multiplicity=routes.multiplicity * times)
        return paths_over_planes(many, planes)

    merged = len(planes.merged.links)
    of_link = [0] * len(planes.topology.links)
    for place, real in enumerate(planes.link_shares()):
        for link, _ in real:
            of_link[link] = price[place]
    return replace(
        schedule,
        topology=planes.topology,
        whole=schedule.whole * times,
        routes=Routes.later(over_planes),
        price=(*of_link, *price[merged:]),
    )


def _plane_parts(planes: Planes) -> int:
    """Return a number of whose multiples each plane carries its share in whole parts."""
    return math.prod(
        {
            math.lcm(*(planes.share[plane].denominator for plane in planes.members[switch]))
            for switch in planes.merged_switches
        }
    )
