"""Multicast switches as nodes of the trees, like GPUs without data of their own.

Problem: let trees branch at switches marked ``multicast`` from the start, not only afterwards.
Input:   a topology; a forest on the network in which these switches count as GPUs.
Output:  that network; the forest's trees as physical trees of the topology.
Cost:    linear in the tree edges.
Source:  ForestColl section 5.6 drops traffic from trees of GPUs. Ours goes further: a tree spans
         the GPUs and the switches, and branches that serve switches only are cut off.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from forestcoll.in_network.pruning import pruned
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["as_gpus", "from_spanning"]


def as_gpus(topology: Topology, switches: Collection[int] | None = None) -> Topology:
    """Return the network in which switches marked ``multicast`` are GPUs.

    Nodes and links keep their positions.

    Parameters
    ----------
    switches : collection of int, optional
        The switches, by position; all if not given.
    """
    nodes = tuple(
        replace(node, kind=NodeKind.COMPUTE, multicast=False)
        if node.multicast and (switches is None or v in switches)
        else node
        for v, node in enumerate(topology.nodes)
    )
    return topology.like(topology.name, nodes, topology.columns, shared=topology.shared)


def from_spanning(forest: Forest, topology: Topology) -> MulticastForest:
    """Convert a forest of :func:`as_gpus` to one of the topology, without needless branches.

    Parameters
    ----------
    forest : Forest
        Roots are GPUs of the topology.

    Returns
    -------
    MulticastForest
        With the walks and the congestion that :func:`.pruning.pruned` gives.
    """
    spanning = pruned(forest)
    needed = _needed(spanning, topology)
    upto = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(needed)])
    rank = np.zeros(len(topology.nodes), dtype=np.int32)
    rank[list(topology.compute)] = np.arange(topology.num_compute)
    weight = dict(zip(forest.topology.compute, forest.weights, strict=True))
    return replace(
        spanning,
        topology=topology,
        root=rank[np.array(forest.topology.compute)[spanning.root]],
        first_walk=upto[spanning.first_walk],
        walk=spanning.walk[needed],
        weights=tuple(weight[node] for node in topology.compute),
        optimum=None,
    )


def _needed(spanning: MulticastForest, topology: Topology) -> npt.NDArray[np.bool_]:
    """Return the entries of ``walk`` that lead to a GPU, directly or through switches."""
    size = len(topology.nodes)
    batch = np.repeat(np.arange(spanning.num_batches), np.diff(spanning.first_walk))
    near, far = spanning.ends()
    is_gpu = np.array([not node.is_switch for node in topology.nodes])
    needed: npt.NDArray[np.bool_] = is_gpu[far][spanning.walk]
    into_switch = np.flatnonzero(~needed)
    entry = batch[into_switch] * size + far[spanning.walk[into_switch]]
    passes_on = np.zeros(spanning.num_batches * size, dtype=bool)
    new = np.flatnonzero(needed & ~is_gpu[near][spanning.walk])  # out of switches
    while len(new):
        passes_on[batch[new] * size + near[spanning.walk[new]]] = True
        new = into_switch[passes_on[entry] & ~needed[into_switch]]
        needed[new] = True
    return needed
