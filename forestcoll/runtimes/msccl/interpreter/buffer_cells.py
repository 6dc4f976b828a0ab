"""Cell numbers for each chunk of each buffer of each GPU, and the chunks that actions move.

In place, an allgather's input is its part of the output, a reduce-scatter's output is its part of
the input, and all other collectives have one buffer for input and output.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from forestcoll.runtimes.interpretation.cells import Bools, Cells, Ints
from forestcoll.runtimes.interpretation.findings import Finding, Kind, Place
from forestcoll.runtimes.interpretation.one_run import Units
from forestcoll.runtimes.msccl.algorithm import ALIASES, Algorithm
from forestcoll.runtimes.msccl.interpreter.actions import Actions
from forestcoll.runtimes.msccl.interpreter.fifos import Pairs
from forestcoll.runtimes.msccl.interpreter.merged_steps import (
    ADDS,
    BUFFERS,
    POPS,
    READS,
    WRITES,
    MergedSteps,
)

__all__ = [
    "cells_of",
    "check_bounds",
    "check_copies",
    "collective_of",
    "copied",
    "parts_of",
    "units_of",
]


_WORDS = ("input", "output", "scratch")


def collective_of(algorithm: Algorithm) -> str:
    """Return the collective of an algorithm as the executor spells it."""
    return ALIASES.get(algorithm.collective, algorithm.collective)


def parts_of(algorithm: Algorithm) -> tuple[int, int]:
    """Return the chunks of each GPU's input and output."""
    chunks, gpus = algorithm.chunks_per_loop, len(algorithm.gpus)
    collective = collective_of(algorithm)
    inputs = chunks // gpus if collective == "allgather" else chunks
    outputs = chunks // gpus if collective == "reducescatter" else chunks
    return inputs, outputs


def cells_of(algorithm: Algorithm, steps: MergedSteps, *, in_place: bool) -> Cells:
    """Return the cells of an algorithm's buffers; of scratch, only the chunks in use."""
    inputs, outputs = parts_of(algorithm)
    scratch = _used_scratch(steps, len(algorithm.gpus))
    ranks = np.arange(scratch.size)
    user = max(inputs, outputs) if in_place else inputs + outputs
    ends = np.cumsum(user + scratch)
    start = ends - user - scratch
    shift = (
        {"allgather": (inputs, 0), "reducescatter": (0, outputs)}.get(
            collective_of(algorithm), (0, 0)
        )
        if in_place
        else (0, 0)
    )
    first_output = start + (0 if in_place else inputs)
    base = np.stack(
        [start + shift[0] * ranks, first_output + shift[1] * ranks, start + user], axis=1
    )
    return Cells(base, int(ends[-1]), inputs, outputs)


def _used_scratch(steps: MergedSteps, gpus: int) -> Ints:
    used = np.zeros(gpus, dtype=np.int64)
    for uses, buffer, offset in (
        (READS, steps.source, steps.source_offset),
        (WRITES, steps.target, steps.target_offset),
    ):
        some = np.flatnonzero(uses[steps.kind] & (buffer == BUFFERS.index("s")))
        np.maximum.at(used, steps.gpu[some], offset[some] + steps.count[some])
    return used


def check_bounds(algorithm: Algorithm, steps: MergedSteps) -> Iterator[Finding]:
    """Report chunks beyond a buffer, by its size in the file or in the call."""
    inputs, outputs = parts_of(algorithm)
    given = np.array(
        [(gpu.input_chunks, gpu.output_chunks, gpu.scratch_chunks) for gpu in algorithm.gpus],
        dtype=np.int64,
    )
    there = np.minimum(given, (inputs, outputs, np.iinfo(np.int64).max))
    ends = (
        (READS, steps.source, steps.source_offset, "reads"),
        (WRITES, steps.target, steps.target_offset, "writes"),
    )
    for uses, buffer, offset, word in ends:
        most = there[steps.gpu, buffer]
        outside: Bools = (offset < 0) | (offset + np.maximum(steps.count, 1) > most)
        for step in np.flatnonzero(uses[steps.kind] & outside):
            last = offset[step] + max(steps.count[step] - 1, 0)
            chunks = f"chunk {last}" if last == offset[step] else f"chunks {offset[step]}-{last}"
            stated = given[steps.gpu[step], buffer[step]]
            real = f"the file says {stated}" if stated <= most[step] else f"there are {most[step]}"
            message = (
                f"{steps.name(step)}: {word} {chunks} of its {_WORDS[buffer[step]]}, of which "
                f"{real}"
            )
            yield Finding.at(Kind.BOUNDS, message, steps.place(step))


def check_copies(algorithm: Algorithm) -> Iterator[Finding]:
    """Report elements ``copy`` whose chunks are beyond the buffers."""
    inputs, outputs = parts_of(algorithm)
    for rank, gpu in enumerate(algorithm.gpus):
        place = Place(rank, line=gpu.line)
        most = min(inputs, gpu.input_chunks), min(outputs, gpu.output_chunks)
        for source, target in gpu.copies:
            if source >= most[0] or target >= most[1]:
                message = (
                    f"{place}: copies chunk {source} of its input, of which there are {most[0]}, "
                    f"to chunk {target} of its output, of which there are {most[1]}"
                )
                yield Finding.at(Kind.BOUNDS, message, place)


def copied(algorithm: Algorithm, cells: Cells, contents: Ints, slices: int) -> Ints:
    """Do the copies from input to output that precede all steps, in every slice."""
    found = contents.copy()
    for rank, gpu in enumerate(algorithm.gpus):
        for source, target in gpu.copies:
            for nth in range(slices):
                shift = nth * cells.size
                taken = contents[cells.base[rank, 0] + source + shift]
                found[cells.base[rank, 1] + target + shift] = taken
    return found


def units_of(actions: Actions, pairs: Pairs, cells: Cells) -> Units:
    """Return the chunks that are moved, of all slices."""
    steps, each = actions.steps, actions.each
    count = np.tile(actions.count, actions.slices)
    action = np.repeat(np.arange(each * actions.slices), count)
    start = np.cumsum(count) - count
    nth = np.arange(action.size) - start[action]
    step = actions.step[action % each]
    chunk = actions.first_chunk[action % each] + nth
    all_cells = cells.size * actions.slices
    shift = action // each * cells.size
    kind = steps.kind[step]
    source = _cell(cells, steps, step, steps.source, steps.source_offset) + chunk + shift
    target = _cell(cells, steps, step, steps.target, steps.target_offset) + chunk + shift
    nowhere = all_cells + action.size
    push = pairs.push[action]
    carried = (push >= 0) & (nth < count[push])
    taken = np.where(carried, all_cells + start[push] + nth, nowhere)
    adds_source = ADDS[kind]
    own = np.where(adds_source, target, source)
    return Units(
        action,
        first=np.where(POPS[kind], taken, own),
        second=np.where(adds_source, source, -1),
        target=np.where(WRITES[kind], target, -1),
        cells=all_cells,
    )


def _cell(cells: Cells, steps: MergedSteps, step: Ints, buffer: Ints, offset: Ints) -> Ints:
    return cells.base[steps.gpu[step], buffer[step]] + offset[step]
