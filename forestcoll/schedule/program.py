"""Programs: a schedule of any kind as transfers with dependencies.

Simulators, exporters and interpreters read this form. A transfer moves an interval of a chunk
between two nodes over one physical path, as soon as its *dependencies* have finished. Dependencies
alone set the order, in pipelined forests, in steps and between the phases of an allreduce.

The content of a transfer is its sender's own part of the data, to which its dependencies are
applied in the order of their numbers: a transfer that adds is added, any other replaces the data.
Other transfers to the sender are not part of it. (So two GPUs that swap their sums do not need each
other.) A switch has no part of its own. The final data of a GPU is the result of all transfers to
it, applied in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.multicast import Walks
from forestcoll.schedule.sends import Chunks
from forestcoll.topology.describe import counted
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.model import Topology

__all__ = ["Program", "Starts"]


@dataclass(frozen=True, eq=False)
class Starts(ByValue):
    """Earliest start of each transfer of a schedule with a clock.

    Parameters
    ----------
    size_bytes : int
        The size of the data for which these are the times.
    tick : int64 array of length T
        In ticks from the beginning.
    """

    size_bytes: int
    tick_us: Fraction
    tick: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Program(ByValue, InBrief):
    """Transfers with their senders, receivers, paths and dependencies.

    Parameters
    ----------
    method : str
        The method that made the original schedule.
    collective : str
        One of :data:`forestcoll.schedule.steps.COLLECTIVES`.
    chunks : Chunks
        One for each root with a part of the data; in an all-to-all, for each root and target. An
        allreduce of forests has one for each root of their trees; one of steps has their chunks.
    chunk : int32 array of length T
    first, amount : int64 arrays of length T
        Each transfer moves ``amount`` units of its chunk from ``first`` on, which is
        ``amount / chunks.whole`` of the data.
    tail, head : int32 arrays of length T
        Sender and receiver: nodes, as in :attr:`Topology.ends`.
    path : int32 array of length T
        The number of its path.
    reduce : bool array of length T
        Whether the receiver adds what comes in.
    first_need : int64 array of length T + 1
        Transfer t needs ``need[first_need[t]:first_need[t + 1]]``.
    need : int32 array
        Numbers of transfers, in order. A dependency always has a smaller number than the transfer
        that needs it.
    message : int32 array of length T
        Transfers of one number start together, as one message; -1: alone.
    step : int32 array of length T
        The schedule's step that sends it, from 0 up: the hop in a forest, with the phases of an
        allreduce one behind the other; the number of its start if there is a clock. An executor
        may ignore it.
    paths : Walks
        Physical paths, in positions of the topology.
    starts : Starts, optional
        Start times of a schedule with a clock.
    weights : tuple of int
        One for each rank, from 0 up, without a common divisor: rank r has w(r) parts of the data.
        All 1 if not given; others only in an allgather or reduce-scatter.
    """

    topology: Topology
    method: str
    collective: str
    chunks: Chunks = field(repr=False)
    chunk: npt.NDArray[np.int32] = field(repr=False)
    first: npt.NDArray[np.int64] = field(repr=False)
    amount: npt.NDArray[np.int64] = field(repr=False)
    tail: npt.NDArray[np.int32] = field(repr=False)
    head: npt.NDArray[np.int32] = field(repr=False)
    path: npt.NDArray[np.int32] = field(repr=False)
    reduce: npt.NDArray[np.bool_] = field(repr=False)
    first_need: npt.NDArray[np.int64] = field(repr=False)
    need: npt.NDArray[np.int32] = field(repr=False)
    message: npt.NDArray[np.int32] = field(repr=False)
    step: npt.NDArray[np.int32] = field(repr=False)
    paths: Walks = field(repr=False)
    starts: Starts | None = field(default=None, repr=False)
    weights: tuple[int, ...] = field(default=(), repr=False)

    def in_a_line(self) -> str:
        """Return the method, the collective, the network and the number of transfers."""
        many = counted(self.num_transfers, "transfer")
        return f"{self.method} {self.collective} on {self.topology.name}: {many}"

    def in_a_table(self) -> dict[str, object]:
        """Return the same, with the numbers of chunks and steps."""
        return {
            "topology": self.topology.name,
            "method": self.method,
            "collective": self.collective,
            "chunks": len(self.chunks.size),
            "transfers": self.num_transfers,
            "steps": int(self.step.max(initial=-1)) + 1,
        }

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1,) * self.topology.num_compute)

    @property
    def num_transfers(self) -> int:
        """Number of transfers, T."""
        return len(self.chunk)

    def size(self, transfer: int) -> Fraction:
        """Return the part of the data that a transfer moves."""
        return Fraction(int(self.amount[transfer]), self.chunks.whole)

    def dependencies(self, transfer: int) -> npt.NDArray[np.int32]:
        """Return the dependencies of a transfer."""
        return self.need[self.first_need[transfer] : self.first_need[transfer + 1]]
