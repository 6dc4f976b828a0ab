"""The front for one question, with the time of a workload and the distance to the bounds.

Problem: rows for a table: what each network of the front takes, and how much less is possible.
Input:   sizes and degrees, a fabric, a workload of collectives; a budget.
Output:  entries, the best one first, and what no network can beat.
Cost:    the search, and for all-to-alls the bounds on the rate of each entry.
Source:  Zhao et al. (NSDI 2025), section 5.4, table 4 and appendix A.3.

An all-to-all takes no less than its bound on the rate allows, and no more than equal use of all
shortest paths takes; both are given. Its time counts with the slower one. Sums of distances predict
the bound, and the rate of products of symmetric networks; other rates need the network itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from baselines.topology_finder.all_to_all import AllToAllRate, all_to_all_rate
from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.building import network_of
from baselines.topology_finder.candidate import Candidate
from baselines.topology_finder.edge_swaps import swapped
from baselines.topology_finder.finder import Bounds, Question, bounds_of, find, front
from baselines.topology_finder.workload import GATHERINGS, Fabric, Workload
from forestcoll.all_to_all.concurrent_flow import ApproximateFlow
from forestcoll.all_to_all.linear_optimum import AllToAllOptimum
from forestcoll.all_to_all.near_optimum import near_optimum
from forestcoll.errors import InvalidParameterError, TimeLimitError, UnsupportedError

__all__ = ["ALL_TO_ALL", "Answer", "Budget", "Demand", "Entry", "answer", "demand_of"]

ALL_TO_ALL = "all-to-all"

_UNIT = Fraction(1)
"""Bandwidth of one link in the specification of a candidate, in GB/s."""

_NEAR = 0.01
"""How close the bounds of an all-to-all's rate need to be."""

