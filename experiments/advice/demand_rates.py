"""What a demand takes at best on a network, and with the methods that libraries have.

Problem: is an all-to-all of these amounts as fast as it can be?
Input:   a network, a demand in which each chunk is for one GPU, seconds for all.
Output:  the least time, the best schedule found, and the baselines, all verified.
Cost:    that of the schedules.
Source:  ours; the baselines name theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from baselines.registry import METHODS
from experiments.advice.time_limit import time_limit
from forestcoll.all_to_all.best_flow import best_flow
from forestcoll.errors import ForestCollError, TimeLimitError
from forestcoll.problem.demand import Demand
from forestcoll.problem.limits import Limits
from forestcoll.problem.price_bound import PriceBound
from forestcoll.schedule import cost, verify
from forestcoll.topology import Topology

__all__ = ["DemandRates", "DemandTime", "demand_rates"]

BASELINES = {
    "NCCL send/recv": "direct",
    "hierarchical": "hierarchical",
    "FAST, a reading": "fast-reading",
}
"""Baselines for any amounts, by their name in the table."""


@dataclass(frozen=True, slots=True)
class DemandTime:
    """What a demand takes.

    Parameters
    ----------
    what : str
        "bound, switches forward", "best paths", or a baseline.
    time_us : Fraction, optional
        Of all bytes, pipelined, without latencies; None if there is no schedule.
    share : Fraction, optional
        Of the bound: its time over this one.
    note : str
        Why there is no time; or how a baseline differs from its source.
    """

    what: str
    time_us: Fraction | None
    share: Fraction | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class DemandRates:
    """The times of a demand, the bound first, and what binds."""

    demand: Demand
    times: tuple[DemandTime, ...]
    binding: PriceBound


def demand_rates(topology: Topology, demand: Demand, *, seconds: float) -> DemandRates:
    """Return the times of a demand.

    Parameters
    ----------
    seconds : float
        For the best paths, and for each baseline.

    Raises
    ------
    ForestCollError
        As :func:`forestcoll.all_to_all.best_flow.best_flow`.
    """
    made = best_flow(topology, demand, seconds=seconds)
    bound = PriceBound.of(topology, demand, made.price)
    least, best = bound.inverse_rate / 1000, verify(made).congestion / 1000
    times = [
        DemandTime("bound, switches forward", least, None, "by prices of the links"),
        DemandTime("best paths", best, least / best),
    ]
    for what, name in BASELINES.items():
        times.append(_of_baseline(what, name, topology, demand, least, seconds))
    return DemandRates(demand, tuple(times), bound)


def _of_baseline(
    what: str, name: str, topology: Topology, demand: Demand, least: Fraction, seconds: float
) -> DemandTime:
    method = METHODS[name]
    try:
        with time_limit(seconds):
            made = method.run(topology, "all-to-all", {"demand": demand}, Limits(seconds=seconds))
            verify(made)
            time_us = cost(made).time_s_per_gb * demand.bytes / 1000
    except TimeLimitError:
        return DemandTime(what, None, None, f"not finished in {seconds:g} s; allow more time")
    except ForestCollError as error:
        return DemandTime(what, None, None, str(error))
    return DemandTime(what, time_us, least / time_us, method.notes)
