"""A trial of TACOS with sets as integers, transfer by transfer: the oracle of the native one.

The native one draws the same random numbers, so its transfers are these, in the same order.
"""

import heapq
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


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

    def run(self) -> bool:
        """Go on until all is delivered, or nothing moves any more; return whether all is."""
        now, look = 0, set(range(self.gpus))
        left = self.gpus * (self.gpus - 1) * self.chunks
        while len(self.done) < left:
            look = {v for v in sorted(look) if self._match(v, now)}
            if not self._times:
                return False
            now = heapq.heappop(self._times)
            for link in sorted(self._due.pop(now)):
                if self._arrive(link):
                    look |= self._heads[self.links[link].head]
                look.add(self.links[link].head)
        return True

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
        for _ in range(self.rng.randrange(chunks.bit_count())):
            chunks &= chunks - 1
        return (chunks & -chunks).bit_length() - 1


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
