"""All-to-all as a flow of many commodities, cut into paths.

Problem: all GPUs send to all others at one rate, as high as the links allow.
Input:   a network.
Output:  for each pair the paths that its data takes, with whole shares; it flows, without steps.
Cost:    a linear program, or for large networks without symmetries bounds that meet within 1 %;
         then paths link by link (:mod:`forestcoll.all_to_all`).
Source:  Zhao et al. (NSDI 2025), program (3), whose values are the last column of tables 4 and 7.
"""

from __future__ import annotations

from dataclasses import replace

from baselines.interface.method import Method
from baselines.networks.switch_paths import check_size
from forestcoll.errors import TimeLimitError
from forestcoll.problem.limits import Limits
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]

_SECONDS = 600.0
"""For the program, where no limit is given."""

_NAME = "all-to-all-lp"


def generate(
    topology: Topology,
    collective: str = "all-to-all",
    *,
    limits: Limits | None = None,
) -> FlowSchedule:
    """Find the flow, and paths for it.

    Parameters
    ----------
    topology : Topology
    collective : str
        "all-to-all".
    limits : Limits, optional
        Seconds for the flow.

    Raises
    ------
    UnsupportedError
        If there is a single GPU.
    TimeLimitError
        If there is no flow in time.
    """
    check_size(topology)
    from forestcoll.all_to_all.best_flow import best_flow  # scipy takes half a second

    seconds = limits.seconds if limits and limits.seconds is not None else _SECONDS
    try:
        return replace(best_flow(topology, seconds=seconds), method=_NAME, price=())
    except TimeLimitError as error:
        raise TimeLimitError(f"{_NAME}: no flow in {seconds:g} s", bound=error.bound) from error


METHODS = (
    Method(
        name=_NAME,
        summary="all-to-all as a flow of many commodities, exact or within 1 %, as paths",
        source="Zhao et al. (NSDI 2025), program (3)",
        generate=generate,
        collectives=("all-to-all",),
        notes="flows, has no steps; switches forward too, boxes need no program",
        libraries=(
            "highspy",
            "scipy.sparse.csgraph",
            "forestcoll.all_to_all.concurrent_flow",
            "forestcoll.all_to_all.linear_optimum",
            "forestcoll.all_to_all.path_schedule",
        ),
    ),
)
