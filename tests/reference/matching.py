"""One random trial of TACOS: chunks and links are matched as time goes on.

Problem: over links that take a fixed time for a chunk, get every chunk to every GPU, soon.
Input:   links (tail, head, ticks); chunks per GPU; a source of random numbers.
Output:  transfers (chunk, link, start), each the first to bring its chunk to its GPU; a tree per
         chunk.
Cost:    a few operations on sets of N C bits per transfer and per link of its head.
Source:  Won et al., TACOS (MICRO 2024), algorithms 1 and 2 and their public implementation, whose
         rules are reimplemented here.

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

import heapq
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from baselines.building.ticks import soonest

__all__ = ["TimedLink", "Transfer", "Trial", "least_ticks"]


class TimedLink(NamedTuple):
    """A link between two GPUs, by rank, and how long it takes for a chunk."""

    tail: int
    head: int
    ticks: int


class Transfer(NamedTuple):
    """A chunk that is sent over a link, by its place among the links."""

    chunk: int
    link: int
    start: int


class _Flight(NamedTuple):
    """What a busy link carries, and what its tail had when it started."""

    transfer: Transfer
    at_tail: int


def least_ticks(gpus: int, links: Sequence[TimedLink], chunks: int) -> int:
    """Return when the links into every GPU can have brought N - 1 shards, at the soonest."""
    ways: list[list[int]] = [[] for _ in range(gpus)]
    for link in links:
        ways[link.head].append(link.ticks)
    return max((soonest(taken, (gpus - 1) * chunks) for taken in ways if taken), default=0)


@dataclass
class Trial:
    """Chunks on their way. A set of chunks is an integer with their bits; GPU v's come first.

    Parameters
    ----------
    gpus : int
    links : sequence of TimedLink
    chunks : int
        Per GPU: those of GPU v are ``v * chunks`` and following.
    rng : random.Random
    maximum : bool
        Whether chunks are rearranged so that as many links as possible are busy.
    """

    gpus: int
    links: Sequence[TimedLink]
    chunks: int
    rng: random.Random
    maximum: bool = True
    done: list[Transfer] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        own = (1 << self.chunks) - 1
        everything = (1 << self.gpus * self.chunks) - 1
        self._has = [own << v * self.chunks for v in range(self.gpus)]
        self._lacks = [everything ^ mine for mine in self._has]
        self._free: list[list[int]] = [[] for _ in range(self.gpus)]
        self._heads: list[set[int]] = [set() for _ in range(self.gpus)]
        for i, link in enumerate(self.links):
            self._free[link.head].append(i)
            self._heads[link.tail].add(link.head)
        self._flights: dict[int, _Flight] = {}
        self._due: dict[int, list[int]] = {}
        self._times: list[int] = []
        self._halves = _halves(self.gpus * self.chunks)

    def run(self, deadline: float | None = None) -> bool:
        """Go on until all is delivered, or nothing moves any more; return whether all is.

        Parameters
        ----------
        deadline : float, optional
            By ``time.monotonic``.

        Raises
        ------
        TimeoutError
            If it is past.
        """
        now, look = 0, set(range(self.gpus))
        left = self.gpus * (self.gpus - 1) * self.chunks
        while len(self.done) < left:
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError
            look = {v for v in sorted(look) if self._match(v, now)}
            if not self._times:
                return False
            now = heapq.heappop(self._times)
            for link in sorted(self._due.pop(now)):
                if self._arrive(link):
                    look |= self._heads[self.links[link].head]
                look.add(self.links[link].head)
        return True

    @property
    def finish(self) -> int:
        """When the last transfer ends."""
        return max((start + self.links[link].ticks for _, link, start in self.done), default=0)

    def lacking(self) -> tuple[int, int]:
        """Return a GPU that has not got everything, and a chunk that it lacks."""
        gpu = next(v for v, lacks in enumerate(self._lacks) if lacks)
        return gpu, self._lacks[gpu].bit_length() - 1

    def _match(self, head: int, now: int) -> bool:
        """Start what can be sent to a GPU; return whether a free link could bring more later."""
        links, has, lacks = self.links, self._has, self._lacks[head]
        at = {i: has[links[i].tail] & lacks for i in self._free[head]}
        brings: dict[int, int] = {}
        unmatched, wanted = list(at), lacks
        while unmatched:
            at_hand = 0
            for i in unmatched:
                at_hand |= at[i]
            if at_hand & wanted:
                chunk = self._draw(at_hand & wanted)
                link = self._soonest([i for i in unmatched if at[i] >> chunk & 1])
                wanted ^= 1 << chunk
                brings[link] = chunk
                unmatched.remove(link)
            elif self.maximum and at_hand and (row := _rearranged(at, brings, unmatched, wanted)):
                brings = row
                unmatched = [i for i in at if i not in brings]
            else:
                break
        for link, chunk in brings.items():
            self._start(chunk, link, now)
        return any(at[i] for i in unmatched)

    def _soonest(self, ways: list[int]) -> int:
        """Return a random one of the links that take the least time."""
        if len(ways) > 1:
            least = min(self.links[i].ticks for i in ways)
            ways = [i for i in ways if self.links[i].ticks == least]
        return ways[0] if len(ways) == 1 else ways[self.rng.randrange(len(ways))]

    def _start(self, chunk: int, link: int, now: int) -> None:
        tail, head, ticks = self.links[link]
        self._free[head].remove(link)
        self._flights[link] = _Flight(Transfer(chunk, link, now), self._has[tail])
        if now + ticks not in self._due:
            self._due[now + ticks] = []
            heapq.heappush(self._times, now + ticks)
        self._due[now + ticks].append(link)

    def _arrive(self, link: int) -> bool:
        """End what a link carries and return whether that brought a chunk that was lacking."""
        head = self.links[link].head
        self._free[head].append(link)
        transfer, at_tail = self._flights.pop(link)
        lacks, bit = self._lacks[head], 1 << transfer.chunk
        if not lacks & bit:
            if not at_tail & lacks:
                return False
            transfer = transfer._replace(chunk=self._draw(at_tail & lacks))
            bit = 1 << transfer.chunk
        self._has[head] |= bit
        self._lacks[head] ^= bit
        self.done.append(transfer)
        return True

    def _draw(self, chunks: int) -> int:
        """Draw one of a set of chunks, all equally likely."""
        rank, low = self.rng.randrange(chunks.bit_count()), 0
        for width, mask in self._halves:
            below = chunks & mask
            count = below.bit_count()
            if rank < count:
                chunks = below
            else:
                rank -= count
                chunks >>= width
                low += width
        return low


def _halves(bits: int) -> list[tuple[int, int]]:
    """Widths that halve a set down to one bit, each with a mask of as many ones."""
    widths = [1 << k for k in reversed(range((bits - 1).bit_length()))]
    return [(width, (1 << width) - 1) for width in widths]


def _rearranged(
    at: Mapping[int, int], brings: Mapping[int, int], unmatched: Sequence[int], wanted: int
) -> dict[int, int] | None:
    """Let links bring what others would, until one is left that can bring what is wanted.

    An augmenting path: ``at`` is what each link could bring, ``brings`` what it does. None if there
    is no such path; then no more links can be busy at once.
    """
    before: dict[int, int] = {}
    reached = list(unmatched)
    for link in reached:  # grows on the way: breadth first
        if at[link] & wanted:
            row = {i: chunk for i, chunk in brings.items() if i != link}
            while link in before:
                row[before[link]] = brings[link]
                link = before[link]
            return row
        for other, chunk in brings.items():
            if other not in before and at[link] >> chunk & 1:
                before[other] = link
                reached.append(other)
    return None
