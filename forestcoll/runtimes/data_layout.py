"""Layout of a program's data in the buffers of MSCCL.

Problem: the runtime knows buffers of equal chunks; a program knows chunks of any size, in units.
Input:   a program and its pieces; the number of instances that run side by side, each on its part
         of every chunk.
Output:  the unit that divides all pieces, and the offset of each chunk in the input and the output
         of each GPU.
Cost:    linear in the transfers.
Source:  ours, with the offsets that the runtime gives a collective's buffers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from forestcoll.errors import ExportError, UnsupportedError
from forestcoll.runtimes.transfer_pieces import Piece, pieces_of
from forestcoll.schedule.program import Program
from forestcoll.schedule.sends import Chunks

__all__ = ["Layout", "chunks_of_pairs", "layout_of", "with_own_parts"]

_SUMS = ("reduce-scatter", "allreduce", "reduce")
_SHARED = ("allgather", "reduce-scatter", "all-to-all")


@dataclass(frozen=True, slots=True)
class Layout:
    """The buffers of all GPUs.

    Parameters
    ----------
    unit : int
        Units of the program in one chunk of the runtime, for one instance.
    whole : int
        Chunks of the data of one instance: those of a GPU's buffer that holds all data.
    size, base : tuple of int
        For each chunk of the program: its size and its offset in the data, in chunks of the
        runtime.
    root, target : tuple of int
        As of :class:`forestcoll.schedule.sends.Chunks`.
    in_place : bool
        Whether the input is known to be part of the output.

    In an all-to-all of different amounts every pair has a slot of the largest amount, so that the
    runtime sees equal parts; only a pair's own amount, the beginning of its slot, moves.
    """

    collective: str
    gpus: int
    unit: int
    whole: int
    size: tuple[int, ...]
    base: tuple[int, ...]
    root: tuple[int, ...]
    target: tuple[int, ...]
    instances: int
    in_place: bool

    @property
    def reduces(self) -> bool:
        """Whether every GPU contributes to every sum."""
        return self.collective in _SUMS

    @property
    def shard(self) -> int:
        """Chunks of one GPU's share of the data, of one instance."""
        return self.whole // self.gpus

    @property
    def aliased(self) -> bool:
        """Whether a GPU's own part and its result may share one place."""
        return self.reduces or self.in_place

    def own(self, gpu: int, chunk: int) -> int | None:
        """Offset of a GPU's own part of a chunk in its input; None if it has none."""
        if self.reduces:
            return self._scaled(0, chunk)
        if self.root[chunk] != gpu:
            return None
        # ``base`` counts from the beginning of all data; this input begins with the GPU's own.
        if self.collective == "allgather":
            return self._scaled(-gpu * self.shard, chunk)
        if self.collective == "all-to-all":
            return self._scaled((self.target[chunk] - gpu) * self.shard, chunk)
        return self._scaled(0, chunk)

    def result(self, gpu: int, chunk: int) -> int | None:
        """Offset of a chunk in the output of a GPU; None if the GPU does not get it."""
        if self.collective in ("allgather", "allreduce", "broadcast"):
            return self._scaled(0, chunk)
        receives = self.target if self.collective == "all-to-all" else self.root
        if receives[chunk] != gpu:
            return None
        if self.collective == "reduce-scatter":
            return self._scaled(-gpu * self.shard, chunk)
        return self._scaled(0, chunk)

    def in_one_space(self, gpu: int, buffer: str, offset: int) -> tuple[str, int]:
        """Name a place of a GPU; places that may alias get one name."""
        if not self.aliased or buffer == "s":
            return buffer, offset
        shift = gpu * self.shard * self.instances
        if self.collective == "reduce-scatter":
            return "i", offset + (shift if buffer == "o" else 0)
        if self.collective == "allgather":
            return "o", offset + (shift if buffer == "i" else 0)
        return "o", offset

    def chunks_in(self, gpu: int) -> int:
        """Return how many chunks the input of a GPU has."""
        if self.collective == "allgather":
            return self.shard * self.instances
        if self.collective == "broadcast" and gpu not in self.root:
            return 0
        return self.whole * self.instances

    def chunks_out(self, gpu: int) -> int:
        """Return how many chunks the output of a GPU has."""
        if self.collective == "reduce-scatter":
            return self.shard * self.instances
        if self.collective == "reduce" and gpu not in self.root:
            return 0
        return self.whole * self.instances

    def _scaled(self, shift: int, chunk: int) -> int:
        return (self.base[chunk] + shift) * self.instances


