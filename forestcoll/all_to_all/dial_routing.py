"""Dial's stochastic routing: demands spread over all paths, most of them over cheap ones.

Problem: a flow of each source that changes smoothly with the links' prices, and its cost.
Output:  loads of links, weights from which the flow of every source follows, the softened price.
Cost:    O(N |E| h) in sparse products, with h the hops of the longest paths in use.
Source:  Dial's assignment of traffic (Transportation Research 1971): a path gets traffic in
         proportion to its probability as a random walk times exp(-price / tau). Here for all paths
         at once by the series I + W + W^2 + ..., W_uv = 0.9 / outdegree(u) exp(-l_uv / tau).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from forestcoll.all_to_all.flow_problem import FlowProblem
from forestcoll.solver.linear_program import Vector

__all__ = ["LateError", "Routing", "route"]

_LEAST_WEIGHT = 1e-290
"""Least weight of a path, near the end of the range of floats."""

_PRECISION = 1e-11
"""Relative precision of the series of all paths."""


@dataclass(frozen=True, slots=True)
class Routing:
    """Softened routing of all demands at given prices.

    Parameters
    ----------
    value : float
        Sum of the softened prices of all demands.
    load : float array, one entry a link
        For demands as they are.
    reach : float array of shape (N, V)
        Z, paths from each rank to each node, weighted.
    onward : float array of shape (N, V)
        B, the same from each node on to the rank's demands.
    weight : float array, one entry a link
        W.
    """

    value: float
    load: Vector  # of each link, for demands as they are
    reach: Vector
    onward: Vector
    weight: Vector


class LateError(Exception):
    """The deadline passed during an evaluation."""


def route(
    demands: FlowProblem, price: Vector, tau: float, deadline: float = np.inf
) -> Routing | None:
    """Route all demands; None if a path's weight is below the range of floats.

    Link (u, v) carries Z[s, u] W[u, v] B[s, v] of source s. Z = I + Z W is the weight of all paths
    from s to u. B = R + B W' is that of all paths from v to the demands of s, with R = D / Z.
    """
    weight = demands.step_chance() * np.exp(-price / tau)
    links = demands.lengths(weight)
    ranks, nodes = demands.amount.shape
    start = np.zeros((nodes, ranks))
    start[demands.sources, np.arange(ranks)] = 1
    reach = _series(links.T.tocsr(), start, deadline)
    wanted = demands.amount.T > 0
    reached = reach[wanted]
    if not ((reached > _LEAST_WEIGHT) & np.isfinite(reached)).all():
        return None
    share = np.zeros((nodes, ranks))
    np.divide(demands.amount.T, reach, out=share, where=wanted)
    onward = _series(links, share, deadline)
    load = weight * np.einsum("es,es->e", reach[demands.tail], onward[demands.head])
    load = demands.even(load)
    if not np.isfinite(load).all():
        return None
    value = -tau * float(demands.amount.T[wanted] @ np.log(reached))
    return Routing(value, load, reach.T, onward.T, weight)


def _series(matrix: Any, start: Vector, deadline: float) -> Vector:
    """Sum up start + A start + A^2 start + ...; every term is at most 0.9 of the one before.

    Values that are not finite stay, for the caller to detect.
    """
    total, term = start.copy(), start
    while True:
        for _ in range(4):
            term = matrix @ term
            total += term
        if (term <= _PRECISION * total).all() or not np.isfinite(total).all():
            return total
        if time.perf_counter() > deadline:
            raise LateError
