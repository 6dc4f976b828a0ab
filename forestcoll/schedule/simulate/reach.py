"""Lower bound on the latency of any schedule: the network diameter in time.

Problem: a bound on any simulation of any schedule, for sizes at which bandwidth does not matter.
Input:   a topology, a collective, the model.
Output:  seconds.
Cost:    a shortest-path search from every GPU whose data others need.
Source:  ours. A bit that must travel from one GPU to another pays one alpha for every GPU that
         sends it, and the latencies of its links, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from forestcoll.errors import (
    DisconnectedError,
    InvalidParameterError,
)
from forestcoll.problem.demand import Demand
from forestcoll.schedule.simulate.alpha_beta import AlphaBeta
from forestcoll.topology.model import NodeKind, Topology
from forestcoll.topology.shortest_paths import distances
from forestcoll.topology.validation import COLLECTIVES, check_collective

__all__ = ["least_latency_s"]

_KNOWN = (*COLLECTIVES, "all-to-all")


def least_latency_s(
    topology: Topology,
    collective: str,
    model: AlphaBeta | None = None,
    root: int | None = None,
    weights: Sequence[int | Fraction] | None = None,
    demand: Demand | None = None,
) -> float:
    """Return a lower bound on the latency of any schedule, in seconds.

    Parameters
    ----------
    collective : str
        It sets the pairs of GPUs. Broadcast: from the root to all; reduce: from all to the root.
        Allgather: from GPUs with data to all; reduce-scatter: from all to these. Allreduce and
        all-to-all: from every GPU to every other one.
    model : AlphaBeta, optional
        With its defaults if not given.
    root : int, optional
        Rank of the root of a broadcast or reduce; 0 if not given.
    weights : sequence, optional
        The part of the data of each rank; weights take precedence over a root.
    demand : Demand, optional
        Of an all-to-all: only pairs with data count.

    Raises
    ------
    UnsupportedError
        If there is no such collective.
    InvalidParameterError
        If the root is no rank, or the number of weights is wrong.
    DisconnectedError
        If a GPU cannot be reached.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> least_latency_s(load_topology("ring:nodes=6"), "allgather", AlphaBeta(alpha_us=2))
    6e-06
    """
    model = AlphaBeta() if model is None else model
    check_collective(collective, _KNOWN)
    gpus = np.array(topology.compute)
    rooted = gpus[_roots(topology, collective, root, weights)]
    if len(gpus) < 2:
        return 0.0
    prices = [
        link.latency_us + (0 if topology.nodes[link.tail].kind is NodeKind.SWITCH else model.alpha)
        for link in topology.links
    ]
    tails, heads = (
        np.array([getattr(link, end) for link in topology.links]) for end in ("tail", "head")
    )
    if collective in ("reduce", "reduce-scatter"):
        tails, heads = heads, tails
    late = np.array([float(p) for p in prices])
    apart = distances(len(topology.nodes), tails, heads, late, rooted)[:, gpus]
    if demand is not None:
        apart = apart[demand.matrix > 0]
    if not np.isfinite(apart).all():
        raise DisconnectedError(f"{topology.name}: a GPU cannot be reached from another")
    return float(apart.max()) / 10**6


def _roots(
    topology: Topology,
    collective: str,
    root: int | None,
    weights: Sequence[int | Fraction] | None,
) -> list[int]:
    """Return the ranks from which, or to which, all data leads."""
    ranks = range(topology.num_compute)
    if weights is not None and len(weights) != len(ranks):
        raise InvalidParameterError(f"there are {len(weights)} weights for {len(ranks)} GPUs")
    if root is not None and (isinstance(root, bool) or root not in ranks):
        raise InvalidParameterError(f"root is {root!r}; it must be a rank below {len(ranks)}")
    if collective in ("allreduce", "all-to-all"):
        return list(ranks)
    if weights is not None:
        return [rank for rank in ranks if weights[rank]]
    return [root or 0] if collective in ("broadcast", "reduce") else list(ranks)
