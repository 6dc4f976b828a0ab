"""An algorithm of MSCCL: what each threadblock of each GPU does, one instruction after another.

A threadblock sends to one GPU at most and receives from one at most, over one channel. The data
of a call is cut into loops of ``chunks_per_loop`` chunks; offsets and counts are chunks.
The program is run for each slice of each loop, without a barrier between.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = [
    "ALIASES",
    "COLLECTIVES",
    "PROTOCOLS",
    "Algorithm",
    "Gpu",
    "Instruction",
    "Threadblock",
]

PROTOCOLS = ("Simple", "LL", "LL128")
"""How the runtime moves data."""

COLLECTIVES: Mapping[str, str] = MappingProxyType(
    {
        "allgather": "allgather",
        "reducescatter": "reduce-scatter",
        "allreduce": "allreduce",
        "broadcast": "broadcast",
        "reduce": "reduce",
        "alltoall": "all-to-all",
    }
)
"""Our names by those that the current executor accepts, which are spelt just so."""

ALIASES: Mapping[str, str] = MappingProxyType({"reduce_scatter": "reducescatter"})
"""What other tools write, which the current executor does not accept."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step of a threadblock.

    Parameters
    ----------
    kind : str
        "s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re" or "nop", as in the file.
    source, target : str
        Buffers: "i" (input), "o" (output) or "s" (scratch).
    source_offset, target_offset, count : int
        In chunks.
    waits_for : int
        Number of the threadblock of the same GPU to wait for, -1: of none.
    waits_step : int
        And the step in it that must have been done.
    is_waited_for : bool
        Whether this step tells others that it is done (``hasdep``).
    line : int
        Of the file, from 1 up; 0 if it comes from none.
    """

    kind: str
    source: str
    source_offset: int
    target: str
    target_offset: int
    count: int
    waits_for: int = -1
    waits_step: int = -1
    is_waited_for: bool = False
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Threadblock:
    """What one threadblock does; its number is its place in its GPU.

    Parameters
    ----------
    send, receive : int
        The GPU that it sends to and the one that it receives from; -1: none.
    channel : int
        Of both.
    instructions : tuple of Instruction
    line : int
        As of :class:`Instruction`.
    """

    send: int
    receive: int
    channel: int
    instructions: tuple[Instruction, ...] = field(repr=False)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Gpu:
    """What one GPU does; its rank is its place in the algorithm.

    Parameters
    ----------
    input_chunks, output_chunks, scratch_chunks : int
        The chunks of its buffers.
    threadblocks : tuple of Threadblock
    line : int
        As of :class:`Instruction`.
    """

    input_chunks: int
    output_chunks: int
    scratch_chunks: int
    threadblocks: tuple[Threadblock, ...] = field(repr=False)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Algorithm:
    """All that a file of MSCCL says.

    Parameters
    ----------
    name : str
    protocol : str
        One of :data:`PROTOCOLS`.
    channels : int
        How many channels there are; those of threadblocks are below it.
    chunks_per_loop : int
        Into how many chunks the data of a call is cut, of all GPUs together in an allgather,
        reduce-scatter or all-to-all.
    collective : str
        As in the file: one of :data:`COLLECTIVES` or :data:`ALIASES`.
    in_place, out_of_place : bool
        For which calls it is meant.
    min_bytes, max_bytes : int
        Between which sizes of the data the runtime may take it, both included.
    gpus : tuple of Gpu
    """

    name: str
    protocol: str
    channels: int
    chunks_per_loop: int
    collective: str
    in_place: bool
    out_of_place: bool
    min_bytes: int
    max_bytes: int
    gpus: tuple[Gpu, ...] = field(repr=False)
