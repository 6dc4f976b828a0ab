"""Step schedules: who sends which part of the data to whom, and in what order.

Tree-flow schedules let all data flow at once; here everything happens in steps. What is sent in a
step was there before the step began, and has arrived when it ends. A schedule made in continuous
time, or in epochs, has a clock besides: when each transfer starts and ends, for one size of the
data.

The two *ends* of a transfer are nodes, numbered as in :attr:`Topology.ends`: a GPU by its rank, the
i-th of the other nodes by N + i. A GPU keeps what it gets. A switch that is marked ``stores`` does
so too; any other passes on at once what comes in: in the next step (with a clock: from the moment
in which it has arrived), or in the same one, as it comes in and no faster. A switch marked
``multicast`` may send it to several, or add what comes in from several, each to the first sum that
it can leave with; any other sends it once. Sums are complete at GPUs, not at switches.

On its way from end to end a transfer may pass through switches and GPUs. These only forward, in the
same step: they neither keep nor add to what passes, and the links of the path carry it all at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Topology

__all__ = [
    "COLLECTIVES",
    "REDUCTIONS",
    "WEIGHTED",
    "Chunks",
    "Clock",
    "Intervals",
    "Send",
    "Sends",
    "StepSchedule",
    "TimedSend",
    "timed",
]

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

WEIGHTED = ("allgather", "reduce-scatter")
"""Those in which the parts of the GPUs may differ."""


@dataclass(frozen=True, eq=False)
class Chunks(ByValue):
    """The pieces that the data is cut into, C of them; transfers may cut them further.

    The data M is what nccl-tests call its size: in an allgather or reduce-scatter that of all GPUs
    together, in an all-to-all what one GPU sends in all (to itself too), else the buffer.

    Parameters
    ----------
    size : int64 array of length C
        Chunk c is ``size[c] / whole`` of the data: so many units.
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
    """One transfer; see :class:`Sends`. All of the chunk if no amount is given."""

    step: int
    chunk: int
    tail: int
    head: int
    reduce: bool = False
    first: int = 0
    amount: int | None = None
    path: int = -1


class TimedSend(NamedTuple):
    """One transfer of a schedule with a clock; see :class:`Sends` and :class:`Clock`."""

    start: int
    end: int
    chunk: int
    tail: int
    head: int
    reduce: bool = False
    first: int = 0
    amount: int | None = None
    path: int = -1
    left: int | None = None
    message: int = -1


@dataclass(frozen=True, eq=False)
class Intervals(ByValue):
    """Which part of its chunk each transfer carries: ``amount`` units from ``first`` on.

    int64 arrays of length T.
    """

    first: npt.NDArray[np.int64]
    amount: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sends(ByValue):
    """The transfers, T of them, sorted by step.

    Parameters
    ----------
    step, chunk, tail, head : int32 arrays of length T
        In this step (from 0) the end ``tail`` sends (an interval of) the chunk to the end ``head``.
    reduce : bool array of length T
        Whether the receiver adds what comes in to its own part; if not, it keeps what comes in
        instead of its own. Nothing else may come in for a part of a chunk in the step in which it
        is replaced: the order of arrivals within a step does not matter.
    interval : Intervals, optional
        What of the chunks is sent; all of them if not given.
    path : int32 array of length T, optional
        The path that a transfer takes, by its place in the routes, where it is one of those of its
        logical link; -1: it is divided over all of them. All -1 if not given.
    """

    step: npt.NDArray[np.int32]
    chunk: npt.NDArray[np.int32]
    tail: npt.NDArray[np.int32]
    head: npt.NDArray[np.int32]
    reduce: npt.NDArray[np.bool_]
    interval: Intervals | None = field(default=None, hash=False)
    path: npt.NDArray[np.int32] | None = field(default=None, hash=False)

    def __len__(self) -> int:
        return len(self.step)

    @classmethod
    def of(cls, sends: Iterable[Send]) -> Sends:
        """Gather transfers, in the order of :meth:`sorted`.

        Raises
        ------
        ValueError
            If some say what they carry of their chunk and others do not.
        """
        rows = list(sends)
        step, chunk, tail, head = (np.array([row[i] for row in rows], np.int32) for i in range(4))
        adds = np.array([row.reduce for row in rows], dtype=np.bool_)
        intervals, paths = _intervals_of(rows), _paths_of(rows)
        return cls.sorted(step, chunk, tail, head, adds, interval=intervals, path=paths)

    @classmethod
    def joined(cls, parts: Sequence[Sends], chunks: Chunks | None = None) -> Sends:
        """Put transfers one behind the other, each in the step that it names.

        The chunks must be given if some carry parts of them and others do not say.
        """
        step, chunk, tail, head, adds = (
            np.concatenate([getattr(part, column) for part in parts])
            for column in ("step", "chunk", "tail", "head", "reduce")
        )
        named = any(part.path is not None for part in parts)
        path = np.concatenate([part.paths for part in parts]) if named else None
        return cls(step, chunk, tail, head, adds, _intervals_in(parts, chunks), path)

    @classmethod
    def sorted(
        cls,
        step: npt.ArrayLike,
        chunk: npt.ArrayLike,
        tail: npt.ArrayLike,
        head: npt.ArrayLike,
        reduce: npt.ArrayLike | None = None,
        *,
        interval: Intervals | None = None,
        path: npt.ArrayLike | None = None,
    ) -> Sends:
        """Take arrays in any order and sort them by (step, chunk, tail, head, first unit)."""
        when, what, start, end = (np.asarray(a, dtype=np.int32) for a in (step, chunk, tail, head))
        adds = (
            np.zeros(len(when), dtype=np.bool_) if reduce is None else np.asarray(reduce, np.bool_)
        )
        way = None if path is None else np.asarray(path, dtype=np.int32)
        return cls(when, what, start, end, adds, interval, way).in_order()

    def in_order(self) -> Sends:
        """Sort by (step, chunk, tail, head, first unit)."""
        by: tuple[npt.NDArray[np.signedinteger[Any]], ...]
        by = (self.head, self.tail, self.chunk, self.step)
        return self.taken(np.lexsort(by if self.interval is None else (self.interval.first, *by)))

    def taken(self, which: npt.NDArray[np.int64]) -> Sends:
        """Return some of the transfers, in the order given."""
        interval = self.interval
        if interval is not None:
            interval = Intervals(interval.first[which], interval.amount[which])
        return Sends(
            step=self.step[which],
            chunk=self.chunk[which],
            tail=self.tail[which],
            head=self.head[which],
            reduce=self.reduce[which],
            interval=interval,
            path=None if self.path is None else self.path[which],
        )

    def intervals(self, chunks: Chunks) -> Intervals:
        """Return what each transfer carries of its chunk, whole chunks written out."""
        if self.interval is not None:
            return self.interval
        return Intervals(np.zeros(len(self), dtype=np.int64), chunks.size[self.chunk])

    @property
    def paths(self) -> npt.NDArray[np.int32]:
        """The path of each transfer, -1 where it is divided over those of its link."""
        return np.full(len(self), -1, dtype=np.int32) if self.path is None else self.path


