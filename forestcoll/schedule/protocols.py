"""Protocols of schedule types: the fields that several types share."""

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
    """Any schedule."""

    @property
    def topology(self) -> Topology:
        """The network."""


class Made(Protocol):
    """Any schedule of one phase."""

    @property
    def method(self) -> str:
        """The name of the method that made it."""


class Routed(OnNetwork, Protocol):
    """Any schedule with logical links and routes."""

    @property
    def routes(self) -> Routes:
        """Physical paths of the logical links."""


class Weighted(OnNetwork, Protocol):
    """Any schedule of shards: their sizes, and whether it sums up."""

    @property
    def weights(self) -> tuple[int, ...]:
        """Number of parts of the data of each rank."""

    @property
    def reduction(self) -> bool:
        """Whether it sums up."""


class Claims(Made, Weighted, Protocol):
    """Any forest, with its claims."""

    @property
    def k(self) -> int:
        """Trees per unit of weight."""

    @property
    def congestion(self) -> Fraction:
        """The claimed congestion, in trees per GB/s."""

    @property
    def collective(self) -> str:
        """The collective that it claims to be."""

    @property
    def optimum(self) -> Optimum | None:
        """The bound that it claims to attain."""


class Schedule(Claims, Routed, Protocol):
    """Any explicit or factored forest."""


class Batches(Claims, Protocol):
    """Any forest of explicit trees, physical or logical."""

    @property
    def root(self) -> npt.NDArray[np.int32]:
        """The rank at which the trees of each batch are rooted."""

    @property
    def multiplicity(self) -> npt.NDArray[np.int64]:
        """How many trees each batch stands for."""