Demand = dict[str, Workload]
"""Workloads by collective; those of an all-to-all are the bytes of one GPU."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What limits the number of links.

    Parameters
    ----------
    ports : int, optional
        Ports of all GPUs together, such as those of one optical switch or patch panel.
    money : Fraction, optional
    port_price : Fraction
        Price of a port, with its share of cable and switch.
    """

    ports: int | None = None
    money: Fraction | None = None
    port_price: Fraction = Fraction(0)

    def allows(self, nodes: int, degree: int) -> bool:
        """Whether that many GPUs may have that many ports each."""
        return (self.ports is None or nodes * degree <= self.ports) and (
            self.money is None or nodes * degree * self.port_price <= self.money
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """A network of the front.

    Parameters
    ----------
    one : Candidate
    fabric : Fabric
    rate : AllToAllRate, optional
        If there are all-to-alls.
    seconds : Fraction
        Of the whole workload.
    least_seconds : Fraction
        What no network of this size and degree can beat.
    """

    one: Candidate
    fabric: Fabric
    rate: AllToAllRate | None
    seconds: Fraction
    least_seconds: Fraction

    @property
    def rate_bound(self) -> Fraction | None:
        """The bound on the rate of an all-to-all; None if it is neither asked for nor predicted."""
        if self.rate is not None:
            return self.rate.bound
        return None if self.one.distances is None else self.one.distances.bound

    @property
    def over(self) -> Fraction:
        """Time over the least time."""
        return self.seconds / self.least_seconds


@dataclass(frozen=True, slots=True)
class Answer:
    """The entries, the fastest first; of equal ones, the one with the fewest ports."""

    demand: Demand
    entries: tuple[Entry, ...]
    bounds: dict[int, Bounds]  # by degree


def demand_of(
    sizes: Sequence[str], collective: str, read: Callable[[list[str]], Workload]
) -> Demand:
    """Read sizes such as 1MB, 25MB:40, or all-to-all=1MB:8, each for a collective.

    ``collective`` is that of sizes without a name; "mix" is an allreduce and an all-to-all.

    Raises
    ------
    InvalidParameterError
        If a collective is unknown, or there is no size.
    """
    known = (*GATHERINGS, ALL_TO_ALL)
    named: dict[str, list[str]] = {}
    for text in sizes:
        name, equals, size = text.partition("=")
        if not equals:
            name, size = collective, text
        for each in ("allreduce", ALL_TO_ALL) if name == "mix" else (name,):
            if each not in known:
                raise InvalidParameterError(
                    f"collective is {each!r}; it must be one of {', '.join(known)}, mix"
                )
            named.setdefault(each, []).append(size)
    if not named:
        read([])  # says that there is no size
    return {name: read(some) for name, some in named.items()}


def answer(
    nodes: int,
    degrees: Sequence[int],
    demand: Demand,
    fabric_of: Callable[[int], Fabric],
    *,
    bidirectional: bool = False,
    budget: Budget | None = None,
    rate_seconds: float = 0,
    swaps: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Answer:
    """Search each degree that the budget allows.

    ``rate_seconds`` is the time for each network to bring the bounds of its all-to-all rate closer
    together, by the linear program or approximate flows. ``swaps`` is how many edge swaps are tried
    on each network of the front, so that the workload takes less.

    Raises
    ------
    InvalidParameterError
        If the budget allows no degree, a number is out of bounds, or edge swaps are asked for a
        workload of all-to-alls alone.
    UnsupportedError
        If no construction has one of the sizes.
    """
    budget = budget or Budget()
    if swaps and not demand.keys() & set(GATHERINGS):
        raise InvalidParameterError(
            f"edge swaps need a size of {', '.join(GATHERINGS)}: they reduce T_L and T_B"
        )
    allowed = [degree for degree in degrees if budget.allows(nodes, degree)]
    if not allowed:
        raise InvalidParameterError(
            f"the budget allows {nodes} nodes no degree of {_listed(degrees)}; allow more ports or "
            f"money, or fewer nodes"
        )
    table, entries, bounds, refused = BaseTable(), [], {}, None
    for degree in allowed:
        asked, fabric = Question(nodes, degree, bidirectional), fabric_of(degree)
        try:
            best = find(asked, table, progress)
        except UnsupportedError as error:
            refused = error
            continue
        bounds[degree] = bounds_of(asked)
        if swaps:
            best = _with_swaps(best, demand, fabric, swaps, progress)
        for one in best:
            rate = _rate(one, rate_seconds) if ALL_TO_ALL in demand else None
            entries.append(_entry(one, demand, fabric, bounds[degree], rate))
    if refused is not None and not entries:
        raise refused
    entries.sort(key=lambda entry: (entry.seconds, entry.one.degree, entry.one.hops))
    return Answer(demand, tuple(entries), bounds)


def _with_swaps(
    found: list[Candidate],
    demand: Demand,
    fabric: Fabric,
    tries: int,
    progress: Callable[[str], None] | None,
) -> list[Candidate]:
    """Return the front of these networks and of what edge swaps make of them."""
    loads = [demand[collective] for collective in GATHERINGS if collective in demand]

    def cost(hops: int, time: Fraction) -> Fraction:
        return sum(
            (
                load.calls * hops * fabric.alpha_s + load.num_bytes * time / fabric.bytes_s
                for load in loads
            ),
            Fraction(0),
        )

    made = []
    for one in found:
        if progress is not None:
            progress(f"{tries} edge swaps of {one.name}")
        made.append(swapped(one, cost, tries=tries))
    return front([*found, *(one for one in made if one is not None)])


def _listed(degrees: Sequence[int]) -> str:
    return ", ".join(map(str, degrees))


def _rate(one: Candidate, seconds: float) -> AllToAllRate:
    """Bound the rate by distances and equal use of shortest paths, then by approximate flows.

    Where both are predicted to be equal, nothing is built.
    """
    predicted = one.distances
    if predicted is not None and predicted.rate is not None:
        pairs = one.nodes * (one.nodes - 1)
        return AllToAllRate(
            float(predicted.rate), predicted.bound, Fraction(predicted.total, pairs)
        )
    topology = network_of(one)
    quick = all_to_all_rate(topology, _UNIT)
    if predicted is not None:
        quick = replace(quick, bound=min(quick.bound, predicted.bound))
    if seconds <= 0 or quick.attained >= float(quick.bound) * (1 - _NEAR):
        return quick
    try:
        flow: ApproximateFlow | AllToAllOptimum | None = near_optimum(
            topology, eps=_NEAR, seconds=seconds
        )
    except TimeLimitError as late:
        flow = late.incumbent if isinstance(late.incumbent, ApproximateFlow) else None
    if flow is None:
        return quick
    unit = float(_UNIT)
    bound = min(quick.bound, Fraction(flow.bound_gb_s / unit))
    return AllToAllRate(max(quick.attained, flow.rate_gb_s / unit), bound, quick.mean_hops)


def _entry(
    one: Candidate, demand: Demand, fabric: Fabric, bounds: Bounds, rate: AllToAllRate | None
) -> Entry:
    seconds = least = Fraction(0)
    for collective, workload in demand.items():
        if collective == ALL_TO_ALL:
            assert rate is not None
            attained = Fraction(rate.attained)
            seconds += workload.all_to_all_seconds(one, attained, fabric)
            least += workload.all_to_all_seconds(one, bounds.all_to_all, fabric)
        else:
            seconds += workload.seconds(one, collective, fabric)
            both = 2 if collective == "allreduce" else 1
            least += both * (
                workload.calls * bounds.hops * fabric.alpha_s
                + workload.num_bytes * bounds.time / fabric.bytes_s
            )
    return Entry(one, fabric, rate, seconds, least)
