"""How a counter-example calls the trees, links and paths of a forest: by the topology's names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

import numpy as np

from forestcoll.errors import VerificationError
from forestcoll.schedule.forest import Forest

__all__ = ["fail", "gpu_name", "link_name", "path_name", "tree_name", "walk"]

_SHOWN_NODES = 8  # of a long cycle or path


def fail(message: str) -> NoReturn:
    """Raise the counter-example."""
    raise VerificationError(message)


def gpu_name(forest: Forest, rank: int) -> str:
    """Name the GPU of a rank."""
    return forest.topology.nodes[forest.topology.compute[rank]].name


def walk(forest: Forest, ranks: Iterable[int]) -> str:
    """Name a sequence of ranks: "gpu0 -> gpu1 -> gpu2"."""
    return _arrows([gpu_name(forest, rank) for rank in ranks])


def tree_name(forest: Forest, batch: int) -> str:
    """Name a batch by its number, from 0, and its root."""
    return f"tree {batch}, rooted at {gpu_name(forest, int(forest.root[batch]))}"


def link_name(forest: Forest, link: int) -> str:
    """Name a logical link by its two GPUs."""
    return walk(forest, (int(forest.routes.tail[link]), int(forest.routes.head[link])))


def path_name(forest: Forest, path: int) -> str:
    """Name a path by its nodes and the logical link it serves."""
    routes = forest.routes
    link = int(np.searchsorted(routes.first_path, path, side="right")) - 1
    nodes = routes.hop[routes.first_hop[path] : routes.first_hop[path + 1]].tolist()
    names = _arrows([forest.topology.nodes[i].name for i in nodes])
    return f"path {names} of logical link {link_name(forest, link)}"


def _arrows(names: list[str]) -> str:
    if len(names) > _SHOWN_NODES:
        names = [*names[: _SHOWN_NODES - 1], "...", names[-1]]
    return " -> ".join(names)
