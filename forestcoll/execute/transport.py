"""How processes reach each other: what each way of doing so has to offer, and all there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from importlib import import_module
from typing import Any, Protocol

import numpy.typing as npt

from forestcoll.execute.rank_plan import RankPlan

__all__ = ["Array", "Backend", "Transport", "Values", "open_transport"]

Array = Any
"""Elements, where the transport sends from: sliced, copied and added to as numpy's are."""

Values = npt.NDArray[Any]


class Backend(StrEnum):
    """Ways to reach other processes."""

    MPI = "mpi"
    TORCH = "torch"


class Transport(Protocol):
    """One process among others."""

    @property
    def rank(self) -> int:
        """The number of this process."""

    @property
    def size(self) -> int:
        """How many there are."""

    @property
    def library(self) -> str:
        """What carries the data, with its version."""

    def array(self, values: Values) -> Array:
        """Put values where they can be sent from."""

    def values(self, array: Array) -> Values:
        """Return what an array holds."""

    def exchange(
        self, receives: Sequence[tuple[int, Array]], sends: Sequence[tuple[int, Array]]
    ) -> None:
        """Receive from and send to ranks, all at once; return when all of it is done.

        What goes from rank to rank is received in the order in which it is sent.
        """

    def barrier(self) -> None:
        """Wait for all others."""

    def collective(self, plan: RankPlan, given: Array) -> Array:
        """Return what the library's own collective gives."""

    def abort(self) -> None:
        """End all processes, this one at once."""

    def close(self) -> None:
        """Part from the others, when all is done."""


def open_transport(backend: Backend, meeting: str) -> Transport:
    """Join the others.

    Parameters
    ----------
    backend : Backend
    meeting : str
        A file that is not there yet, by which processes find each other if their launcher does not
        see to it.
    """
    home = import_module(f"forestcoll.execute.over_{backend}")
    opened: Callable[[str], Transport] = home.joined
    return opened(meeting)
