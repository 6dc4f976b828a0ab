"""Step schedules: which GPU sends which chunk of the data to which, and in what order.

Tree-flow schedules let all data flow at once; here everything happens in steps. What is sent in a
step was there before the step began, and has arrived when it ends. A schedule made in continuous
time has a clock besides: when each transfer starts and ends, for one size of the data.

A transfer may pass through other GPUs. A GPU on a path only forwards, in the same step, as a switch
does: it neither keeps nor adds to what passes, and the links of the path carry it all at once.

GPUs appear by *rank* (their place among the compute nodes), as in forests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Topology

__all__ = ["COLLECTIVES", "REDUCTIONS", "Chunks", "Clock", "Send", "Sends", "StepSchedule"]

COLLECTIVES = (
    "allgather",
    "broadcast",
    "reduce-scatter",
    "reduce",
    "allreduce",
    "all-to-all",
)
"""What a step schedule can do."""

REDUCTIONS = ("reduce-scatter", "reduce", "allreduce")
"""Those of them that sum up."""


@dataclass(frozen=True)
class Chunks:
    """The pieces that the data is cut into, C of them.

    The data M is what nccl-tests call its size: in an allgather or reduce-scatter that of all GPUs
    together, in an all-to-all what one GPU sends in all (to itself too), else the buffer.

    Parameters
    ----------
    size : int64 array of length C
        Chunk c is ``size[c] / whole`` of the data.
    whole : int
    root : int32 array of length C
        The rank that has the chunk at first, or, in a reduce-scatter or reduce, at last; -1 in an
        allreduce, where every rank has its part of every chunk at first and the sum at last.
    target : int32 array of length C
        In an all-to-all the rank that gets the chunk; -1 in all others.
    """

    size: npt.NDArray[np.int64]
    whole: int
    root: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.size)

    @classmethod
    def equal(cls, root: npt.ArrayLike, whole: int, size: int = 1) -> Chunks:
        """Chunks of one size with these roots, for everything but an all-to-all."""
        roots = np.asarray(root, dtype=np.int32)
        return cls(
            size=np.full(len(roots), size, dtype=np.int64),
            whole=whole,
            root=roots,
            target=np.full(len(roots), -1, dtype=np.int32),
        )


class Send(NamedTuple):
    """One transfer; see :class:`Sends`."""

    step: int
    chunk: int
    tail: int
    head: int
    reduce: bool = False


@dataclass(frozen=True)
class Sends:
    """The transfers, T of them, sorted by step.

    Parameters
    ----------
    step, chunk, tail, head : int32 arrays of length T
        In this step (from 0) rank ``tail`` sends the chunk to rank ``head``.
    reduce : bool array of length T
        Whether the receiver adds what comes in to its own part; if not, it keeps what comes in
        instead of its own. Nothing else may come in for a chunk in the step in which it is
        replaced: the order of arrivals within a step does not matter.
    """

    step: npt.NDArray[np.int32]
    chunk: npt.NDArray[np.int32]
    tail: npt.NDArray[np.int32]
    head: npt.NDArray[np.int32]
    reduce: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.step)

    @classmethod
    def of(cls, sends: Iterable[Send]) -> Sends:
        """Gather transfers, in the order of (step, chunk, tail, head)."""
        rows = np.array(list(sends), dtype=np.int32).reshape(-1, len(Send._fields))
        step, chunk, tail, head, reduce = rows.T
        return cls.sorted(step, chunk, tail, head, reduce.astype(np.bool_))

    @classmethod
    def sorted(
        cls,
        step: npt.ArrayLike,
        chunk: npt.ArrayLike,
        tail: npt.ArrayLike,
        head: npt.ArrayLike,
        reduce: npt.ArrayLike | None = None,
    ) -> Sends:
        """Take arrays in any order and sort them by (step, chunk, tail, head)."""
        when, what, start, end = (np.asarray(a, dtype=np.int32) for a in (step, chunk, tail, head))
        adds = (
            np.zeros(len(when), dtype=np.bool_) if reduce is None else np.asarray(reduce, np.bool_)
        )
        order = np.lexsort((end, start, what, when))
        return cls(when[order], what[order], start[order], end[order], adds[order])


@dataclass(frozen=True)
class Clock:
    """When each transfer starts and ends, for data of one size.

    A transfer runs at the even rate that gets its bytes through between its start and its end, less
    the latency of its longest path. It is charged at this rate for all of that time, so that a link
    is not free again before the last byte has arrived (as TACOS has it); the rates on a link never
    add up to more than its bandwidth.

    Parameters
    ----------
    size_bytes : int
        The size of the data, M, for which these are the times.
    tick_us : Fraction
    start, end : int64 arrays of length T
        In ticks from the beginning. What is sent has arrived by its start.
    """

    size_bytes: int
    tick_us: Fraction
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]

    @property
    def finish_us(self) -> Fraction:
        """When the last transfer ends, in microseconds."""
        return int(self.end.max(initial=0)) * self.tick_us


@dataclass(frozen=True)
class StepSchedule:
    """Who sends what to whom in which step.

    Parameters
    ----------
    topology : Topology
    method : str
        The name of the baseline that made it.
    collective : str
        One of ``COLLECTIVES``.
    chunks : Chunks
    sends : Sends
        With a clock the steps only number the starts: transfers of one step start together.
    routes : Routes
        The physical paths from GPU to GPU. A transfer is divided over the paths of its logical link
        in proportion to their multiplicities (equal-cost multipath, taken as a fluid).
    clock : Clock, optional
    """

    topology: Topology
    method: str
    collective: str
    chunks: Chunks = field(repr=False)
    sends: Sends = field(repr=False)
    routes: Routes = field(repr=False)
    clock: Clock | None = field(default=None, repr=False)

    @property
    def num_steps(self) -> int:
        """Number of steps."""
        return int(self.sends.step[-1]) + 1 if len(self.sends) else 0

    @property
    def reduction(self) -> bool:
        """Whether it sums up."""
        return self.collective in REDUCTIONS
