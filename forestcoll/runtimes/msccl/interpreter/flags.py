"""Flags of threadblocks: the step that ends each wait.

A threadblock's flag only grows. A wait for a step without a signal ends with the next step that
signals, if the program has one. The last slice decides, as no later slice follows to end its waits.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from forestcoll.runtimes.interpretation.cells import Ints
from forestcoll.runtimes.interpretation.findings import Finding, Kind
from forestcoll.runtimes.msccl.interpreter.merged_steps import MergedSteps

__all__ = ["check_waits", "ends_of_waits", "first_that_tell"]


def ends_of_waits(steps: MergedSteps) -> Ints:
    """Return the step that ends each wait in the same slice, or -1."""
    telling, keys, width = _telling(steps)
    if not telling.size:
        return np.full(steps.wait_step.size, -1, dtype=np.int64)
    counters = np.clip(steps.wait_counter, -1, width - 2)
    found = np.searchsorted(keys, steps.wait_block * width + counters + 1)
    ends = telling[np.minimum(found, telling.size - 1)]
    fits = (found < telling.size) & (steps.block[ends] == steps.wait_block)
    return np.where(fits, ends, -1)


def first_that_tell(steps: MergedSteps) -> Ints:
    """Return the first signalling step of the threadblock of each wait, or -1."""
    telling, keys, width = _telling(steps)
    if not telling.size:
        return np.full(steps.wait_step.size, -1, dtype=np.int64)
    found = np.minimum(np.searchsorted(keys, steps.wait_block * width), telling.size - 1)
    first = telling[found]
    return np.where(steps.block[first] == steps.wait_block, first, -1)


def _telling(steps: MergedSteps) -> tuple[Ints, Ints, int]:
    """Return the signalling steps, their ascending keys, and the keys of a threadblock."""
    telling = np.flatnonzero(steps.tells)
    width = int(steps.counter.max(initial=0)) + 3
    return telling, steps.block[telling] * width + steps.counter[telling] + 1, width


def check_waits(steps: MergedSteps) -> Iterator[Finding]:
    """Report waits that nothing ends, or that another step than the named one ends."""
    ends = ends_of_waits(steps)
    exact = steps.counter[ends] == steps.wait_counter
    width = int(steps.counter.max(initial=0)) + 2
    keys = steps.block * width + steps.counter
    for wait in np.flatnonzero((ends < 0) | ~exact):
        step, counter = steps.wait_step[wait], steps.wait_counter[wait]
        place = steps.place(step)
        if steps.wait_block[wait] < 0:
            yield Finding.at(
                Kind.DEPENDENCY, f"{place}: waits for a threadblock that its GPU has not", place
            )
            continue
        other = f"step {counter} of threadblock {steps.block_number[steps.wait_block[wait]]}"
        key = steps.wait_block[wait] * width + counter if 0 <= counter < width else -1
        low, high = np.searchsorted(keys, (key, key + 1))
        places = [steps.place(one) for one in range(low, high)]
        lines = "".join(f" (line {one.line})" for one in places if one.line)
        silent = "has hasdep=0" if places else "is not there"
        if ends[wait] < 0:
            message = (
                f"{place}: waits for {other}{lines}, which {silent}, nor does any after it tell"
            )
            yield Finding.at(Kind.DEPENDENCY, message, place, *places)
        else:
            message = f"{place}: waits for {other}{lines}, which {silent}; {steps.name(ends[wait])}"
            yield Finding.at(
                Kind.NOTE, f"{message} ends the wait", place, *places, steps.place(ends[wait])
            )