def with_own_parts(program: Program) -> Program:
    """Add to an all-to-all the part that each GPU has for itself, where it has no chunk.

    No transfer moves it, but the output holds it.
    """
    chunks, gpus = program.chunks, program.topology.num_compute
    if program.collective != "all-to-all" or len(set(chunks.size.tolist())) > 1:
        return program  # a demand has nothing for the GPU itself
    there = set(chunks.root[chunks.root == chunks.target].tolist())
    own = np.array([rank for rank in range(gpus) if rank not in there], dtype=np.int32)
    if not len(own):
        return program
    parts = Chunks(
        size=np.append(chunks.size, np.full(len(own), chunks.whole // gpus, dtype=np.int64)),
        whole=chunks.whole,
        root=np.append(chunks.root, own),
        target=np.append(chunks.target, own),
    )
    return replace(program, chunks=parts)


def layout_of(
    program: Program, pieces: Sequence[Piece], instances: int = 1, in_place: bool = False
) -> Layout:
    """Lay out the data of a program with these pieces.

    Raises
    ------
    UnsupportedError
        If the GPUs have unequal shares, which the runtime cannot express, or an all-to-all is to be
        in place.
    ExportError
        If the chunks do not cover the data.
    """
    chunks, gpus = program.chunks, program.topology.num_compute
    if in_place and program.collective == "all-to-all":
        raise UnsupportedError(
            "unsupported: an all-to-all in place, where what comes in takes the place of what is "
            "yet to be sent; export it out of place"
        )
    cuts = {cut for piece in pieces for cut in (piece.first, piece.size)}
    # No piece may begin or end inside a chunk of the runtime.
    unit = math.gcd(*chunks.size.tolist(), *cuts)
    if program.collective != "all-to-all":
        unit = math.gcd(unit, int(chunks.whole))
    root, target = chunks.root.tolist(), chunks.target.tolist()
    size = [each // unit for each in chunks.size.tolist()]
    whole = int(chunks.whole) // unit
    if program.collective == "all-to-all":
        whole = max(_by_pair(size, root, target).values()) * gpus
    elif program.collective in _SHARED:
        _check_shares(program, size, whole)
    if program.collective == "all-to-all":
        base = _bases_of_pairs(size, root, target, whole // gpus)
    else:
        base = _bases(size, root)
        if sum(size) != whole:
            raise ExportError(
                f"the chunks of this program are {sum(size)} of {whole} parts of the data, so it "
                f"is no {program.collective} of all of it"
            )
    return Layout(
        collective=program.collective,
        gpus=gpus,
        unit=unit,
        whole=whole,
        size=tuple(size),
        base=tuple(base),
        root=tuple(root),
        target=tuple(target),
        instances=instances,
        in_place=in_place,
    )


def chunks_of_pairs(program: Program, input_chunks: int) -> tuple[tuple[int, ...], ...] | None:
    """Return how many chunks each pair's slot holds in an exported all-to-all.

    Parameters
    ----------
    input_chunks : int
        Of a GPU in the file.

    Returns
    -------
    tuple of tuples of int, optional
        For each sender, of each receiver; None for other collectives.
    """
    if program.collective != "all-to-all":
        return None
    program = with_own_parts(program)
    layout = layout_of(program, pieces_of(program))
    times = input_chunks // layout.whole
    found = _by_pair(layout.size, layout.root, layout.target)
    ranks = range(layout.gpus)
    return tuple(tuple(found.get((one, other), 0) * times for other in ranks) for one in ranks)


def _by_pair(
    size: Sequence[int], root: Sequence[int], target: Sequence[int]
) -> dict[tuple[int, int], int]:
    """Add up the chunks of each sender and receiver."""
    have: dict[tuple[int, int], int] = {}
    for one, sender, receiver in zip(size, root, target, strict=True):
        have[sender, receiver] = have.get((sender, receiver), 0) + one
    return have


def _check_shares(program: Program, size: list[int], whole: int) -> None:
    gpus, chunks = program.topology.num_compute, program.chunks
    have = _by_pair(size, chunks.root.tolist(), chunks.target.tolist())
    for (sender, _), found in have.items():
        if found * gpus != whole:
            raise UnsupportedError(
                f"unsupported: the data of rank {sender} is {found} of {whole} parts, not the "
                f"{gpus}th of it; the runtime of MSCCL knows equal shares only, so leave weights "
                f"away"
            )
    if len(have) != gpus:
        raise UnsupportedError(
            f"unsupported: {len(have)} of {gpus} GPUs have data; the runtime of MSCCL knows equal "
            f"shares only, so leave weights away"
        )


def _bases(size: list[int], root: list[int]) -> list[int]:
    """Return the offset of each chunk in the data, by rank, then by number."""
    base, end = [0] * len(size), 0
    for chunk in sorted(range(len(size)), key=lambda one: (root[one], one)):
        base[chunk] = end
        end += size[chunk]
    return base


def _bases_of_pairs(size: list[int], root: list[int], target: list[int], share: int) -> list[int]:
    """Return the offset of each chunk in its target's data, by sender, then by number."""
    base, end = [], dict[tuple[int, int], int]()
    for chunk, pair in enumerate(zip(root, target, strict=True)):
        base.append(end.get(pair, pair[0] * share))
        end[pair] = base[-1] + size[chunk]
    return base
