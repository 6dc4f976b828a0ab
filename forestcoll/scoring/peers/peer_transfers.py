"""What a file of another synthesizer says: who sends what to whom, by numbers of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["PeerChunk", "PeerSend", "PeerTransfers"]


class PeerChunk(NamedTuple):
    """A chunk: who has it at first (in a reduction at last), who gets it, what the file calls it.

    Ranks; -1 where everybody has, or gets, it.
    """

    root: int
    target: int
    name: str


class PeerSend(NamedTuple):
    """One transfer: step, chunk and ranks, and which units of the chunk.

    ``adds`` if the receiver adds it; ``through`` if it is said to go through switches.
    """

    step: int
    chunk: int
    tail: int
    head: int
    adds: bool = False
    through: bool = False
    first: int = 0
    amount: int = 1


@dataclass(frozen=True, slots=True)
class PeerTransfers:
    """A file, read.

    Parameters
    ----------
    tool : str
        Who writes such files.
    collective : str
        By our names.
    gpus : tuple of int
        The file's number of each rank.
    chunks : tuple of PeerChunk
        All of one size.
    units : int
        Of each chunk.
    whole : int
        Units of the data, as nccl-tests count it.
    sends : tuple of PeerSend
        In any order.
    step_word : str
        What the file calls a step.
    """

    tool: str
    collective: str
    gpus: tuple[int, ...]
    chunks: tuple[PeerChunk, ...] = field(repr=False)
    units: int
    whole: int
    sends: tuple[PeerSend, ...] = field(repr=False)
    step_word: str = "step"

    @property
    def root(self) -> int | None:
        """The rank that has, or gets, all the data of a broadcast or reduce."""
        return self.chunks[0].root if self.collective in ("broadcast", "reduce") else None
