"""Trivance: allreduces on tori that triple the reached distance on both sides in every step.

Problem: an allreduce, reduce-scatter or allgather on a torus in log3 N steps a phase.
Input:   a torus whose dimensions are powers of three; the form: "bandwidth" or "latency".
Output:  step schedules. Bandwidth: 2 log3 N steps; latency (allreduce only): log3 N steps.
Cost:    linear in the transfers: N (N - 1) for each of the D parts, or 2 N log3 N.
Source:  Juerss, Addanki and Schmid, "Trivance: Latency-Optimal AllReduce by Shortcutting Multiport
         Networks" (arXiv 2602.17254), its abstract and public simulator (ajuerss/sst-trivance),
         read for the pattern. Reimplemented; no code of it.

In its turn k along a dimension, each place exchanges data with the places 3^k before and after it.
So it then has the sum of 3^(k+1) neighbours around it. Bruck's algorithm with two ports sends 3^k
and 2 3^k on in one direction, three times as many hops over a link. The dimensions take turns, and
the data has one part that starts at each. The "latency" form adds whole parts. The "bandwidth" form
is a reduce-scatter with these peers and an allgather with the same peers backwards.

Left out: sizes that are no powers of three, whose last distance is (N - 3^k) / 2, rounded up, in
the simulator. There a dimension that is done gives its turns to the next one; here they are
skipped, which differs from three unequal dimensions on. A transfer takes the shortest paths. Rates:
docs/baselines/steps.md.
"""

from __future__ import annotations

from baselines.building.peer_rounds import Exchange, exchange
from baselines.interface.method import Method
from baselines.interface.supported import GATHERING
from baselines.networks.torus_grid import alternating_dimensions, grid_of_powers, moved_along
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]


def generate(
    topology: Topology, collective: str = "allreduce", *, form: str = "bandwidth"
) -> StepSchedule:
    """Exchange data with the places 1, 3, 9, ... before and after.

    Parameters
    ----------
    collective : str
        "allreduce", "reduce-scatter" or "allgather".
    form : str
        "bandwidth" or "latency"; "latency" for an allreduce only.

    Raises
    ------
    UnsupportedError
        If the network is not a torus with dimensions that are powers of three, or for another
        collective of the "latency" form.
    InvalidParameterError
        If there is no such form.
    """
    return exchange(_courses, "trivance", topology, collective, form)


def _courses(topology: Topology) -> Exchange:
    """Return the rank at each place, and for each part of the data the peers of each step."""
    grid = grid_of_powers(topology, 3, "trivance")
    courses = [
        [
            [moved_along(grid.shape, axis, far, far) for far in (3**turn, -(3**turn))]
            for axis, turn in alternating_dimensions(grid.shape, first, 3)
        ]
        for first in range(grid.ndim)
    ]
    return Exchange(grid.ravel(), courses)


METHODS = (
    Method(
        name="trivance",
        summary="exchanges with both places 1, 3, 9, ... away on tori",
        source="Juerss, Addanki, Schmid, Trivance (arXiv 2602.17254)",
        generate=generate,
        collectives=("allreduce", *(name for name in GATHERING if name != "allreduce")),
        notes="tori whose dimensions are powers of three; from the abstract and public code",
        libraries=("networkx",),
    ),
)
