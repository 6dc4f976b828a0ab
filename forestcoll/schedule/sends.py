"""Transfers and chunks of step schedules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.equality import ByValue

__all__ = [
    "Chunks", "Intervals", "Send", "Sends", "TimedSend", "ascending", "intervals_of", "paths_of",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Chunks(ByValue):
    """The C chunks of the data; transfers may cut them further.

    The data M is the size of nccl-tests. In an allgather or reduce-scatter it is the data of all
    GPUs together. In an all-to-all it is all that one GPU sends, to itself too; with a demand all
    its bytes. Otherwise it is the buffer.

    Parameters
    ----------
    size : int64 array of length C
        Units of each chunk: chunk c is ``size[c] / whole`` of the data.
    root : int32 array of length C
        The rank that has the chunk at first, or, in a reduce-scatter or reduce, at last; -1 in an
        allreduce, where every rank has its part of every chunk at first and the sum at last.
    target : int32 array of length C
        In an all-to-all the rank that gets the chunk, -1 for several; otherwise -1.
    """

    size: npt.NDArray[np.int64]
    whole: int
    root: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.size)

    @classmethod
    def equal(cls, root: npt.ArrayLike, whole: int, size: int = 1) -> Chunks:
        """Return chunks of one size with these roots, for any collective but an all-to-all."""
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
    """The interval of its chunk that each transfer carries: ``amount`` units from ``first`` on.

    int64 arrays of length T.
    """

    first: npt.NDArray[np.int64]
    amount: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sends(ByValue):
    """The T transfers, sorted by step.

    Parameters
    ----------
    step, chunk, tail, head : int32 arrays of length T
        In this step (from 0) the end ``tail`` sends (an interval of) the chunk to the end ``head``.
    reduce : bool array of length T
        Whether the receiver adds the data to its own part; if not, the data replaces its own. In
        the step that replaces a part of a chunk, nothing else may come in for it: the order of
        arrivals within a step does not matter.
    interval : Intervals, optional
        The interval of the chunk that is sent; whole chunks if not given.
    path : int32 array of length T, optional
        The path of a transfer, by its place in the routes, among those of its logical link. -1: the
        transfer is divided over all of them. All -1 if not given.
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

        Raises ValueError if only some give their interval of the chunk.
        """
        rows = list(sends)
        step, chunk, tail, head = (np.array([row[i] for row in rows], np.int32) for i in range(4))
        adds = np.array([row.reduce for row in rows], dtype=np.bool_)
        intervals, paths = intervals_of(rows), paths_of(rows)
        return cls.sorted(step, chunk, tail, head, adds, interval=intervals, path=paths)

    @classmethod
    def joined(cls, parts: Sequence[Sends], chunks: Chunks | None = None) -> Sends:
        """Concatenate transfers, each in the step that it names.

        The chunks must be given if only some transfers give their intervals.
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
        """Make transfers from arrays in any order, by (step, chunk, tail, head, first unit)."""
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
        """Return the interval of each transfer, also of whole chunks."""
        if self.interval is not None:
            return self.interval
        return Intervals(np.zeros(len(self), dtype=np.int64), chunks.size[self.chunk])

    @property
    def paths(self) -> npt.NDArray[np.int32]:
        """The path of each transfer, -1 where it is divided over those of its link."""
        return np.full(len(self), -1, dtype=np.int32) if self.path is None else self.path


def _intervals_in(parts: Sequence[Sends], chunks: Chunks | None) -> Intervals | None:
    """Return the intervals of all parts, concatenated; None if all are whole chunks."""
    written = [part.interval for part in parts]
    if chunks is not None and any(each is not None for each in written):
        written = [part.intervals(chunks) for part in parts]
    given = [each for each in written if each is not None]
    if not given:
        return None
    if len(given) < len(parts):
        raise ValueError("some transfers say what they carry of their chunk, others do not")
    return Intervals(
        np.concatenate([each.first for each in given]),
        np.concatenate([each.amount for each in given]),
    )


def intervals_of(rows: list[Send] | list[TimedSend]) -> Intervals | None:
    """Return the intervals of transfers; None if none gives one."""
    silent = [row.amount is None for row in rows]
    if all(silent):
        return None
    if any(silent):
        raise ValueError("some transfers say what they carry of their chunk and others do not")
    first = np.array([row.first for row in rows], dtype=np.int64)
    return Intervals(first, np.array([row.amount for row in rows], dtype=np.int64))


def paths_of(rows: list[Send] | list[TimedSend]) -> npt.NDArray[np.int32] | None:
    """Return the path that each row names; None if none does."""
    path = np.array([row.path for row in rows], dtype=np.int32)
    return None if (path == -1).all() else path


def ascending(keys: Sequence[npt.NDArray[Any]]) -> bool:
    """Whether rows are sorted by these columns, the first before all."""
    tied = np.ones(max(len(keys[0]) - 1, 0), dtype=np.bool_)
    for key in keys:
        if (tied & (key[1:] < key[:-1])).any():
            return False
        tied &= key[1:] == key[:-1]
    return True
