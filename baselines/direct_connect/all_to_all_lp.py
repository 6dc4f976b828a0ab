"""All-to-all as a flow of many commodities, cut into paths.

Problem: all GPUs send to all others at one rate, as high as the links allow.
Input:   a network without switches.
Output:  for each pair the paths that its data takes, with whole shares; it flows, without steps.
Cost:    a linear program, or for large networks without symmetries bounds that meet within 1 %;
         then paths link by link (:mod:`forestcoll.all_to_all`).
Source:  Zhao et al. (NSDI 2025), program (3), whose values are the last column of tables 4 and 7.
"""

from __future__ import annotations

from baselines.interface.method import Method
from baselines.networks.switch_paths import check_size
from forestcoll.errors import TimeLimitError, UnsupportedError
from forestcoll.problem.limits import Limits
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]

_SECONDS = 600.0
"""For the program, where no limit is given."""

_EPS = 0.01
"""How near the bounds of a large network must come to each other, relative to the rate."""

_MOST_UNKNOWNS = 70_000
"""Of the program, flows of every source on every link; beyond it takes many minutes."""


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
        Of GPUs only.
    collective : str
        "all-to-all".
    limits : Limits, optional
        Seconds for the flow.

    Raises
    ------
    UnsupportedError
        If there are switches, or a single GPU.
    TimeLimitError
        If there is no flow in time.
    """
    check_size(topology)
    if topology.switches:
        raise UnsupportedError(
            f"unsupported: {topology.name} has switches; the program is for GPUs that are linked "
            f"to each other"
        )
    from forestcoll.all_to_all.concurrent_flow import approximate_flow  # scipy takes half a second
    from forestcoll.all_to_all.flow_problem import flow_problem
    from forestcoll.all_to_all.linear_optimum import all_to_all_rate
    from forestcoll.all_to_all.path_schedule import schedule_of
    from forestcoll.solver.linear_program import Settings
    from forestcoll.topology.symmetry.automorphism import find_orbits

    seconds = limits.seconds if limits and limits.seconds is not None else _SECONDS
    orbits = find_orbits(topology, seconds / 10)
    if (int(orbits.node.max()) + 1) * len(topology.links) <= _MOST_UNKNOWNS:
        settings = Settings(seconds=seconds)
        return schedule_of(all_to_all_rate(topology, settings=settings, orbits=orbits))
    try:
        return schedule_of(approximate_flow(flow_problem(topology), eps=_EPS, seconds=seconds))
    except TimeLimitError as error:
        raise TimeLimitError(f"all-to-all-lp: no flow within {_EPS:g} in {seconds:g} s") from error


METHODS = (
    Method(
        name="all-to-all-lp",
        summary="all-to-all as a flow of many commodities, exact or within 1 %, as paths",
        source="Zhao et al. (NSDI 2025), program (3)",
        generate=generate,
        collectives=("all-to-all",),
        notes="networks without switches; flows, has no steps",
        libraries=(
            "highspy",
            "forestcoll.all_to_all.concurrent_flow",
            "forestcoll.all_to_all.path_schedule",
        ),
    ),
)