def _intervals_in(parts: Sequence[Sends], chunks: Chunks | None) -> Intervals | None:
    """What the transfers of all parts carry, one behind the other; None if that is all of each."""
    written = [part.interval for part in parts]
    if chunks is not None and any(each is not None for each in written):
        written = [part.intervals(chunks) for part in parts]
    said = [each for each in written if each is not None]
    if not said:
        return None
    if len(said) < len(parts):
        raise ValueError("some transfers say what they carry of their chunk, others do not")
    return Intervals(
        np.concatenate([each.first for each in said]),
        np.concatenate([each.amount for each in said]),
    )


def _intervals_of(rows: list[Send] | list[TimedSend]) -> Intervals | None:
    """Return what transfers carry; None if none of them says."""
    silent = [row.amount is None for row in rows]
    if all(silent):
        return None
    if any(silent):
        raise ValueError("some transfers say what they carry of their chunk and others do not")
    first = np.array([row.first for row in rows], dtype=np.int64)
    return Intervals(first, np.array([row.amount for row in rows], dtype=np.int64))


def _paths_of(rows: list[Send] | list[TimedSend]) -> npt.NDArray[np.int32] | None:
    path = np.array([row.path for row in rows], dtype=np.int32)
    return None if (path == -1).all() else path


@dataclass(frozen=True, eq=False)
class Clock(ByValue):
    """When each transfer starts and ends, for data of one size.

    A transfer keeps each link of its path busy for as long as its bytes take to leave, at an even
    rate; this begins on each link by the latencies of those before it later than on the first. So
    the latency of a link keeps it from nothing else. The rates on a link never add up to more than
    its bandwidth.

    Parameters
    ----------
    size_bytes : int
        The size of the data, M, for which these are the times.
    tick_us : Fraction
        Of a schedule in epochs, how long one is.
    start, end : int64 arrays of length T
        In ticks from the beginning. What is sent has arrived by its start, and is there at its end.
    left : int64 array of length T, optional
        When the last byte has left its sender; it has to arrive by the end. As late as that allows,
        which is the end less the longest latency of its paths, if not given.
    message : int32 array of length T, optional
        Transfers of the same number (from 0) are one message: from one end to another on one way,
        they start together and end together. -1: a message of its own; all -1 if not given.
    """

    size_bytes: int
    tick_us: Fraction
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64] | None = None
    message: npt.NDArray[np.int32] | None = field(default=None, hash=False)

    @property
    def finish_us(self) -> Fraction:
        """When the last transfer ends, in microseconds."""
        return int(self.end.max(initial=0)) * self.tick_us


