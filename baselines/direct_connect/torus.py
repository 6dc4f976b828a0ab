"""Torus: ring collectives, one dimension after the other, the traditional method on tori.

Problem: an allgather, reduce-scatter or allreduce on a torus over all links at once.
Input:   a topology that is a torus: rings, hypercubes and meshes of length 2 are.
Output:  step schedules of sum(d_i - 1) steps for dimensions d_1 x ... x d_n (twice, an allreduce).
Cost:    linear in the transfers: N (N - 1) for each of the 2 n parts.
Source:  the "traditional torus schedule" that Zhao et al. (NSDI 2025, sections 5.2, 6.2 and 8.5.2)
         compare with, after Sack and Gropp, "Collective Algorithms for Multiported Torus
         Networks" (ACM TOPC 2015). Reimplemented from their descriptions.

The data has one part per dimension and direction. In an allgather the part of dimension i is
gathered along rings of dimension i first, then with all gathered data along the next dimension, and
so on cyclically. So the parts use different links in every step, and all links, if the dimensions
are equal: then T_B is the optimum, (N-1)/N M / B. With unequal dimensions parts change dimension at
different times and meet; a step lasts as long as its busiest link. A dimension of length 2 is a
single link, with one direction.

Left out: remedies for unequal dimensions. T_L is sum(d_i - 1), for BFB sum(floor(d_i / 2)). Rates:
docs/baselines/steps.md.
"""

from __future__ import annotations

import numpy as np

from baselines.building.composing import collect_steps, hop_by_hop, joined
from baselines.building.grid_rings import along_rings
from baselines.interface.method import Method
from baselines.interface.supported import GATHERING
from baselines.networks.switch_paths import check_size
from baselines.networks.torus_grid import find_grid
from forestcoll.schedule.sends import Chunks
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]


def generate(topology: Topology, collective: str = "allgather") -> StepSchedule:
    """Run rings along the dimensions of a torus.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter" or "allreduce".

    Raises
    ------
    UnsupportedError
        If the links between the GPUs are not those of a torus.
    """
    check_size(topology)
    return collect_steps(_gather, topology, collective)


def _gather(topology: Topology) -> StepSchedule:
    grid = find_grid(topology)
    size, axes = topology.num_compute, range(grid.ranks.ndim)
    courses = [([*axes[i:], *axes[:i]], way) for i in axes for way in grid.ways]
    sends = joined(
        [
            step
            for part, (order, way) in enumerate(courses)
            for step in along_rings(grid.ranks, order, way=way, first_chunk=size * part)
        ]
    )
    chunks = Chunks.equal(np.tile(np.arange(size), len(courses)), whole=size * len(courses))
    return hop_by_hop(topology, "torus", "allgather", chunks, sends)


METHODS = (
    Method(
        name="torus",
        summary="ring collectives dimension by dimension, rotated parts on all links",
        source="Sack and Gropp (ACM TOPC 2015), as in Zhao et al. (NSDI 2025)",
        generate=generate,
        collectives=GATHERING,
        libraries=("networkx",),
    ),
)
