"""One random trial of TACOS: chunks are matched to links as time goes on.

Problem: over links that take a fixed time for a chunk, get every chunk to every GPU, soon.
Input:   links (tail, head, ticks); chunks per GPU; a seed.
Output:  transfers (chunk, link, start), each the first to bring its chunk to its GPU; a tree per
         chunk.
Cost:    a few operations on sets of N C bits per transfer and per link of its head.
Source:  Won et al., TACOS (MICRO 2024), algorithms 1 and 2 and their public implementation, whose
         rules are reimplemented here. Natively in ``baselines/native/src/tacos``: what is matched
         next depends on what has arrived, so transfers come one by one. tests/reference/matching.py
         is the same, to the last random number.

Time jumps from one arrival to the next. At each, pairs (chunk, GPU that lacks it) come up in a
random order; a pair takes, of the free links into the GPU from where the chunk is, the one that
would bring it first, with ties broken at random. Each GPU by itself draws the next chunk among
those that some free link can bring, which is the same distribution. A GPU is looked at again only
if something has come in, there or at a neighbour, or if a free link could bring what is on its way
by another.

A chunk on its way counts as lacking, so another link may start to carry it too. What comes second
is swapped for a random chunk that is lacking still and that the tail had when the transfer started;
if there is none the transfer is left out.

A maximum matching starts as a greedy one. If a free link then has nothing left to bring but what
others have been given, these are given something else as long as that keeps more links busy.

Why that is the same, and where the public code differs: docs/baselines/tacos.md.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from baselines.building.ticks import soonest
from baselines.native import _methods

__all__ = ["TimedLinks", "Trial", "least_ticks", "run_trial"]


@dataclass(frozen=True, slots=True, eq=False)
class TimedLinks:
    """Links between GPUs, by rank, and how long each takes for a chunk.

    Parameters
    ----------
    tail, head : int32 arrays of length L
    ticks : int64 array of length L
    """

    tail: npt.NDArray[np.int32]
    head: npt.NDArray[np.int32]
    ticks: npt.NDArray[np.int64]

    @classmethod
    def of(cls, links: Iterable[tuple[int, int, int]]) -> TimedLinks:
        """Gather tail, head and ticks of each."""
        rows = np.array([*links], dtype=np.int64).reshape(-1, 3)
        ends = rows[:, :2].astype(np.int32)
        return cls(ends[:, 0].copy(), ends[:, 1].copy(), rows[:, 2].copy())

    def reversed_links(self) -> TimedLinks:
        """Return links the other way, in the same order."""
        return TimedLinks(self.head, self.tail, self.ticks)


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What a trial has delivered, in the order of arrival.

    Parameters
    ----------
    gpus, chunks : int
        The chunks are per GPU: those of GPU v are ``v * chunks`` and following.
    links : TimedLinks
    chunk, link : int32 arrays of length T
        Chunks, and the places of the links that brought them.
    start : int64 array of length T
        In ticks.
    """

    gpus: int
    chunks: int
    links: TimedLinks
    chunk: npt.NDArray[np.int32]
    link: npt.NDArray[np.int32]
    start: npt.NDArray[np.int64]

    @property
    def finish(self) -> int:
        """When the last transfer ends."""
        return int((self.start + self.links.ticks[self.link]).max(initial=0))

    @property
    def is_complete(self) -> bool:
        """Whether every chunk has come to every GPU."""
        return len(self.chunk) == self.gpus * (self.gpus - 1) * self.chunks

    def lacking(self) -> tuple[int, int]:
        """Return the first GPU that has not got everything, and the last chunk that it lacks."""
        head = self.links.head[self.link]
        got = np.bincount(head, minlength=self.gpus)
        gpu = int(np.argmax(got < (self.gpus - 1) * self.chunks))
        lacks = np.arange(self.gpus * self.chunks) // self.chunks != gpu
        lacks[self.chunk[head == gpu]] = False
        return gpu, int(np.flatnonzero(lacks)[-1])


def least_ticks(gpus: int, links: TimedLinks, chunks: int) -> int:
    """Return when the links into every GPU can have brought N - 1 shards, at the soonest."""
    ways: list[list[int]] = [[] for _ in range(gpus)]
    for head, ticks in zip(links.head.tolist(), links.ticks.tolist(), strict=True):
        ways[head].append(ticks)
    kinds = {tuple(sorted(taken)) for taken in ways if taken}
    return max((soonest(taken, (gpus - 1) * chunks) for taken in kinds), default=0)


def run_trial(
    gpus: int,
    links: TimedLinks,
    chunks: int,
    seed: int,
    *,
    maximum: bool = True,
    deadline: float | None = None,
) -> Trial:
    """Go on until all is delivered, or nothing moves any more.

    Parameters
    ----------
    gpus : int
    links : TimedLinks
    chunks : int
        Per GPU.
    seed : int
    maximum : bool
        Whether chunks are rearranged so that as many links as possible are busy.
    deadline : float, optional
        By ``time.monotonic``.

    Raises
    ------
    TimeoutError
        If the deadline is past, at the beginning or some time later.
    """
    words = random.Random(seed).getstate()[1][:-1]  # the last is which comes next
    chunk, link, start = _methods.match_chunks(
        gpus=gpus,
        tail=links.tail,
        head=links.head,
        ticks=links.ticks,
        chunks=chunks,
        maximum=maximum,
        words=np.array(words, dtype=np.uint32),
        progress=None if deadline is None else _until(deadline),
    )
    return Trial(gpus, chunks, links, chunk, link, start)


def _until(deadline: float) -> Callable[[int, int], None]:
    """Return what raises TimeoutError when it is called after the deadline."""

    def look(_done: int, _all: int) -> None:
        if time.monotonic() > deadline:
            raise TimeoutError

    return look
