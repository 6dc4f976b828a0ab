"""Items of the tight sets of a factored forest, and their names.

Part of :func:`forestcoll.schedule.verify`. The items of a set are the GPUs that it holds directly
and its child sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import first
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.verification.naming import fail, gpu_name
from forestcoll.topology.describe import counted

__all__ = ["Family", "item_name", "set_name"]


@dataclass(frozen=True)
class Family:
    """The items of all sets, set after set: those of set s are first[s] to first[s + 1].

    ``level`` counts the sets around each set. ``child`` is the set that an item stands for, or -1
    for a GPU; ``rank`` the smallest rank in it, ``size`` the number of its GPUs, ``due`` of the
    trees they root. ``of_rank`` and ``of_set`` give the item that a rank or a set is in the
    smallest set around it.
    """

    first: npt.NDArray[np.int64]
    level: npt.NDArray[np.int64]
    child: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    due: npt.NDArray[Any]
    of_rank: npt.NDArray[np.int64]
    of_set: npt.NDArray[np.int64]

    @classmethod
    def of(cls, forest: FactoredForest) -> Family:
        """Number the items; fail at a set without GPUs."""
        sets, ranks = forest.sets, forest.topology.num_compute
        count = len(sets)
        size = np.bincount(sets.set_of, minlength=count)
        rooted = [forest.k * weight for weight in forest.weights]
        due = np.zeros(count, dtype=np.int64 if sum(rooted) < 2**63 else object)
        np.add.at(due, sets.set_of, np.array(rooted, dtype=due.dtype))
        least = np.full(count, ranks, dtype=np.int64)
        np.minimum.at(least, sets.set_of, np.arange(ranks))
        # Inner sets come first, so the sums of a set are complete before they are added.
        for inner, around in enumerate(sets.parent[:-1].tolist()):
            size[around] += size[inner]
            due[around] += due[inner]
            least[around] = min(least[around], least[inner])
        level = np.zeros(count, dtype=np.int64)
        for inner in range(count - 2, -1, -1):
            level[inner] = level[sets.parent[inner]] + 1
        if (empty := first(size == 0)) is not None:
            fail(f"set {empty} holds no GPU; leave it out")
        around = np.concatenate([sets.set_of, sets.parent[:-1]])
        child = np.concatenate([np.full(ranks, -1), np.arange(count - 1)])
        rank = np.concatenate([np.arange(ranks), least[:-1]])
        order = np.lexsort((rank, around))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return cls(
            first=np.searchsorted(around[order], np.arange(count + 1)),
            level=level,
            child=child[order],
            rank=rank[order],
            size=np.concatenate([np.ones(ranks, dtype=np.int64), size[:-1]])[order],
            due=np.concatenate([np.array(rooted, dtype=due.dtype), due[:-1]])[order],
            of_rank=place[:ranks],
            of_set=place[ranks:],
        )


def set_name(forest: FactoredForest, family: Family, number: int) -> str:
    """Name a set by its first GPU and its size: "set 3 (8 GPUs from box3/gpu0 on)"."""
    items = slice(family.first[number], family.first[number + 1])
    gpus = counted(int(family.size[items].sum()), "GPU")
    return f"set {number} ({gpus} from {gpu_name(forest, int(family.rank[items].min()))} on)"


def item_name(forest: FactoredForest, family: Family, item: int) -> str:
    """Name the GPU or the set that an item stands for."""
    if family.child[item] < 0:
        return gpu_name(forest, int(family.rank[item]))
    return set_name(forest, family, int(family.child[item]))
