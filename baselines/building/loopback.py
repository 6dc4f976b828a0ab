"""Loopback traffic: data that NVLS sends through a switch to a GPU that has it already.

Problem: an NVLS switch multicasts to all GPUs of its box, the sender too. It reduces the data of
         all GPUs, the receiver's too.
Output:  the same trees with a walk back to the GPU for each walk from a GPU to such a switch. In a
         reduction, with a walk to the switch for each walk from it to a GPU.
Source:  multicast objects of CUDA: ``multimem.st`` writes to all GPUs of the team,
         ``multimem.ld_reduce`` reads from all. The rates of NCCL and nccl-tests say the same:
         docs/baselines/nccl.md.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

import numpy as np

from forestcoll.errors import UnsupportedError
from forestcoll.schedule.cost_model.measures import cost
from forestcoll.schedule.multicast import MulticastForest, Walks

__all__ = ["with_loopback"]


def with_loopback(forest: MulticastForest, switches: Collection[int]) -> MulticastForest:
    """Add the walks back from these switches to each sender; in a reduction, from each receiver.

    Raises
    ------
    UnsupportedError
        If a link for this is missing.
    """
    near, far = (end.tolist() for end in forest.ends())
    gpu = [node.is_gpu for node in forest.topology.nodes]
    nodes = [forest.walks.nodes(i) for i in range(len(forest.walks))]
    number = {walk: i for i, walk in enumerate(nodes)}
    back = np.full(len(nodes), -1, dtype=np.int64)
    for i, walk in enumerate(nodes):
        if far[i] in switches and gpu[near[i]]:
            back[i] = number.setdefault(_reversed(forest, walk), len(number))
    more = back[forest.walk]
    many = np.where(more < 0, 1, 2)
    entries = np.repeat(forest.walk, many)
    behind = (np.cumsum(many) - 1)[more >= 0]  # the walks that are reversed
    entries[behind] = more[more >= 0]
    length = np.array([0, *map(len, number)], dtype=np.int64)
    made = replace(
        forest,
        first_walk=np.concatenate([[0], np.cumsum(many)])[forest.first_walk],
        walk=entries,
        optimum=None,
        walks=Walks(np.cumsum(length), np.array([v for w in number for v in w], dtype=np.int32)),
    )
    return replace(made, congestion=cost(made).time_s_per_gb * made.num_trees)


def _reversed(forest: MulticastForest, walk: tuple[int, ...]) -> tuple[int, ...]:
    back = walk[::-1]
    for tail, head in pairwise(back):
        if (tail, head) not in forest.topology.link_between:
            names = [forest.topology.nodes[v].name for v in (tail, head)]
            raise UnsupportedError(
                f"unsupported: NVLS sends what passes a switch both ways, and there is no link "
                f"from {names[0]} to {names[1]}"
            )
    return back
