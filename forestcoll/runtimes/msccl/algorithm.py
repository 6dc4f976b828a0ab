"""MSCCL algorithm: the instructions of each threadblock of each GPU.

A threadblock sends to one GPU at most and receives from one at most, over one channel. The data
of a call is cut into loops of ``chunks_per_loop`` chunks; offsets and counts are in chunks.
The executor runs the program for each slice of each loop, without a barrier between slices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = [
    "ALIASES", "COLLECTIVES", "CUSTOM", "PROTOCOLS", "Algorithm", "Gpu", "Instruction",
    "Threadblock",
]  # fmt: skip

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

CUSTOM = "custom"
"""A collective of the user's own, for ``ncclCustomCollective`` of microsoft/msccl. Nothing says
what its result is; its buffers have ``chunks_per_loop`` chunks."""


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
        Number of the threadblock of the same GPU to wait for; -1 for none.
    waits_step : int
        The step of that threadblock that must be done.
    is_waited_for : bool
        Whether this step signals others that it is done (``hasdep``).
    line : int
        Line of the file, from 1 up; 0 without a file.
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
    """One threadblock; its number is its position in its GPU.

    Parameters
    ----------
    send, receive : int
        The GPU that it sends to and the one that it receives from; -1 for none.
    channel : int
        Of both.
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
    """The program of one GPU; its rank is its position in the algorithm.

    Parameters
    ----------
    input_chunks, output_chunks, scratch_chunks : int
        The chunks of its buffers.
    line : int
        As of :class:`Instruction`.
    copies : tuple of pairs of int
        Elements ``copy`` of SCCL's tools: one chunk of the input and its place in the output, which
        are copied before all steps. No executor of MSCCL knows them.
    """

    input_chunks: int
    output_chunks: int
    scratch_chunks: int
    threadblocks: tuple[Threadblock, ...] = field(repr=False)
    line: int = field(default=0, compare=False)
    copies: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Algorithm:
    """The content of an MSCCL file.

    Parameters
    ----------
    protocol : str
        One of :data:`PROTOCOLS`.
    channels : int
        Number of channels; channel numbers of threadblocks are below it.
    chunks_per_loop : int
        Number of chunks of the data of a call: of all GPUs together in an allgather,
        reduce-scatter or all-to-all.
    collective : str
        As in the file: one of :data:`COLLECTIVES` or :data:`ALIASES`, or :data:`CUSTOM`.
    in_place, out_of_place : bool
        The kinds of calls for which it is meant.
    min_bytes, max_bytes : int
        The smallest and the largest size of the data for which the runtime may choose it.
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
