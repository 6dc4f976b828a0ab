"""Transfers of another synthesizer's file, with the file's own numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["ToolChunk", "ToolSend", "ToolTransfers"]


class ToolChunk(NamedTuple):
    """A chunk: its initial owner (final one in a reduction), its receiver, its name in the file.

    Owners and receivers are ranks; -1 stands for all ranks.
    """

    root: int
    target: int
    name: str


class ToolSend(NamedTuple):
    """One transfer: step, chunk, ranks and the units of the chunk.

    ``adds``: the receiver adds it; ``through``: the file sends it through switches.
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
class ToolTransfers:
    """The content of a file.

    Parameters
    ----------
    tool : str
        The tool that writes such files.
    collective : str
        By ForestColl's names.
    gpus : tuple of int
        The file's number of each rank.
    chunks : tuple of ToolChunk
        All of one size.
    units : int
        Of each chunk.
    whole : int
        Units of all data, as nccl-tests count it.
    sends : tuple of ToolSend
        In any order.
    step_word : str
        The file's word for a step.
    """

    tool: str
    collective: str
    gpus: tuple[int, ...]
    chunks: tuple[ToolChunk, ...] = field(repr=False)
    units: int
    whole: int
    sends: tuple[ToolSend, ...] = field(repr=False)
    step_word: str = "step"

    @property
    def root(self) -> int | None:
        """The rank that has, or gets, all the data of a broadcast or reduce."""
        return self.chunks[0].root if self.collective in ("broadcast", "reduce") else None
