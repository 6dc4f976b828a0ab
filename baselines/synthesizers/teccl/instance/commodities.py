"""The demand of TE-CCL: chunks, their sources and their destinations.

Source:  Liu et al., TE-CCL (SIGCOMM 2024), sections 2 and 3.1: the demand matrix D(s, d, c).

TE-CCL's chunks have one size; those of :class:`forestcoll.problem.demand.Demand` have any. So each
of the latter is divided into chunks of L bytes. What remains is a chunk of its own, which programs
count as L bytes; schedules carry the bytes that there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from forestcoll.errors import InvalidParameterError
from forestcoll.problem import demand as given_demand
from forestcoll.schedule.sends import Chunks

__all__ = ["MOST_PARTS", "Demand", "Part", "chunk_bytes_of", "demand_of", "divided", "undivided"]

MOST_PARTS = 100_000
"""Limit of the chunks of one size into which a demand is divided."""


class Part(NamedTuple):
    """A chunk as an interval of a given demand's chunk: ``amount`` bytes from ``first`` on."""

    chunk: int
    first: int
    amount: int


@dataclass(frozen=True)
class Demand:
    """Chunks of one size.

    Parameters
    ----------
    chunks : Chunks
        ``chunks.root`` is the source of each.
    wants : tuple of frozenset of int
        The ranks that need each chunk, without its root.
    chunk_kb : Fraction
        Size in 1000 bytes.
    given : Demand, optional
        The demand of chunks of any size that was divided, if any.
    parts : tuple of Part
        What each chunk is of it; empty if its chunks are not divided.
    after : tuple of tuple of int
        The chunks that must arrive at each chunk's source before it exists, all of them before it
        in order: it is their sum. Empty if there are no such.
    """

    chunks: Chunks
    wants: tuple[frozenset[int], ...]
    chunk_kb: Fraction
    given: given_demand.Demand | None = None
    parts: tuple[Part, ...] = ()
    after: tuple[tuple[int, ...], ...] = ()

    def parts_of(self, chunk: int) -> tuple[int, ...]:
        """Return the chunks of which a chunk is the sum; none for others."""
        return self.after[chunk] if self.after else ()

    @property
    def roots(self) -> tuple[int, ...]:
        """The source of each chunk."""
        return tuple(self.chunks.root.tolist())

    def part(self, first: int, end: int) -> Demand:
        """Return the demand for some of the chunks, as the whole of the data."""
        cut, some = self.chunks, slice(first, end)
        chunks = Chunks(cut.size[some], end - first, cut.root[some], cut.target[some])
        return Demand(chunks, self.wants[some], self.chunk_kb)

    @classmethod
    def joined(cls, parts: Sequence[Demand]) -> Demand:
        """Concatenate demands for chunks of one size: the sum of their matrices.

        What they were divided from is left out.
        """
        size, root, target = (
            np.concatenate([getattr(part.chunks, name) for part in parts])
            for name in ("size", "root", "target")
        )
        return cls(
            Chunks(size, len(size), root, target),
            tuple(wants for part in parts for wants in part.wants),
            parts[0].chunk_kb,
        )


def demand_of(gpus: int, collective: str, chunks: int, size_bytes: int, root: int = 0) -> Demand:
    """Cut the data into chunks with destinations.

    Parameters
    ----------
    collective : str
        "allgather", "broadcast" or "all-to-all".
    chunks : int
        C of each source; in an all-to-all, of each pair.
    size_bytes : int
        M as in schedules: in an all-to-all, all that a GPU sends, including its own part.
    root : int
        Source of a broadcast.
    """
    everyone = frozenset(range(gpus))
    if collective == "all-to-all":
        pairs = [(s, d) for s in range(gpus) for d in range(gpus) if s != d for _ in range(chunks)]
        cut = Chunks(
            size=np.ones(len(pairs), dtype=np.int64),
            whole=gpus * chunks,
            root=np.array([s for s, _ in pairs], dtype=np.int32),
            target=np.array([d for _, d in pairs], dtype=np.int32),
        )
        return Demand(
            cut, tuple(frozenset({d}) for _, d in pairs), Fraction(size_bytes, 1000 * cut.whole)
        )
    sources = range(gpus) if collective == "allgather" else (root,)
    cut = Chunks.equal([s for s in sources for _ in range(chunks)], whole=len(sources) * chunks)
    wants = tuple(everyone - {s} for s in sources for _ in range(chunks))
    return Demand(cut, wants, Fraction(size_bytes, 1000 * cut.whole))


def chunk_bytes_of(given: given_demand.Demand, chunks: int) -> int:
    """Return the bytes L of a chunk, of which the largest chunk of a demand needs so many."""
    return -(-int(given.size.max()) // chunks)


def divided(given: given_demand.Demand, chunk_bytes: int) -> Demand:
    """Divide every chunk of a demand into chunks of equal bytes, the last with the rest.

    Raises
    ------
    InvalidParameterError
        If there would be more than ``MOST_PARTS``.
    """
    counts = -(-given.size // chunk_bytes)
    if (total := int(counts.sum())) > MOST_PARTS:
        raise InvalidParameterError(
            f"{given.name}: {total} chunks of {chunk_bytes} bytes; at most {MOST_PARTS} are "
            f"possible: make them larger, with chunk_bytes or fewer chunks"
        )
    parts = tuple(
        Part(chunk, first, min(chunk_bytes, size - first))
        for chunk, size in enumerate(given.size.tolist())
        for first in range(0, size, chunk_bytes)
    )
    whole = _with_chunks(given, [part.chunk for part in parts], chunk_bytes)
    return Demand(whole.chunks, whole.wants, whole.chunk_kb, given, parts)


def undivided(given: given_demand.Demand, chunk_bytes: int) -> Demand:
    """Return a demand whose chunks flow in parts; a chunk's bytes are only a unit."""
    return _with_chunks(given, range(given.num_chunks), chunk_bytes)


def _with_chunks(given: given_demand.Demand, of: Sequence[int], chunk_bytes: int) -> Demand:
    targets = [given.chunk(chunk).targets for chunk in of]
    cut = Chunks(
        size=np.ones(len(of), dtype=np.int64),
        whole=len(of),
        root=given.source[list(of)].astype(np.int32),
        target=np.array([t[0] if len(t) == 1 else -1 for t in targets], dtype=np.int32),
    )
    return Demand(cut, tuple(map(frozenset, targets)), Fraction(chunk_bytes, 1000), given)
