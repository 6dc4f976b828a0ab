"""Links of a network by columns: arrays of their ends, and a table of their few numbers.

Problem: a network of 65,536 GPUs has 262,144 links of two kinds; objects for them take a second.
Input:   links, as objects or as rows of whole numbers.
Output:  arrays in the order of the network, from which the objects are made when asked for.
Cost:    a sort of the links.
Source:  none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

__all__ = ["Link", "LinkColumns", "LinkNumbers"]

LinkNumbers = tuple[Fraction, Fraction]
"""Bandwidth in GB/s and latency in microseconds."""


@dataclass(frozen=True, slots=True)
class Link:
    """A directed link between two nodes, given by their positions in the topology.

    Parameters
    ----------
    tail, head : int
        Where the link leaves and where it enters.
    bandwidth_gb_s : Fraction
        In this direction, in GB/s (1e9 bytes per second); positive.
    latency_us : Fraction
        In microseconds; not negative. Outside the throughput model, used by simulations.
    """

    tail: int
    head: int
    bandwidth_gb_s: Fraction
    latency_us: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, eq=False)
class LinkColumns:
    """Link i runs from ``tail[i]`` to ``head[i]`` with the numbers ``kinds[kind[i]]``.

    Parameters
    ----------
    tail, head : int32 arrays of length L
        Positions of nodes.
    kind : int32 array of length L
        Places in ``kinds``.
    kinds : tuple of (Fraction, Fraction)
        Bandwidth and latency, each pair once; links need not have all of them.
    """

    tail: npt.NDArray[np.int32]
    head: npt.NDArray[np.int32]
    kind: npt.NDArray[np.int32]
    kinds: tuple[LinkNumbers, ...]

    @classmethod
    def of(cls, links: Sequence[Link]) -> Self:
        """Return the columns of link objects, in their order."""
        return cls.of_lists(
            [link.tail for link in links],
            [link.head for link in links],
            [(link.bandwidth_gb_s, link.latency_us) for link in links],
        )

    @classmethod
    def of_lists(
        cls, tail: Sequence[int], head: Sequence[int], numbers: Sequence[LinkNumbers]
    ) -> Self:
        """Return the columns of links that are given by lists of their parts."""
        # Links share few number objects, so pairs are told apart by identity first.
        keys = [(id(bandwidth), id(latency)) for bandwidth, latency in numbers]
        place: dict[LinkNumbers, int] = {}
        kind_of = {
            key: place.setdefault(pair, len(place))
            for key, pair in dict(zip(keys, numbers, strict=True)).items()
        }
        kind = [kind_of[key] for key in keys]
        ends = np.array(tail, dtype=np.int32), np.array(head, dtype=np.int32)
        return cls(*ends, np.array(kind, dtype=np.int32), tuple(place))

    def __len__(self) -> int:
        """Return the number of links."""
        return len(self.tail)

    def __eq__(self, other: object) -> bool:
        """Whether the links are the same, in the same order; the tables may differ."""
        if not isinstance(other, LinkColumns):
            return NotImplemented
        if len(self) != len(other):
            return False
        place = {numbers: i for i, numbers in enumerate(self.kinds)}
        same = np.array([place.get(numbers, -1) for numbers in other.kinds], dtype=np.int32)
        return (
            np.array_equal(self.tail, other.tail)
            and np.array_equal(self.head, other.head)
            and np.array_equal(self.kind, same[other.kind])
        )

    __hash__ = None  # type: ignore[assignment]

    def links(self) -> tuple[Link, ...]:
        """Return the links as objects."""
        numbers = [self.kinds[kind] for kind in self.kind.tolist()]
        return tuple(
            Link(tail, head, bandwidth, latency)
            for tail, head, (bandwidth, latency) in zip(
                self.tail.tolist(), self.head.tolist(), numbers, strict=True
            )
        )

    def pairs(self) -> set[tuple[int, int]]:
        """Return the ends of all links."""
        return set(zip(self.tail.tolist(), self.head.tolist(), strict=True))

    def places_of(
        self, tail: npt.NDArray[np.integer[Any]], head: npt.NDArray[np.integer[Any]]
    ) -> npt.NDArray[np.int64]:
        """Return the places of links by their ends, and their number for a link that is not there.

        The links must be in order, without parallel ones.
        """
        known = self._keys()
        wanted = tail.astype(np.int64) << 32 | head
        place = np.searchsorted(known, wanted)
        return np.where(np.append(known, -1)[place] == wanted, place, len(known))

    def take(self, places: npt.NDArray[np.int64]) -> Self:
        """Return the links at some places, in that order."""
        return type(self)(self.tail[places], self.head[places], self.kind[places], self.kinds)

    def both_ways(self, which: npt.NDArray[np.bool_]) -> Self:
        """Return the links and, behind them, the reverse of some."""
        back = self.take(np.flatnonzero(which))
        return type(self)(
            np.append(self.tail, back.head),
            np.append(self.head, back.tail),
            np.append(self.kind, back.kind),
            self.kinds,
        )

    def order(self) -> npt.NDArray[np.int64]:
        """Return the places of the links by tail and then head, parallel ones as they come."""
        return np.argsort(self._keys(), kind="stable")

    def _keys(self) -> npt.NDArray[np.int64]:
        """Return a number for the ends of each link; it rises with the tail, then the head."""
        return self.tail.astype(np.int64) << 32 | self.head

    def merged(self) -> Self:
        """Return links in order with parallel ones as one.

        It has the sum of their bandwidths and the largest of their latencies.
        """
        new = np.append(True, (np.diff(self.tail) != 0) | (np.diff(self.head) != 0))[: len(self)]
        if new.all():
            return self
        first = np.flatnonzero(new)
        end = np.append(first[1:], len(self))
        place = {numbers: i for i, numbers in enumerate(self.kinds)}
        kind = self.kind[first]
        for link in np.flatnonzero(end - first > 1).tolist():
            numbers = _sum(self.kinds[i] for i in self.kind[first[link] : end[link]].tolist())
            kind[link] = place.setdefault(numbers, len(place))
        return type(self)(self.tail[first], self.head[first], kind, tuple(place))

    def without_twins(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return the places of links, those of equal links both ways but once; and which these are.

        The links must be in order, without parallel ones. Of two the one from the earlier node
        remains.
        """
        ahead = self._keys()
        back = self.head.astype(np.int64) << 32 | self.tail
        twin = np.minimum(np.searchsorted(ahead, back), max(len(self) - 1, 0))
        both = (ahead[twin] == back) & (self.kind[twin] == self.kind)
        places = np.flatnonzero(~both | (self.tail < self.head))
        return places, both[places]

    def reversed(self) -> Self:
        """Return every link reversed, in the order of the reversed network."""
        order = np.lexsort((self.tail, self.head))
        return type(self)(self.head[order], self.tail[order], self.kind[order], self.kinds)

    def whole_bandwidths(self) -> tuple[int, list[int]]:
        """Return the common denominator of the bandwidths, and those of ``kinds`` times it.

        Kinds that no link has count for nothing, and are 0.
        """
        used = np.bincount(self.kind, minlength=len(self.kinds)).tolist()
        bandwidths = [
            b if count else Fraction(0) for count, (b, _) in zip(used, self.kinds, strict=True)
        ]
        denominator = math.lcm(*(bandwidth.denominator for bandwidth in bandwidths))
        return denominator, [b.numerator * (denominator // b.denominator) for b in bandwidths]


def _sum(parallel: Iterable[LinkNumbers]) -> LinkNumbers:
    bandwidths, latencies = zip(*parallel, strict=True)
    return sum(bandwidths, Fraction(0)), max(latencies)
