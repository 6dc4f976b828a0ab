"""The demand of a TACCL collective: chunks, their sources and their destinations.

Source:  Shah et al., TACCL (NSDI 2023), section 4.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Exchange", "exchange_of"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Chunks by number, ordered by source, then by destination.

    Parameters
    ----------
    parts : int
        Chunks of a GPU; in an all-to-all, of a pair of GPUs.
    source, target : tuple of int
        GPUs by place; target -1 stands for all other GPUs.
    """

    collective: str
    gpus: int
    parts: int
    source: tuple[int, ...]
    target: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.source)

    def wanted(self, chunk: int, place: int) -> bool:
        """Whether a GPU needs a chunk and does not hold it initially."""
        if place == self.source[chunk]:
            return False
        return self.target[chunk] in (-1, place)

    def destinations(self, chunk: int) -> tuple[int, ...]:
        """Return all GPUs that need a chunk."""
        if self.target[chunk] >= 0:
            return (self.target[chunk],)
        return tuple(v for v in range(self.gpus) if v != self.source[chunk])

    def number(self, source: int, target: int, part: int) -> int:
        """Return the number of the chunk with these ends and this part."""
        if target < 0:
            return source * self.parts + part
        before = target - (target > source)
        return (source * (self.gpus - 1) + before) * self.parts + part


def exchange_of(collective: str, gpus: int, parts: int) -> Exchange:
    """Cut the data of an allgather or an all-to-all.

    Examples
    --------
    >>> exchange_of("allgather", gpus=3, parts=2).source
    (0, 0, 1, 1, 2, 2)
    >>> exchange_of("all-to-all", gpus=3, parts=1).target
    (1, 2, 0, 2, 0, 1)
    """
    if collective == "allgather":
        ends = [(u, -1) for u in range(gpus) for _ in range(parts)]
    else:
        ends = [(u, v) for u in range(gpus) for v in range(gpus) if u != v for _ in range(parts)]
    return Exchange(collective, gpus, parts, tuple(u for u, _ in ends), tuple(v for _, v in ends))
