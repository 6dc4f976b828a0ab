"""How a counter-example calls the trees, links and paths of a forest: by the topology's names."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from forestcoll.bottleneck import Optimum
from forestcoll.errors import VerificationError
from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Topology

__all__ = [
    "Batches",
    "Claims",
    "Made",
    "OnNetwork",
    "Routed",
    "Schedule",
    "Weighted",
    "arrows",
    "end_name",
    "fail",
    "gpu_name",
    "link_name",
    "path_name",
    "tree_name",
    "walk",
]

_SHOWN_NODES = 8  # of a long cycle or path


class OnNetwork(Protocol):
    """What all schedules have in common."""

    @property
    def topology(self) -> Topology:
        """The network."""


class Made(Protocol):
    """What all schedules of one phase have in common."""

    @property
    def method(self) -> str:
        """Who made it."""


class Routed(OnNetwork, Protocol):
    """What all schedules have in common whose GPUs send to GPUs."""

    @property
    def routes(self) -> Routes:
        """Physical paths of the logical links."""


class Weighted(OnNetwork, Protocol):
    """What all schedules of shards have in common: how large they are, and which way they go."""

    @property
    def weights(self) -> tuple[int, ...]:
        """Of each rank: so many parts of the data."""

    @property
    def reduction(self) -> bool:
        """Whether it sums up."""


class Claims(Made, Weighted, Protocol):
    """What all forests have in common: what they say of themselves."""

    @property
    def k(self) -> int:
        """Trees per unit of weight."""

    @property
    def congestion(self) -> Fraction:
        """Claimed, in trees per GB/s."""

    @property
    def collective(self) -> str:
        """What it is to be."""

    @property
    def optimum(self) -> Optimum | None:
        """The bound that is claimed to be attained."""


class Schedule(Claims, Routed, Protocol):
    """What explicit and factored forests have in common."""


class Batches(Claims, Protocol):
    """What explicit forests have in common, their trees physical or not."""

    @property
    def root(self) -> npt.NDArray[np.int32]:
        """The rank that the trees of each batch are rooted at."""

    @property
    def multiplicity(self) -> npt.NDArray[np.int64]:
        """How many trees each batch stands for."""


def fail(message: str) -> NoReturn:
    """Raise the counter-example."""
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
