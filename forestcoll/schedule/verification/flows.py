"""Proof of flow schedules: delivery of every pair's data, and link loads.

Part of :func:`forestcoll.schedule.verify`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.schedule.exact_sums import Ints, exact, first
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.verification.arrays import check_count, check_method, check_routes
from forestcoll.schedule.verification.naming import fail, gpu_name, link_name, path_name
from forestcoll.schedule.verification.paths import busiest_link, check_paths

__all__ = ["FlowVerdict", "verify_flows"]


@dataclass(frozen=True, slots=True)
class FlowVerdict:
    """The proved facts about a flow schedule.

    Parameters
    ----------
    collective : str
        "all-to-all".
    gpus, paths, depth : int
        Numbers of GPUs and paths, and the links of the longest path.
    deliveries : int
        Ordered pairs of GPUs for which it was proved that the whole part gets from one to the
        other.
    congestion : Fraction
        Measured: the largest load / bandwidth of a link, in parts of a pair per GB/s. Its inverse
        is the rate, in GB/s, at which every pair is served at once.
    busiest_link : tuple of str, optional
        Tail and head of the (first) link where it is attained, or the name of a shared capacity;
        None if nothing is sent.
    time_s_per_gb, algbw_gb_s : Fraction
        Seconds for one gigabyte that each GPU sends in all, and the inverse (None if nothing is
        sent).
    optimal : bool
        Always False: no bound is claimed.
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


def verify_flows(schedule: FlowSchedule) -> FlowVerdict:
    """Prove a flow schedule, or raise VerificationError at the first violation."""
    topology, gpus = schedule.topology, schedule.topology.num_compute
    if gpus < 1:
        fail(f"{topology.name} has no GPU; a schedule needs at least one")
    check_count("the whole", schedule.whole, "units of weight")
    check_method(schedule)
    check_routes(schedule)
    _check_pairs(schedule)
    links = check_paths(schedule, through_gpus=True)
    _check_simple(schedule)
    _check_parts(schedule)
    if gpus == 1:
        nothing = Fraction(0)
        return FlowVerdict("all-to-all", 1, 0, 0, 0, nothing, None, nothing, None)
    hops = np.diff(schedule.routes.first_hop) - 1
    weight = exact(schedule.routes.multiplicity, len(links))
    load = np.zeros(len(topology.links), dtype=weight.dtype)
    np.add.at(load, links, np.repeat(weight, hops))
    fullest, busiest = busiest_link(topology, load)
    congestion = fullest / schedule.whole
    return FlowVerdict(
        collective="all-to-all",
        gpus=gpus,
        paths=schedule.num_paths,
        depth=int(hops.max()),
        deliveries=gpus * (gpus - 1),
        congestion=congestion,
        busiest_link=busiest,
        time_s_per_gb=congestion / gpus,
        algbw_gb_s=gpus / congestion,
    )


def _check_pairs(schedule: FlowSchedule) -> None:
    """Check that no ordered pair is missing; earlier checks prove that pairs are sorted, unique."""
    routes, gpus = schedule.routes, schedule.topology.num_compute
    if (pair := first(routes.tail == routes.head)) is not None:
        fail(f"{gpu_name(schedule, int(routes.tail[pair]))} has paths to itself; leave them out")
    found = routes.tail.astype(np.int64) * gpus + routes.head
    there = np.zeros(gpus * gpus, dtype=np.bool_)
    there[found] = True
    there[:: gpus + 1] = True
    if (missing := first(~there)) is not None:
        source, target = (gpu_name(schedule, rank) for rank in divmod(missing, gpus))
        fail(f"no path leads from {source} to {target}; its part is never delivered")


def _check_simple(schedule: FlowSchedule) -> None:
    """Check that no path visits a node twice."""
    routes = schedule.routes
    path = np.repeat(np.arange(schedule.num_paths, dtype=np.int64), np.diff(routes.first_hop))
    visits: Ints = np.sort(path * len(schedule.topology.nodes) + routes.hop)
    if (twice := first(visits[1:] == visits[:-1])) is not None:
        where, node = divmod(int(visits[twice]), len(schedule.topology.nodes))
        name = schedule.topology.nodes[node].name
        fail(f"{path_name(schedule, where)} visits {name} twice; cut the round trip out")


def _check_parts(schedule: FlowSchedule) -> None:
    """Check that the weights of each pair's paths add up to the whole."""
    routes = schedule.routes
    weight = exact(routes.multiplicity, schedule.num_paths)
    upto = np.concatenate([[0], np.cumsum(weight)])
    part = upto[routes.first_path[1:]] - upto[routes.first_path[:-1]]
    if (pair := first(part != schedule.whole)) is not None:
        fail(
            f"the paths of {link_name(schedule, pair)} carry {part[pair]} of the {schedule.whole} "
            f"units of its part"
        )
