"""All-to-alls on the command line: what ``optimum`` and ``generate`` report about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.errors import InvalidParameterError
from forestcoll.problem.limits import MOST_SECONDS
from forestcoll.topology import Topology

if TYPE_CHECKING:
    from forestcoll.problem.demand import Demand
    from forestcoll.schedule.flows import FlowSchedule

__all__ = [
    "ALL_TO_ALL", "ALL_TO_ALL_SECONDS", "AllToAllSeconds", "DemandText", "PathParts", "RoundUp",
    "check_all_to_all", "flow_facts", "flow_for", "optimum_facts", "stated_demand",
]  # fmt: skip

ALL_TO_ALL = "all-to-all"
ALL_TO_ALL_SECONDS = 60.0

DemandText = Annotated[
    str | None,
    typer.Option(
        "--demand",
        metavar="DEMAND",
        help="Who has how much for whom: a file (.csv, .npz, .yaml, .json), or a name such as "
        "scatter:root=gpu3,size=64MB (all-to-all, sendrecv, gather, scatter, pipeline, zipf).",
    ),
]
AllToAllSeconds = Annotated[
    float,
    typer.Option(
        "--time-limit",
        min=0.001,
        max=MOST_SECONDS,
        metavar="SECONDS",
        help="For the program of an all-to-all, where one is needed.",
    ),
]


RoundUp = Annotated[
    str | None,
    typer.Option(
        "--round-up",
        metavar="SIZE",
        help="Round the amounts of a demand up to multiples, so that few chunks hold them.",
    ),
]
PathParts = Annotated[
    int,
    typer.Option(
        "--parts",
        min=1,
        max=10**9,
        metavar="N",
        help="Parts of a pair's data that the program's paths share out; few make small files.",
    ),
]


def check_all_to_all(collective: str, demand: str | None, others: Mapping[str, object]) -> bool:
    """Whether an all-to-all is asked for; check that no other option contradicts it.

    Parameters
    ----------
    others : dict
        Options for trees by name; those of no use here must be None or False.
    """
    if demand is not None and collective not in ("allgather", ALL_TO_ALL):
        raise InvalidParameterError(
            f"--demand states who has data for whom; leave --collective {collective} away"
        )
    if demand is None and collective != ALL_TO_ALL:
        return False
    for name, value in others.items():
        if value is not None and value is not False:  # 0 is a number of trees
            raise InvalidParameterError(
                f"--{name} is for trees; an all-to-all has paths, so leave it out"
            )
    return True


def flow_for(
    topology: Topology,
    demand: str | None,
    seconds: float,
    round_up: str | None = None,
    parts: int = 720_720,
) -> FlowSchedule:
    """Find the best paths for a demand, or for equal parts."""
    from forestcoll.all_to_all.best_flow import best_flow

    given = stated_demand(topology, demand, round_up)
    return best_flow(topology, given, seconds=seconds, parts=parts)


def stated_demand(
    topology: Topology, demand: str | None, round_up: str | None = None
) -> Demand | None:
    """Return the demand of ``--demand`` and ``--round-up``; None if none is given."""
    from forestcoll.problem.demand_files import demand_in
    from forestcoll.problem.sizes import read_size

    given = None if demand is None else demand_in(demand, topology)
    if round_up is None:
        return given
    if given is None:
        raise InvalidParameterError("--round-up is for a demand; equal parts are equal")
    try:
        return given.rounded_up(read_size(round_up))
    except ValueError as error:
        raise InvalidParameterError(f"--round-up {error}") from None


def flow_facts(schedule: FlowSchedule, *, check: bool = True) -> dict[str, Any]:
    """Return the facts of a flow schedule; proved ones if it is checked."""
    from forestcoll.problem.price_bound import PriceBound
    from forestcoll.schedule import verify

    verdict, demand = verify(schedule) if check else None, schedule.demand
    topology = schedule.topology
    facts: dict[str, Any] = {
        "topology": topology.name,
        "collective": schedule.collective,
        "gpus": topology.num_compute,
    }
    if demand is not None:
        facts |= {"demand": demand.name, "bytes": demand.bytes}
    facts["paths"] = schedule.num_paths
    if verdict is None:
        return facts | {"verified": False}
    facts |= {"depth": verdict.depth, "algbw_gb_s": verdict.algbw_gb_s}
    if demand is None:
        facts["pair_gb_s"] = 1 / verdict.congestion
    else:
        facts["time_us"] = verdict.congestion / 1000
    bound = PriceBound.of(topology, demand, schedule.price)
    return facts | {
        "verified": True,
        "busiest_link": verdict.busiest_link,
        "optimal": verdict.optimal,
        "at_most_gb_s": None if verdict.optimal else verdict.bound_gb_s,
        "model": verdict.model,
        "what_binds": bound.in_words(),
    }


def optimum_facts(topology: Topology, demand: str | None, seconds: float) -> dict[str, Any]:
    """Return the optimum of an all-to-all; of chunks for several GPUs, bounds on the least time."""
    from forestcoll.problem.demand_files import demand_in

    given = None if demand is None else demand_in(demand, topology)
    if given is None or given.is_unicast:
        return flow_facts(flow_for(topology, demand, seconds))
    from forestcoll.all_to_all.multicast_bounds import demand_bounds
    from forestcoll.schedule import verify

    found = demand_bounds(topology, given, seconds=seconds)
    return {
        "topology": topology.name,
        "collective": ALL_TO_ALL,
        "gpus": topology.num_compute,
        "demand": given.name,
        "bytes": given.bytes,
        "at_least_us": found.least.inverse_rate / 1000,
        "at_most_us": verify(found.apart).congestion / 1000,
        "at_most_by": "every target gets its chunk on its own",
        "model": "chunks on any paths; GPUs and switches forward and copy",
        "what_binds": found.least.in_words(),
    }
