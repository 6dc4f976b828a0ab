"""A program carried out the slow way: which contributions every node holds in the end."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forestcoll import Program
from forestcoll.schedule.steps import REDUCTIONS

Counts = npt.NDArray[np.int64]
"""Per unit of a chunk, how often the part of each GPU is in it."""


def delivers(program: Program) -> bool:
    """Whether all that is due gets to where it is due, each contribution once."""
    return all(_delivers(program, chunk) for chunk in range(len(program.chunks)))


def _delivers(program: Program, chunk: int) -> bool:
    gpus, chunks = program.topology.num_compute, program.chunks
    root, target = int(chunks.root[chunk]), int(chunks.target[chunk])
    whose = range(gpus) if program.collective in REDUCTIONS else [root]
    due = np.zeros(gpus, dtype=np.int64)
    due[list(whose)] = 1
    places = range(gpus)
    if program.collective == "all-to-all":
        places = range(target, target + 1)
    elif program.collective in ("reduce-scatter", "reduce"):
        places = range(root, root + 1)
    brought = _brought(program, chunk, set(whose))
    for gpu in places:
        held = _own(program, chunk, gpu, set(whose))
        for transfer in np.flatnonzero((program.chunk == chunk) & (program.head == gpu)).tolist():
            _apply(program, held, transfer, brought[transfer])
        if not (held == due).all():
            return False
    return True


def _brought(program: Program, chunk: int, whose: set[int]) -> dict[int, Counts]:
    """What each transfer of a chunk brings: its sender's own part, and what it needs applied."""
    brought: dict[int, Counts] = {}
    for transfer in np.flatnonzero(program.chunk == chunk).tolist():
        held = _own(program, chunk, int(program.tail[transfer]), whose)
        for need in program.needs(transfer).tolist():
            assert need < transfer
            _apply(program, held, need, brought[need])
        brought[transfer] = held
    return brought


def _own(program: Program, chunk: int, node: int, whose: set[int]) -> Counts:
    own = np.zeros((int(program.chunks.size[chunk]), program.topology.num_compute), dtype=np.int64)
    if node in whose:
        own[:, node] = 1
    return own


def _apply(program: Program, held: Counts, transfer: int, brings: Counts) -> None:
    first = int(program.first[transfer])
    part = slice(first, first + int(program.amount[transfer]))
    held[part] = held[part] * int(program.reduce[transfer]) + brings[part]