def timed(
    sends: Iterable[TimedSend], size_bytes: int, tick_us: Fraction = Fraction(1)
) -> tuple[Sends, Clock]:
    """Gather transfers with their times, in any order; their steps number their starts.

    Raises
    ------
    ValueError
        If some say what they carry of their chunk, or when it has left, and others do not.
    """
    rows = sorted(sends, key=lambda row: (row.start, *row[2:5], row.first))
    start, end = (np.array([row[i] for row in rows], dtype=np.int64) for i in range(2))
    chunk, tail, head = (np.array([row[i] for row in rows], dtype=np.int32) for i in range(2, 5))
    message = np.array([row.message for row in rows], dtype=np.int32)
    left = [row.left for row in rows if row.left is not None]
    if left and len(left) < len(rows):
        raise ValueError("some transfers say when they have left their sender and others do not")
    clock = Clock(
        size_bytes=size_bytes,
        tick_us=tick_us,
        start=start,
        end=end,
        left=np.array(left, dtype=np.int64) if left else None,
        message=None if (message == -1).all() else message,
    )
    step = np.unique(start, return_inverse=True)[1].astype(np.int32)
    adds = np.array([row.reduce for row in rows], dtype=np.bool_)
    return Sends(step, chunk, tail, head, adds, _intervals_of(rows), _paths_of(rows)), clock


def _all_minus_one(column: npt.NDArray[np.int32] | None, sends: Sends) -> bool:
    """Whether a column of the transfers says nothing of any of them."""
    return column is not None and column.shape == sends.step.shape and bool((column == -1).all())


def _ascending(keys: Sequence[npt.NDArray[Any]]) -> bool:
    """Whether rows are sorted by these columns, the first before all."""
    tied = np.ones(max(len(keys[0]) - 1, 0), dtype=np.bool_)
    for key in keys:
        if (tied & (key[1:] < key[:-1])).any():
            return False
        tied &= key[1:] == key[:-1]
    return True


@dataclass(frozen=True, eq=False)
class StepSchedule(ByValue):
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
        The physical paths from end to end; links by ends, not ranks alone. A transfer that names
        no path is divided over those of its logical link in proportion to their multiplicities
        (equal-cost multipath, taken as a fluid).
    clock : Clock, optional
    weights : tuple of int
        Of each rank, from 0 up, without a common divisor, in an allgather or reduce-scatter: rank r
        has w(r) parts of the data. All 1 if not given.
    """

    topology: Topology = field(hash=False)
    method: str
    collective: str
    chunks: Chunks = field(repr=False)
    sends: Sends = field(repr=False)
    routes: Routes = field(repr=False)
    clock: Clock | None = field(default=None, repr=False)
    weights: tuple[int, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1,) * self.topology.num_compute)

    @property
    def num_steps(self) -> int:
        """Number of steps."""
        return int(self.sends.step[-1]) + 1 if len(self.sends) else 0

    @property
    def reduction(self) -> bool:
        """Whether it sums up."""
        return self.collective in REDUCTIONS

    def in_short(self) -> StepSchedule:
        """Return the same schedule, with nothing written out that goes without saying.

        Transfers of one step are in the order of :meth:`Sends.in_order`. Of arrays that do not fit
        together all is kept.
        """
        ordered = self._in_order()
        sends, clock = ordered.sends, ordered.clock
        interval = None if self._sends_whole_chunks() else sends.interval
        path = None if _all_minus_one(sends.path, sends) else sends.path
        if clock is not None and _all_minus_one(clock.message, sends):
            clock = replace(clock, message=None)
        return replace(self, sends=replace(sends, interval=interval, path=path), clock=clock)

    def _in_order(self) -> StepSchedule:
        """Sort the transfers, and their times with them, if they are not."""
        sends, interval, clock = self.sends, self.sends.interval, self.clock
        keys: list[npt.NDArray[Any]] = [sends.step, sends.chunk, sends.tail, sends.head]
        keys += [] if interval is None else [interval.first]
        names = () if clock is None else ("start", "end", "left", "message")
        times = {name: column for name in names if (column := getattr(clock, name)) is not None}
        others = [sends.reduce, *times.values(), *([] if interval is None else [interval.amount])]
        others += [] if sends.path is None else [sends.path]
        if len({column.shape for column in [*keys, *others]}) > 1 or _ascending(keys):
            return self
        order = np.lexsort(keys[::-1])
        if clock is not None:
            clock = replace(clock, **{name: column[order] for name, column in times.items()})
        return replace(self, sends=sends.taken(order), clock=clock)

    def _sends_whole_chunks(self) -> bool:
        """Whether the intervals that are written out are those of whole chunks."""
        interval, chunk, size = self.sends.interval, self.sends.chunk, self.chunks.size
        if interval is None or interval.first.shape != chunk.shape or interval.first.any():
            return False
        if len(chunk) and not 0 <= chunk.min() <= chunk.max() < len(size):
            return False
        return np.array_equal(interval.amount, size[chunk])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StepSchedule):
            return NotImplemented
        return ByValue.__eq__(self.in_short(), other.in_short())

    def __hash__(self) -> int:
        return ByValue.__hash__(self.in_short())

    @property
    def intervals(self) -> Intervals:
        """What each transfer carries of its chunk, whole chunks written out."""
        return self.sends.intervals(self.chunks)
