"""Bounds on the all-to-all rate of a network of GPUs, without a linear program.

Problem: how much every GPU can send to every other at once.
Input:   a network without switches whose links have one bandwidth, or whole multiples of it.
Output:  a rate that equal use of all shortest paths attains, and a rate that none exceeds, both in
         bandwidths of one link for every ordered pair.
Cost:    for N GPUs and diameter D about 2 D sparse products with an N x N array.
Source:  Zhao et al. (NSDI 2025), section 6.2, program (3): equal prices prove that f is at most
         the links over the sum of all distances. Brandes, "A Faster Algorithm for Betweenness
         Centrality" (2001), counts shortest paths for the loads.

The two meet where shortest paths load all links equally, as on tori, hypercubes and circulants of
one offset. The attained rate is a float; the bound is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from forestcoll.errors import DisconnectedError, UnsupportedError
from forestcoll.topology.model import Topology
from forestcoll.topology.operations import common_unit

__all__ = ["AllToAllRate", "all_to_all_rate"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AllToAllRate:
    """Rates for every ordered pair, in bandwidths of one link.

    Parameters
    ----------
    attained : float
        By equal use of all shortest paths.
    bound : Fraction
        No routing is faster.
    mean_hops : Fraction
        Mean distance of two GPUs.
    """

    attained: float
    bound: Fraction
    mean_hops: Fraction


def all_to_all_rate(topology: Topology, unit_gb_s: Fraction | None = None) -> AllToAllRate:
    """Bound the rate of an all-to-all with equal amounts.

    Parameters
    ----------
    topology : Topology
    unit_gb_s : Fraction, optional
        Bandwidth of one link; by default the largest of which every link is a whole multiple.

    Raises
    ------
    UnsupportedError
        If there are switches.
    DisconnectedError
        If some GPU cannot be reached.
    """
    if topology.switches:
        raise UnsupportedError(f"unsupported: {topology.name} has switches")
    size, unit = topology.num_compute, unit_gb_s or common_unit(topology)
    tail, head, width = (
        np.array(column)
        for column in zip(
            *((e.tail, e.head, int(e.bandwidth_gb_s / unit)) for e in topology.links), strict=True
        )
    )
    links = csr_array((width.astype(float), (tail, head)), shape=(size, size))
    hops, paths = _shortest_paths(links)
    if (hops < 0).any():
        raise DisconnectedError(f"{topology.name}: some GPU cannot reach all others")
    load = _loads(links, hops, paths, tail, head)
    total = int(hops.sum())
    return AllToAllRate(
        attained=1 / float(load.max()),
        bound=Fraction(int(width.sum()), total),
        mean_hops=Fraction(total, size * (size - 1)),
    )


def _shortest_paths(links: csr_array) -> tuple[npt.NDArray[np.int32], Floats]:
    """Return the distance of each pair (-1: unreachable), and its number of shortest paths."""
    size = links.shape[0]
    hops = np.full((size, size), -1, dtype=np.int32)
    paths = np.eye(size)
    front, step = np.eye(size), 0
    while front.any():
        hops[front > 0] = step
        step += 1
        front = np.where(hops < 0, front @ links, 0.0)
        paths += front
    return hops, paths


def _loads(
    links: csr_array,
    hops: npt.NDArray[np.int32],
    paths: Floats,
    tail: npt.NDArray[np.int64],
    head: npt.NDArray[np.int64],
) -> Floats:
    """Return what a link of each pair of GPUs carries if every pair sends one unit.

    From the farthest nodes inwards: a node passes on what is for itself and for those behind it,
    in proportion to the paths that lead to it.
    """
    backwards = csr_array(links.T)
    share = np.zeros_like(paths)  # per path: for the node itself and for all behind it
    behind = np.zeros_like(paths)
    for step in range(int(hops.max()), 0, -1):
        at = hops == step
        share[at] = (1 + behind[at]) / paths[at]
        nearer = hops == step - 1
        behind[nearer] = (paths * (np.where(at, share, 0.0) @ backwards))[nearer]
    onward = hops[:, head] == hops[:, tail] + 1
    return np.asarray((paths[:, tail] * share[:, head] * onward).sum(axis=0))
