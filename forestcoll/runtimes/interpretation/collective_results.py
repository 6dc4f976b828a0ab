"""Initial data and promised results of a collective, and the check of a run's results.

Problem: does every chunk of the result hold the chunk, or the sum, that the collective promises?
Input:   the buffers after a run.
Output:  the wrong chunks, with their content and the path on which it came.
Cost:    one comparison a chunk.
Source:  NCCL's documentation of its collectives; in a broadcast only the root's input matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.interpretation.cells import Bools, Cells, Ints
from forestcoll.runtimes.interpretation.findings import Finding, Kind, Place
from forestcoll.runtimes.interpretation.multisets import NOTHING, Multisets
from forestcoll.runtimes.interpretation.one_run import Memory, Numbers, Units, numbers_of

__all__ = ["Named", "Promise", "find_changed_inputs", "find_wrong_data", "initial", "root_of"]


_WAY = 8


class Named(Protocol):
    """Names and positions of executed actions, by number."""

    def name_of(self, action: int) -> str:
        """Return the kind and position of an action, in words."""

    def place_of(self, action: int) -> Place:
        """Return the position of an action."""


@dataclass(frozen=True, slots=True)
class Promise:
    """The promise of a collective among some GPUs.

    Parameters
    ----------
    collective : str
        As the executor spells it.
    root : int
        Of a broadcast or reduce, else -1.
    pairs : tuple of tuples of int, optional
        In an all-to-all of different amounts: how many chunks of the slot of each sender and
        receiver hold data. The others may hold anything; all count if not given.
    """

    collective: str
    gpus: int
    root: int
    cells: Cells
    slices: int
    pairs: tuple[tuple[int, ...], ...] | None = None

    @property
    def chunks(self) -> int:
        """The positions of inputs, of all slices."""
        return self.cells.inputs * self.slices

    @property
    def is_sum(self) -> bool:
        """Whether results are sums over all GPUs."""
        return self.collective in ("reducescatter", "allreduce", "reduce")


def initial(promise: Promise, multisets: Multisets) -> Ints:
    """Return the initial content of every cell."""
    cells = promise.cells
    contents = np.full((promise.slices, cells.size), NOTHING, dtype=np.int64)
    for nth in range(promise.slices):
        for gpu in range(promise.gpus):
            if promise.collective != "broadcast" or gpu == promise.root:
                chunks = np.arange(cells.inputs)
                start = cells.base[gpu, 0]
                contents[nth, start + chunks] = multisets.one(gpu, nth * cells.inputs + chunks)
    return contents.ravel()


def find_wrong_data(
    promise: Promise, memory: Memory, multisets: Multisets, actions: Named, units: Units
) -> Iterator[Finding]:
    """Report every wrong chunk, in the first slice that has one."""
    for nth in range(promise.slices):
        found = _find_in_slice(nth, promise, memory, multisets, actions, units)
        first = next(found, None)
        if first is not None:
            yield first
            yield from found
            return


def _find_in_slice(
    nth: int,
    promise: Promise,
    memory: Memory,
    multisets: Multisets,
    actions: Named,
    units: Units,
) -> Iterator[Finding]:
    ranks = [promise.root] if promise.collective == "reduce" else range(promise.gpus)
    for gpu in ranks:
        cells = promise.cells.base[gpu, 1] + nth * promise.cells.size
        cells = cells + np.arange(promise.cells.outputs)
        sources, positions = _due(promise, gpu)
        later = positions + nth * promise.cells.inputs
        good = _are_good(promise, memory, multisets, cells, sources, later)
        good |= ~_holds_data(promise, gpu)
        for chunk in np.flatnonzero(~good):
            due = _in_words(promise, sources[chunk], positions[chunk])
            number = int(memory.contents[cells[chunk]])
            found = multisets.in_words(number, promise.cells.inputs, nth)
            which = " of a later slice" if nth else ""
            what = f"output chunk {chunk}{which} has {found}, not {due}"
            yield _finding(
                what, gpu, _way(int(memory.writer[cells[chunk]]), memory, units), actions
            )


def _due(promise: Promise, gpu: int) -> tuple[Ints, Ints]:
    """Return, for each output chunk, its source GPU (-1: the sum of all) and its position."""
    outputs, gpus = promise.cells.outputs, promise.gpus
    chunks = np.arange(outputs)
    every = np.full(outputs, -1, dtype=np.int64)
    each = outputs // gpus
    match promise.collective:
        case "allgather":
            return chunks // each, chunks % each
        case "alltoall":
            return chunks // each, gpu * each + chunks % each
        case "reducescatter":
            return every, gpu * outputs + chunks
        case "broadcast":
            return every + 1 + promise.root, chunks
        case _:
            return every, chunks


def _holds_data(promise: Promise, gpu: int) -> Bools:
    """Whether each output chunk holds data of the collective."""
    outputs = promise.cells.outputs
    if promise.pairs is None:
        return np.ones(outputs, dtype=np.bool_)
    slot = np.arange(outputs) % (outputs // promise.gpus)
    many = np.array([row[gpu] for row in promise.pairs])
    return slot < np.repeat(many, outputs // promise.gpus)


def _are_good(
    promise: Promise,
    memory: Memory,
    multisets: Multisets,
    cells: Ints,
    sources: Ints,
    positions: Ints,
) -> Bools:
    """Compare multisets and numbers: two independent ways of adding up must both agree."""
    contents = memory.contents[cells]
    if promise.is_sum:
        same = [
            multisets.is_sum_of_all(number, position)
            for number, position in zip(contents.tolist(), positions.tolist(), strict=True)
        ]
        good = np.array(same, dtype=np.bool_)
    else:
        good = contents == multisets.one(sources, positions)
    equal: Bools = memory.numbers[cells] == _numbers(promise, multisets, sources, positions)
    return good & equal


def _numbers(promise: Promise, multisets: Multisets, sources: Ints, positions: Ints) -> Numbers:
    if not promise.is_sum:
        return numbers_of(multisets.one(sources, positions))
    everyone = np.arange(promise.gpus)[:, None]
    inputs = multisets.one(everyone, positions[None, :])
    return np.asarray(numbers_of(inputs).sum(axis=0, dtype=np.uint64))


def _in_words(promise: Promise, source: int, position: int) -> str:
    if source < 0:
        return f"the sum of input chunk {position} of all {promise.gpus} GPUs"
    return f"input chunk {position} of GPU {source}"


def _way(unit: int, memory: Memory, units: Units) -> list[int]:
    """Return the actions through which data came, the last one first."""
    way: list[int] = []
    while unit >= 0 and len(way) < _WAY:
        way.append(int(units.action[unit]))
        came = int(memory.before[unit])
        unit = came if came >= 0 else int(memory.beside[unit])
    return way


def _finding(what: str, gpu: int, way: list[int], actions: Named) -> Finding:
    if not way:
        return Finding(Kind.DATA, f"GPU {gpu}: {what}; no step writes it", gpu)
    lines = " < ".join(map(actions.name_of, way))
    places = map(actions.place_of, way)
    return Finding.at(Kind.DATA, f"GPU {gpu}: {what}; it came by {lines}", *places)


def find_changed_inputs(
    promise: Promise, memory: Memory, actions: Named, units: Units
) -> Iterator[Finding]:
    """Report inputs that an out-of-place call changes."""
    cells = promise.cells
    for gpu in range(promise.gpus):
        own = cells.base[gpu, 0] + np.arange(cells.inputs)
        for chunk in np.flatnonzero(memory.writer[own] >= 0):
            action = int(units.action[memory.writer[own[chunk]]])
            message = (
                f"{actions.name_of(action)}: writes input chunk {chunk}, which a call that is not "
                "in place must leave as it is"
            )
            yield Finding.at(Kind.INPUT, message, actions.place_of(action))


def root_of(collective: str, gpus: int, given: int | None, busy: Callable[[bool], set[int]]) -> int:
    """Return the root of a broadcast or reduce, -1 for others.

    Raises InvalidParameterError if the given root is impossible, or none is given and the idle GPU
    is not unique.

    Parameters
    ----------
    given : int, optional
        The caller's root.
    busy : callable
        Takes whether to look for arriving data (broadcast) or leaving data (reduce); returns the
        GPUs that have some. Called only without a given root.
    """
    if collective not in ("broadcast", "reduce"):
        if given is not None:
            raise InvalidParameterError(
                f"a root is given, but this is an {collective}; leave it out"
            )
        return -1
    if given is not None:
        if not 0 <= given < gpus:
            raise InvalidParameterError(f"the root is {given}; it must be from 0 to {gpus - 1}")
        return given
    # Data only leaves the root of a broadcast, and only comes to that of a reduce.
    arriving = collective == "broadcast"
    found = sorted(set(range(gpus)) - busy(arriving))
    if len(found) != 1:
        word = "receive" if arriving else "send"
        raise InvalidParameterError(
            f"{len(found)} of {gpus} GPUs {word} nothing, so the root of this {collective} is not "
            "plain; give it"
        )
    return found[0]
