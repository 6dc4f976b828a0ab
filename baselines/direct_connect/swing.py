"""Swing: recursive doubling on tori with peers on alternating sides, which are closer.

Problem: an allreduce, reduce-scatter or allgather on a torus in log2 N steps a phase.
Input:   a torus of even dimensions; the form: "bandwidth", or "latency" for powers of two.
Output:  step schedules. Bandwidth: 2 log2 N steps; latency (allreduce only): log2 N steps. Of each
         dimension the logarithm is rounded up.
Cost:    linear in the transfers: N (N - 1) for each of the 2 D parts, or N log2 N.
Source:  De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth Allreduce" (NSDI 2024),
         sections 3 and 4. Reimplemented from the paper.

In its turn s along a dimension, an even place sends to the place rho(s) further on, and an odd one
to the place rho(s) back, with rho(s) = (1 - (-2)^(s+1)) / 3: 1, -1, 3, -5, 11. The dimensions take
turns; one that is done is skipped. The data has 2 D parts: one starts at each dimension, and each
of these also runs mirrored. So on equal dimensions all links carry the same in every step. The
"bandwidth" form is a reduce-scatter with these peers and an allgather with the same peers
backwards. The "latency" form exchanges and adds whole parts.

On even dimensions that are no powers of two, two ways lead to some places. Then no block is sent
twice: the later step of the reduce-scatter has it (section 3.2).

Left out: odd dimensions, where in the paper the last place exchanges its blocks with all others;
the latency form of all but powers of two. In the public simulator a dimension that is done gives
its turns to the next one; here they are skipped, which differs from three unequal dimensions on. A
transfer takes the shortest paths on the torus. Rates: docs/baselines/steps.md.
"""

from __future__ import annotations

from functools import partial

from baselines.building.peer_rounds import Exchange, exchange, rho
from baselines.interface.method import Method
from baselines.interface.supported import GATHERING
from baselines.networks.torus_grid import (
    alternating_dimensions,
    grid_of_evens,
    grid_of_powers,
    moved_along,
)
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]


def generate(
    topology: Topology, collective: str = "allreduce", *, form: str = "bandwidth"
) -> StepSchedule:
    """Exchange data with Swing's peers.

    Parameters
    ----------
    collective : str
        "allreduce", "reduce-scatter" or "allgather".
    form : str
        "bandwidth" or "latency"; "latency" for an allreduce only.

    Raises
    ------
    UnsupportedError
        If the network is not a torus of even dimensions, in the "latency" form of powers of two, or
        for another collective of that form.
    InvalidParameterError
        If there is no such form.
    """
    return exchange(partial(_courses, form=form), "swing", topology, collective, form)


def _courses(topology: Topology, form: str) -> Exchange:
    """Return the rank at each place, and for each part of the data the peers of each step."""
    if form == "latency":
        grid = grid_of_powers(topology, 2, "the latency form of swing")
    else:
        grid = grid_of_evens(topology, "swing")
    signs = (1, -1) if max(grid.shape) > 2 else (1,)
    courses = [
        [
            [moved_along(grid.shape, axis, sign * rho(turn), -sign * rho(turn))]
            for axis, turn in alternating_dimensions(grid.shape, first, 2)
        ]
        for first in range(grid.ndim)
        for sign in signs
    ]
    return Exchange(grid.ravel(), courses)


METHODS = (
    Method(
        name="swing",
        summary="recursive doubling on tori with peers on alternating sides",
        source="De Sensi et al., Swing (NSDI 2024)",
        generate=generate,
        collectives=("allreduce", *(name for name in GATHERING if name != "allreduce")),
        notes="tori of even dimensions",
        libraries=("networkx",),
    ),
)
