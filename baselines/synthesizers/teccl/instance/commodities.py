"""The demand of TE-CCL: chunks, their sources and their destinations.

Source:  Liu et al., TE-CCL (SIGCOMM 2024), sections 2 and 3.1: the demand matrix D(s, d, c).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.schedule.sends import Chunks

__all__ = ["Demand", "demand_of"]


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
    """

    chunks: Chunks
    wants: tuple[frozenset[int], ...]
    chunk_kb: Fraction

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
        """Concatenate demands for chunks of one size: the sum of their matrices."""
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
