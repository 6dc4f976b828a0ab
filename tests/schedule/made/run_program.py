"""A program carried out the slow way: which contributions every node holds in the end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll import Program
from forestcoll.schedule.steps import REDUCTIONS

Counts = npt.NDArray[np.int64]
"""Per part of a chunk, how often the contribution of each GPU is in it."""


@dataclass(frozen=True)
class _Chunk:
    """One chunk of a program, cut where any of its transfers begins or ends."""

    program: Program
    chunk: int
    transfers: list[int]
    cuts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, program: Program, chunk: int) -> _Chunk:
        transfers = np.flatnonzero(program.chunk == chunk)
        first = program.first[transfers].astype(np.int64)
        ends = [0, int(program.chunks.size[chunk])]
        cuts = np.unique(np.concatenate([ends, first, first + program.amount[transfers]]))
        return cls(program, chunk, transfers.tolist(), cuts)

    def apply(self, held: Counts, transfer: int, brings: Counts) -> None:
        """What a transfer brings takes the place of what is held, or is added to it."""
        program = self.program
        first = int(program.first[transfer])
        ends = (first, first + int(program.amount[transfer]))
        part = slice(*np.searchsorted(self.cuts, ends).tolist())
        held[part] = held[part] * int(program.reduce[transfer]) + brings[part]

    def own(self, node: int, whose: set[int]) -> Counts:
        """What a node has at the start."""
        own = np.zeros((len(self.cuts) - 1, self.program.topology.num_compute), dtype=np.int64)
        if node in whose:
            own[:, node] = 1
        return own

    def brought(self, whose: set[int]) -> dict[int, Counts]:
        """What each transfer brings: its sender's own part, and what it needs applied."""
        brought: dict[int, Counts] = {}
        for transfer in self.transfers:
            held = self.own(int(self.program.tail[transfer]), whose)
            for need in self.program.dependencies(transfer).tolist():
                assert need < transfer
                self.apply(held, need, brought[need])
            brought[transfer] = held
        return brought


def delivers(program: Program) -> bool:
    """Whether all that is due gets to where it is due, each contribution once."""
    return all(_delivers(_Chunk.of(program, chunk)) for chunk in range(len(program.chunks)))


def _delivers(chunk: _Chunk) -> bool:
    program = chunk.program
    gpus, chunks = program.topology.num_compute, program.chunks
    root, target = int(chunks.root[chunk.chunk]), int(chunks.target[chunk.chunk])
    whose = set(range(gpus)) if program.collective in REDUCTIONS else {root}
    due = np.zeros(gpus, dtype=np.int64)
    due[list(whose)] = 1
    places = range(gpus)
    if program.collective == "all-to-all":
        places = range(target, target + 1)
    elif program.collective in ("reduce-scatter", "reduce"):
        places = range(root, root + 1)
    brought = chunk.brought(whose)
    for gpu in places:
        held = chunk.own(gpu, whose)
        for transfer in chunk.transfers:
            if program.head[transfer] == gpu:
                chunk.apply(held, transfer, brought[transfer])
        if not (held == due).all():
            return False
    return True
