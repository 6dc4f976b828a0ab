"""One run of a program with real data and with symbolic multisets of inputs.

Problem: compute the content of every chunk of every buffer at the end.
Input:   actions with their levels, matched sends and receives, cells of buffers.
Output:  buffers of numbers (NumPy, 64 bits), their multisets of inputs, and their last writers.
Cost:    a few array operations for each level.
Source:  actions of one level have no order, so all of them read before any writes; where that
         matters, there is a race.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.runtimes.interpretation.cells import Ints
from forestcoll.runtimes.interpretation.multisets import NOTHING, Multisets

__all__ = ["MOST_ACTIONS", "Memory", "Units", "execute", "numbers_of"]

Numbers = npt.NDArray[np.uint64]

MOST_ACTIONS = 4_000_000
"""Of all slices; more would take minutes and gigabytes."""

# No sum of inputs, which have 40 bits, reaches this; so reads of unwritten chunks show.
_GARBAGE = np.uint64(0x5EED_0BAD_5EED_0BAD)


@dataclass(frozen=True, slots=True)
class Units:
    """Single chunks that the actions of all slices move.

    All places are in one memory: the cells of all slices, then the payload of each unit, then a
    chunk that is never written and one that is never read.

    Parameters
    ----------
    action : ndarray (units,)
    first, second : ndarray (units,)
        The place that is read, and the place that is added; -1 for no addition.
    target : ndarray (units,)
        The cell that is written; -1 for none.
    cells : int
        Number of cells in all slices.
    """

    action: Ints
    first: Ints
    second: Ints
    target: Ints
    cells: int


@dataclass(frozen=True, slots=True)
class Memory:
    """The final content of all places.

    Parameters
    ----------
    numbers : ndarray (places,)
        Data, added up as any runtime would.
    contents : ndarray (places,)
        The multisets of inputs.
    writer : ndarray (places,)
        The unit that wrote the place last; -1 if it is unchanged.
    before, beside : ndarray (units,)
        The unit that wrote what a unit read, and what it added; -1 for none.
    """

    numbers: Numbers
    contents: Ints
    writer: Ints
    before: Ints
    beside: Ints


def numbers_of(inputs: Ints) -> Numbers:
    """Return the data of inputs: pseudorandom numbers of 40 bits, whose sums identify them."""
    mixed = inputs.astype(np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58_476D_1CE4_E5B9)
    return mixed >> np.uint64(24)


def execute(units: Units, level: Ints, contents: Ints, multisets: Multisets) -> Memory:
    """Execute all units that can run, level by level.

    Parameters
    ----------
    level : ndarray (actions,)
        -1 for actions that never run.
    contents : ndarray (cells,)
        The inputs in the buffers at the start.
    multisets : Multisets
        The table that records new sums.
    """
    places = units.cells + units.action.size + 2
    held = np.full(places, NOTHING, dtype=np.int64)
    held[: units.cells] = contents
    numbers = np.where(held == NOTHING, _GARBAGE, numbers_of(held))
    memory = Memory(
        numbers,
        held,
        np.full(places, -1, dtype=np.int64),
        np.full(units.action.size, -1, dtype=np.int64),
        np.full(units.action.size, -1, dtype=np.int64),
    )
    for some in _by_level(level[units.action]):
        _move(units, some, memory, multisets)
    return memory


def _by_level(level: Ints) -> Iterator[Ints]:
    order = np.argsort(level, kind="stable")
    ends = np.flatnonzero(np.diff(level[order], append=np.int64(2**62))) + 1
    start = int(np.searchsorted(level[order], 0))
    for end in ends[ends > start].tolist():
        yield order[start:end]
        start = end


def _move(units: Units, some: Ints, memory: Memory, multisets: Multisets) -> None:
    first, second, target = units.first[some], units.second[some], units.target[some]
    numbers, contents = memory.numbers[first], memory.contents[first]
    memory.before[some] = memory.writer[first]
    adds = np.flatnonzero(second >= 0)
    if adds.size:
        added = second[adds]
        numbers[adds] += memory.numbers[added]
        contents[adds] = multisets.add(contents[adds], memory.contents[added])
        memory.beside[some[adds]] = memory.writer[added]
    # Payloads and targets alike; units without a target write to a place that nobody reads.
    for place in (units.cells + some, np.where(target < 0, memory.contents.size - 1, target)):
        memory.numbers[place] = numbers
        memory.contents[place] = contents
        memory.writer[place] = some
