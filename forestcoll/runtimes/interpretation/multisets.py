"""Exact multisets of the inputs in a chunk, each with a number.

A table maps pairs of numbers to their sum, so a sum is a number as well. A correct result holds
chunks of one position, each GPU's once. A mix of positions can never become correct, so it is kept
only in the detail that messages need. The same holds for repetitions of very many GPUs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from forestcoll.runtimes.interpretation.cells import Ints

__all__ = ["NOTHING", "Multisets"]

NOTHING: Final = 0
"""The number of what nobody has written."""

_MIXED = -1
_MANY = -2
# Beyond these, content can never become right, so its details are dropped.
_MOST_REPEATED = 64
_MOST_TIMES = 10**9


@dataclass(frozen=True, slots=True)
class _Content:
    """Chunks of one position: a bit for each GPU, and the extra copies of some GPUs."""

    position: int
    gpus: int
    repeated: Counter[int] | None = None


class Multisets:
    """Table of multisets of inputs, by number.

    The number of one input is 1 + gpu * chunks + chunk.
    """

    def __init__(self, gpus: int, chunks: int) -> None:
        self._gpus, self._chunks = gpus, chunks
        self._first = 1 + gpus * chunks
        self._contents: list[_Content] = []
        self._sums: dict[tuple[int, int], int] = {}

    def one(self, gpu: Ints | int, chunk: Ints) -> Ints:
        """Return the numbers of inputs."""
        return 1 + gpu * self._chunks + chunk

    def add(self, first: Ints, second: Ints) -> Ints:
        """Return the numbers of sums; an empty summand gives an empty sum."""
        size = self._first + len(self._contents)
        keys = np.minimum(first, second) * size + np.maximum(first, second)
        pairs, back = np.unique(keys, return_inverse=True)
        found = [self._sum(*divmod(key, size)) for key in pairs.tolist()]
        return np.array(found, dtype=np.int64)[back.reshape(keys.shape)]

    def _sum(self, low: int, high: int) -> int:
        if low == NOTHING:
            return NOTHING
        found = self._sums.get((low, high))
        if found is None:
            found = self._sums[low, high] = self._first + len(self._contents)
            self._contents.append(_added(self._content(low), self._content(high)))
        return found

    def _content(self, number: int) -> _Content:
        if number < self._first:
            gpu, chunk = divmod(number - 1, self._chunks)
            return _Content(chunk, 1 << gpu)
        return self._contents[number - self._first]

    def is_sum_of_all(self, number: int, chunk: int) -> bool:
        """Whether a multiset holds one chunk of every GPU, once each."""
        if number == NOTHING:
            return False
        content = self._content(number)
        once = content.gpus == (1 << self._gpus) - 1 and not content.repeated
        return content.position == chunk and once

    def in_words(self, number: int, chunks: int, nth: int) -> str:
        """Describe a multiset for the n-th slice; ``chunks`` is the number per GPU and slice."""
        if number == NOTHING:
            return "nothing that was ever written"
        content = self._content(number)
        if content.position == _MIXED:
            return "a sum of chunks of unlike positions"
        if content.position == _MANY:
            return "a sum with very many repetitions"
        slice_, chunk = divmod(content.position, chunks)
        other = " of another slice" if slice_ != nth else ""
        repeated = content.repeated or Counter[int]()
        times = [(gpu, 1 + repeated[gpu]) for gpu in range(self._gpus) if content.gpus >> gpu & 1]
        return f"input chunk {chunk}{other} of {_gpus_in_words(times)}"


def _added(one: _Content, other: _Content) -> _Content:
    lower = min(one.position, other.position)
    if one.position != other.position or lower < 0:
        return _Content(_MANY if lower == _MANY else _MIXED, 0)
    both = one.gpus & other.gpus
    if not (both or one.repeated or other.repeated):
        return _Content(one.position, one.gpus | other.gpus)
    repeated: Counter[int] = Counter(_bits(both))
    for before in (one.repeated, other.repeated):
        repeated.update(before or {})
    if len(repeated) > _MOST_REPEATED or max(repeated.values(), default=0) > _MOST_TIMES:
        return _Content(_MANY, 0)
    return _Content(one.position, one.gpus | other.gpus, repeated)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _gpus_in_words(times: Sequence[tuple[int, int]]) -> str:
    """Name GPUs, with ranges: "GPUs 0-3, 5 (2 times)"."""
    runs: list[tuple[int, int, int]] = []
    for gpu, often in times:
        if runs and runs[-1][1] == gpu - 1 and runs[-1][2] == often:
            runs[-1] = (runs[-1][0], gpu, often)
        else:
            runs.append((gpu, gpu, often))
    words = [
        (str(low) if low == high else f"{low}-{high}") + ("" if often == 1 else f" ({often} times)")
        for low, high, often in runs
    ]
    more = f" and {len(words) - 8} more" if len(words) > 8 else ""
    return f"{'GPU' if len(times) == 1 else 'GPUs'} {', '.join(words[:8])}{more}"
