"""The latency that no schedule is below: that of the way between the two GPUs farthest apart.

Problem: a bound on any simulation of any schedule, for sizes at which bandwidth does not matter.
Input:   a topology, what is to be done, the model.
Output:  seconds.
Cost:    a shortest-path search from every GPU that must be heard of.
Source:  ours. Each bit that must come from one GPU to another pays one alpha for every GPU that
         sends it on, and the latencies of its links, one after the other.
"""

from __future__ import annotations

import numpy as np

from forestcoll.errors import DisconnectedError
from forestcoll.schedule.simulate.alpha_beta import AlphaBeta
from forestcoll.topology.model import Topology

__all__ = ["least_latency_s"]


def least_latency_s(
    topology: Topology, collective: str, model: AlphaBeta | None = None, root: int | None = None
) -> float:
    """Return the seconds that the first bit takes at least, in any schedule.

    Parameters
    ----------
    topology : Topology
    collective : str
        A broadcast leads from the root to all, a reduce from all to the root, any other collective
        from every GPU to every other one.
    model : AlphaBeta, optional
        With its defaults if not given.
    root : int, optional
        Rank of the root of a broadcast or reduce; 0 if not given.

    Raises
    ------
    DisconnectedError
        If a GPU cannot be reached.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> least_latency_s(load_topology("ring:nodes=6"), "allgather", AlphaBeta(alpha_us=2))
    6e-06
    """
    from scipy.sparse import csr_array  # here, as scipy loads for longer than most commands run
    from scipy.sparse.csgraph import dijkstra

    model = AlphaBeta() if model is None else model
    compute = np.array(topology.compute)
    if len(compute) < 2:
        return 0.0
    alpha = model.alpha
    price = [
        link.latency_us + (0 if topology.nodes[link.tail].is_switch else alpha)
        for link in topology.links
    ]
    tails, heads = (
        np.array([getattr(link, end) for link in topology.links]) for end in ("tail", "head")
    )
    if collective == "reduce":
        tails, heads = heads, tails
    nodes = len(topology.nodes)
    # Stored zeros are links here, as scipy takes them.
    prices = csr_array((np.array([float(p) for p in price]), (tails, heads)), (nodes, nodes))
    sources = compute
    if collective in ("broadcast", "reduce"):
        sources = compute[[0 if root is None else root]]
    apart = dijkstra(prices, indices=sources)[:, compute]
    if not np.isfinite(apart).all():
        raise DisconnectedError(f"{topology.name}: a GPU cannot be reached from another")
    return float(apart.max()) / 10**6
