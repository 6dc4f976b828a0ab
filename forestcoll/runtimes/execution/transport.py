"""Transport interface between processes, and its backends (MPI, torch.distributed)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from importlib import import_module
from typing import Any, Protocol

import numpy.typing as npt

from forestcoll.runtimes.execution.rank_plan import RankPlan

__all__ = ["Array", "Backend", "Transport", "Values", "open_transport"]

Array = Any
"""Elements, where the transport sends from: sliced, copied and added to as numpy's are."""

Values = npt.NDArray[Any]


class Backend(StrEnum):
    """Libraries that carry the data."""

    MPI = "mpi"
    TORCH = "torch"


class Transport(Protocol):
    """Interface of one process to the others."""

    @property
    def rank(self) -> int:
        """The number of this process."""

    @property
    def size(self) -> int:
        """The number of processes."""

    @property
    def library(self) -> str:
        """The library that carries the data, with its version."""

    def array(self, values: Values) -> Array:
        """Copy values to memory from which they can be sent."""

    def values(self, array: Array) -> Values:
        """Return the values of an array."""

    def exchange(
        self, receives: Sequence[tuple[int, Array]], sends: Sequence[tuple[int, Array]]
    ) -> None:
        """Send to and receive from ranks at once; return when all messages are done.

        Messages between two ranks arrive in the order in which they are sent.
        """

    def barrier(self) -> None:
        """Wait for all other processes."""

    def collective(self, plan: RankPlan, given: Array) -> Array:
        """Return the result of the library's own collective."""

    def abort(self) -> None:
        """End all processes, this one immediately."""

    def close(self) -> None:
        """Disconnect from the others at the end."""


def open_transport(backend: Backend, meeting: str) -> Transport:
    """Connect to the other processes.

    Parameters
    ----------
    meeting : str
        A file that does not exist yet, by which processes find each other if their launcher does
        not connect them.
    """
    home = import_module(f"forestcoll.runtimes.execution.over_{backend}")
    opened: Callable[[str], Transport] = home.joined
    return opened(meeting)
