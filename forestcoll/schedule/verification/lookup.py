"""Look-up of many whole numbers among sorted ones.

Part of :func:`forestcoll.schedule.verify`. A binary search of a number takes many steps that miss
the cache. A hash table finds most numbers in one step, and the search those that share a place. No
two numbers share one if all are small: then each is its own place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Lookup"]

_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 by the golden ratio: spreads near numbers far apart
_PLACES = 4  # for each number, at least
_SMALL = 2**16  # numbers below it are their own places


@dataclass(frozen=True)
class Lookup:
    """A hash table of sorted numbers from 0 up, each once.

    ``table`` has, at the place of each number, its index, or that of another one there; elsewhere
    0. ``shift`` is None if numbers are their own places.
    """

    known: npt.NDArray[np.int64]
    table: npt.NDArray[np.int32]
    shift: np.uint64 | None

    @classmethod
    def of(cls, known: npt.NDArray[np.int64]) -> Lookup:
        """Put the numbers into a table."""
        small = known.max(initial=0) < _SMALL
        bits = (_PLACES * len(known)).bit_length()
        shift = None if small else np.uint64(64 - bits)
        table = np.zeros(_SMALL if small else 1 << bits, dtype=np.int32)
        table[_places(known, shift)] = np.arange(len(known))
        return cls(np.append(known, -1), table, shift)

    def find(self, wanted: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the index of each number, and the length of the known ones where it is not."""
        place = self.table.take(_places(wanted, self.shift), mode="clip")
        missed = np.flatnonzero(self.known[place] != wanted)
        searched = np.searchsorted(self.known[:-1], wanted[missed])
        there = self.known[searched] == wanted[missed]
        place[missed] = np.where(there, searched, len(self.known) - 1)
        return place


def _places(numbers: npt.NDArray[np.int64], shift: np.uint64 | None) -> npt.NDArray[np.intp]:
    """Return places in a table: the upper bits of products, which depend on all of a number's."""
    if shift is None:
        return numbers
    return ((numbers.view(np.uint64) * _ODD) >> shift).view(np.intp)
