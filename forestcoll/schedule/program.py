"""Programs: a schedule of any kind as transfers, each with what it waits for.

The form that whatever carries a schedule out reads. A transfer moves an interval of a chunk between
two nodes over one physical path, as soon as those that it *needs* have finished. Nothing else says
when: a forest flows, steps follow one another, an allreduce is both phases at once, all by needs
alone.

What a transfer brings is its sender's own part of the data, to which the transfers that it needs
are applied in the order of their numbers: one that adds is added, any other replaces what was
there. What has come to the sender besides is not part of it. (So two GPUs that swap their sums do
not need each other.) A switch has no part of its own. What a GPU has in the end are all transfers
to it, applied in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.multicast import Walks
from forestcoll.schedule.sends import Chunks
from forestcoll.topology.model import Topology

__all__ = ["Program", "Starts"]


@dataclass(frozen=True, eq=False)
class Starts(ByValue):
    """When each transfer of a schedule with a clock starts; it need not, but may not before.

    Parameters
    ----------
    size_bytes : int
        The size of the data for which these are the times.
    tick_us : Fraction
    tick : int64 array of length T
        In ticks from the beginning.
    """

    size_bytes: int
    tick_us: Fraction
    tick: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Program(ByValue):
    """Who sends what to whom over which path, after what.

    Parameters
    ----------
    topology : Topology
    method : str
        Who made the schedule that this comes from.
    collective : str
        One of :data:`forestcoll.schedule.steps.COLLECTIVES`.
    chunks : Chunks
        One for each root with a part of the data, in an all-to-all for each root and target. In an
        allreduce of forests one for each root of their trees, of steps as these cut the data.
    chunk : int32 array of length T
    first, amount : int64 arrays of length T
        What each transfer moves: ``amount`` units of its chunk from ``first`` on, which is
        ``amount / chunks.whole`` of the data.
    tail, head : int32 arrays of length T
        From where to where: nodes, as in :attr:`Topology.ends`.
    path : int32 array of length T
        Over which of the paths.
    reduce : bool array of length T
        Whether the receiver adds what comes in.
    first_need : int64 array of length T + 1
        Transfer t needs ``need[first_need[t]:first_need[t + 1]]``.
    need : int32 array
        Numbers of transfers, in order, each smaller than that of the one that needs it.
    message : int32 array of length T
        Transfers of one number start together, as one message; -1: alone.
    step : int32 array of length T
        In which step the schedule sends it, from 0 up: the hop of a forest, the phases of an
        allreduce one behind the other; of a schedule with a clock the number of its start. Who
        carries a program out need not keep to it.
    paths : Walks
        Physical paths, in positions of the topology.
    starts : Starts, optional
        Of a schedule with a clock.
    weights : tuple of int
        Of each rank, from 0 up, without a common divisor, in an allgather or reduce-scatter: rank r
        has w(r) parts of the data. All 1 if not given.
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

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1,) * self.topology.num_compute)

    @property
    def num_transfers(self) -> int:
        """Number of transfers, T."""
        return len(self.chunk)

    def size(self, transfer: int) -> Fraction:
        """Return how much of the data a transfer moves."""
        return Fraction(int(self.amount[transfer]), self.chunks.whole)

    def dependencies(self, transfer: int) -> npt.NDArray[np.int32]:
        """Return the transfers that one waits for."""
        return self.need[self.first_need[transfer] : self.first_need[transfer + 1]]
