"""Names of trees, links and paths in counter-examples, from the topology's names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

import numpy as np

from forestcoll.errors import VerificationError
from forestcoll.schedule.protocols import Batches, OnNetwork, Routed

__all__ = [
    "arrows", "end_name", "fail", "gpu_name", "link_name", "path_name", "tree_name", "walk",
]  # fmt: skip

_SHOWN_NODES = 8  # nodes shown of a long cycle or path


def fail(message: str) -> NoReturn:
    """Raise a VerificationError with the counter-example."""
    raise VerificationError(message)


def gpu_name(schedule: OnNetwork, rank: int) -> str:
    """Name the GPU of a rank."""
    return schedule.topology.nodes[schedule.topology.compute[rank]].name


def end_name(schedule: OnNetwork, end: int) -> str:
    """Name an end of a transfer: a GPU by its rank, or another node behind them."""
    return schedule.topology.nodes[schedule.topology.ends[end]].name


def walk(schedule: OnNetwork, ends: Iterable[int]) -> str:
    """Name a sequence of ranks (or ends): "gpu0 -> gpu1 -> gpu2"."""
    return arrows(end_name(schedule, end) for end in ends)


def tree_name(forest: Batches, batch: int) -> str:
    """Name a batch by its number, from 0, and its root."""
    return f"tree {batch}, rooted at {gpu_name(forest, int(forest.root[batch]))}"


def link_name(schedule: Routed, link: int) -> str:
    """Name a logical link by its two GPUs."""
    return walk(schedule, (int(schedule.routes.tail[link]), int(schedule.routes.head[link])))


def path_name(schedule: Routed, path: int) -> str:
    """Name a path by its nodes and the logical link it serves."""
    routes = schedule.routes
    link = int(np.searchsorted(routes.first_path, path, side="right")) - 1
    nodes = routes.hop[routes.first_hop[path] : routes.first_hop[path + 1]].tolist()
    names = arrows(schedule.topology.nodes[i].name for i in nodes)
    return f"path {names} of logical link {link_name(schedule, link)}"


def arrows(names: Iterable[str]) -> str:
    """Join names as a walk, long ones cut short."""
    listed = list(names)
    if len(listed) > _SHOWN_NODES:
        listed = [*listed[: _SHOWN_NODES - 1], "...", listed[-1]]
    return " -> ".join(listed)
