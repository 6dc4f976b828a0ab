"""Proof of flow schedules: delivery of every pair's data, link loads, and the claimed bound.

Part of :func:`forestcoll.schedule.verify`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.schedule.exact_sums import Ints, exact, first
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.verification.arrays import check_count, check_method, check_routes
from forestcoll.schedule.verification.demand_form import check_demand
from forestcoll.schedule.verification.naming import fail, gpu_name, link_name, path_name
from forestcoll.schedule.verification.pair_prices import priced_inverse_rate_of_pairs
from forestcoll.schedule.verification.paths import busiest_link, check_paths

__all__ = ["FlowVerdict", "verify_flows"]


@dataclass(frozen=True, slots=True)
class FlowVerdict:
    """The proved facts about a flow schedule.

    Parameters
    ----------
    collective : str
        "all-to-all".
    demand : str, optional
        The name of the demand; None if every pair has as much.
    gpus, paths, depth : int
        Numbers of GPUs and paths, and the links of the longest path.
    deliveries : int
        Ordered pairs of GPUs for which it was proved that the whole part gets from one to the
        other.
    congestion : Fraction
        Measured: the largest load / bandwidth of a link, in parts of a pair per GB/s. Its inverse
        is the rate, in GB/s, at which every pair is served at once. With a demand in bytes per
        GB/s, which are nanoseconds.
    busiest_link : tuple of str, optional
        Tail and head of the (first) link where it is attained, or the name of a shared capacity;
        None if nothing is sent.
    time_s_per_gb, algbw_gb_s : Fraction
        Seconds for one gigabyte that each GPU sends in all, and the inverse (None if nothing is
        sent). With a demand, for one gigabyte of all its bytes.
    optimal : bool
        Whether the claimed prices prove that nothing is faster.
    model : str, optional
        In which the bound holds; None if none is claimed.
    bound_gb_s : Fraction, optional
        Upper bound on ``algbw_gb_s`` that the prices prove.
    """

    collective: str
    gpus: int
    paths: int
    depth: int
    deliveries: int
    congestion: Fraction
    busiest_link: tuple[str, ...] | None
    time_s_per_gb: Fraction
    algbw_gb_s: Fraction | None
    optimal: bool = False
    model: str | None = None
    bound_gb_s: Fraction | None = None
    demand: str | None = None


_MOST_PART = 2**62

MODEL = "data flows on any paths; GPUs and switches forward"
"""The model of the bound, which holds for every schedule of these data."""


def verify_flows(schedule: FlowSchedule) -> FlowVerdict:
    """Prove a flow schedule, or raise VerificationError at the first violation."""
    topology, gpus = schedule.topology, schedule.topology.num_compute
    if gpus < 1:
        fail(f"{topology.name} has no GPU; a schedule needs at least one")
    check_count("the whole", schedule.whole, "units of weight")
    check_method(schedule)
    amounts = _amounts(schedule)
    check_routes(schedule)
    _check_pairs(schedule, amounts)
    links = check_paths(schedule, through_gpus=True)
    _check_simple(schedule)
    _check_parts(schedule, amounts)
    bound = (
        priced_inverse_rate_of_pairs(topology, amounts, schedule.price) if schedule.price else None
    )
    if gpus == 1:
        nothing = Fraction(0)
        return FlowVerdict("all-to-all", 1, 0, 0, 0, nothing, None, nothing, None)
    hops = np.diff(schedule.routes.first_hop) - 1
    weight = exact(schedule.routes.multiplicity, len(links))
    load = np.zeros(topology.num_links, dtype=weight.dtype)
    np.add.at(load, links, np.repeat(weight, hops))
    fullest, busiest = busiest_link(topology, load)
    congestion = fullest / schedule.whole
    if bound is not None and bound > congestion:
        fail(f"the prices prove that no schedule is less congested than {bound}, but this one is")
    size = gpus if schedule.demand is None else sum(amounts[amounts > 0].tolist())
    return FlowVerdict(
        collective="all-to-all",
        gpus=gpus,
        paths=schedule.num_paths,
        depth=int(hops.max()),
        deliveries=int((amounts > 0).sum()),
        congestion=congestion,
        busiest_link=busiest,
        time_s_per_gb=congestion / size,
        algbw_gb_s=size / congestion,
        optimal=bound == congestion,
        model=None if bound is None else MODEL,
        bound_gb_s=size / bound if bound else None,
        demand=None if schedule.demand is None else schedule.demand.name,
    )


def _amounts(schedule: FlowSchedule) -> Ints:
    """Return what each rank of a row has for each of a column, in units of ``whole`` weights."""
    gpus, demand = schedule.topology.num_compute, schedule.demand
    if demand is None:
        return np.ones((gpus, gpus), dtype=np.int64) - np.eye(gpus, dtype=np.int64)
    check_demand(demand, gpus)
    if len(demand.target) != len(demand.size):
        fail("the demand has a chunk for several GPUs; a flow has one target")
    amounts = np.zeros((gpus, gpus), dtype=exact(demand.size, len(demand.size)).dtype)
    np.add.at(amounts, (demand.source, demand.target), demand.size)
    return amounts


def _check_pairs(schedule: FlowSchedule, amounts: Ints) -> None:
    """Check that no ordered pair is missing; earlier checks prove that pairs are sorted, unique."""
    routes, gpus = schedule.routes, schedule.topology.num_compute
    if (pair := first(routes.tail == routes.head)) is not None:
        fail(f"{gpu_name(schedule, int(routes.tail[pair]))} has paths to itself; leave them out")
    found = routes.tail.astype(np.int64) * gpus + routes.head
    there = np.zeros(gpus * gpus, dtype=np.bool_)
    there[found] = True
    wanted = (amounts > 0).reshape(-1)
    if (missing := first(wanted & ~there)) is not None:
        source, target = (gpu_name(schedule, rank) for rank in divmod(missing, gpus))
        fail(f"no path leads from {source} to {target}; its part is never delivered")
    if (idle := first(there & ~wanted)) is not None:
        source, target = (gpu_name(schedule, rank) for rank in divmod(idle, gpus))
        fail(f"paths lead from {source} to {target}, which needs nothing from it; leave them out")


def _check_simple(schedule: FlowSchedule) -> None:
    """Check that no path visits a node twice."""
    routes = schedule.routes
    path = np.repeat(np.arange(schedule.num_paths, dtype=np.int64), np.diff(routes.first_hop))
    visits: Ints = np.sort(path * len(schedule.topology.nodes) + routes.hop)
    if (twice := first(visits[1:] == visits[:-1])) is not None:
        where, node = divmod(int(visits[twice]), len(schedule.topology.nodes))
        name = schedule.topology.nodes[node].name
        fail(f"{path_name(schedule, where)} visits {name} twice; cut the round trip out")


def _check_parts(schedule: FlowSchedule, amounts: Ints) -> None:
    """Check that the weights of each pair's paths add up to the whole of its amount."""
    routes = schedule.routes
    weight = exact(routes.multiplicity, schedule.num_paths)
    upto = np.concatenate([[0], np.cumsum(weight)])
    part = upto[routes.first_path[1:]] - upto[routes.first_path[:-1]]
    due = amounts[routes.tail, routes.head]
    fits = int(amounts.max()) * schedule.whole < _MOST_PART
    due = (due if fits else due.astype(object)) * schedule.whole
    if (pair := first(part != due)) is not None:
        fail(
            f"the paths of {link_name(schedule, pair)} carry {part[pair]} of the {due[pair]} "
            f"units of its part"
        )
