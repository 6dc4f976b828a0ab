"""What schedules of different types have in common, for whoever reads several of them alike."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Topology

__all__ = ["Batches", "Claims", "Made", "OnNetwork", "Routed", "Schedule", "Weighted"]


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
