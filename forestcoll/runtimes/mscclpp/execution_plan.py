"""MSCCL++ execution plan: the operations of each threadblock of each GPU.

A GPU has channels to others, remote buffers that it may access, and its own semaphores. A
threadblock lists those that it uses, and its operations index this list: channel 2 of an operation
is the third of its threadblock. Offsets and sizes are in chunks, all of one size in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = [
    "COLLECTIVES", "KINDS", "NO_MOST_BYTES", "Loop", "Operation", "Plan", "PlanGpu",
    "PlanThreadblock", "RemoteBuffer", "Span", "SwitchGroup",
]  # fmt: skip

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
"""Our names by those of plans, in which the field is free text."""

NO_MOST_BYTES = 2**64 - 1
"""The largest size of a plan that names none."""

KINDS = (
    *("nop", "barrier", "signal", "wait", "rlxsignal", "rlxwait", "flush", "copy", "put", "pws"),
    *("pwsf", "get", "re", "res", "rre", "rres", "cpkt", "upkt", "ppkt", "rppkt", "repkt"),
    *("respkt", "recpkt", "recspkt", "glres", "gstore", "gstorepkt", "sem_acquire"),
    *("sem_release", "pipeline"),
)
"""The operations that the executor knows, by their names in a file."""


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive chunks of a local or remote buffer.

    Parameters
    ----------
    where : str
        "i" (input), "o" (output) or "s" (scratch) of the GPU itself; "remote", a buffer of another
        GPU in reach of a memory channel; "port", one that port channels write; "switch", that of
        all GPUs of a switch channel.
    index, size : int
        The first chunk, and the number of chunks.
    number : int
        Index of the remote buffer (of memory or of port channels) or switch channel in the
        threadblock's list; 0 for a local buffer.
    """

    where: str
    index: int
    size: int
    number: int = 0


@dataclass(frozen=True, slots=True)
class Loop:
    """Loop of a pipeline: the chunks to process, and the bytes of each round."""

    unit_bytes: int
    chunks: int


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a threadblock.

    Parameters
    ----------
    kind : str
        One of :data:`KINDS`.
    sources, targets : tuple of Span
        ``src_buff`` and ``dst_buff``.
    channel_type : str
        "memory", "port" or "switch"; "" if none is given.
    channels, semaphores : tuple of int
        Channels by their position in the threadblock; semaphores by that in the GPU.
    barrier, meeting : int
        ``barrier_id`` and ``num_threadblocks`` of a barrier.
    part, parts : int
        ``tbg_info``: the number of this threadblock's part of every span, and the number of parts.
    inner : tuple of Operation
        Of a pipeline.
    """

    kind: str
    sources: tuple[Span, ...] = ()
    targets: tuple[Span, ...] = ()
    channel_type: str = ""
    channels: tuple[int, ...] = ()
    semaphores: tuple[int, ...] = ()
    barrier: int = 0
    meeting: int = 0
    part: int = 0
    parts: int = 1
    loop: Loop | None = None
    inner: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanThreadblock:
    """One threadblock; its number is its position in its GPU.

    Parameters
    ----------
    memory_channels, port_channels, switch_channels : tuple of int
        Those of its GPU that it uses.
    memory_buffers, port_buffers : tuple of int
        The remote buffers of its GPU that it uses.
    """

    operations: tuple[Operation, ...] = field(repr=False)
    memory_channels: tuple[int, ...] = ()
    port_channels: tuple[int, ...] = ()
    switch_channels: tuple[int, ...] = ()
    memory_buffers: tuple[int, ...] = ()
    port_buffers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RemoteBuffer:
    """A buffer of another GPU, and the types of channels that may access it."""

    rank: int
    buffer: str
    access: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SwitchGroup:
    """A switch channel: a buffer of some GPUs to which a switch multicasts or which it reduces."""

    buffer: str
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlanGpu:
    """The program of one GPU; its rank is its position in the plan.

    Parameters
    ----------
    input_chunks, output_chunks, scratch_chunks : int
        The chunks of its buffers.
    memory_channels, port_channels : tuple of int
        The GPU at the other end of each; the j-th of a type from one GPU to another is tied to the
        j-th of that type back.
    semaphores : tuple of int
        The initial value of each.
    """

    input_chunks: int
    output_chunks: int
    scratch_chunks: int
    threadblocks: tuple[PlanThreadblock, ...] = field(repr=False)
    memory_channels: tuple[int, ...] = field(default=(), repr=False)
    port_channels: tuple[int, ...] = field(default=(), repr=False)
    switch_channels: tuple[SwitchGroup, ...] = field(default=(), repr=False)
    remote_buffers: tuple[RemoteBuffer, ...] = field(default=(), repr=False)
    semaphores: tuple[int, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """The content of an MSCCL++ file.

    Parameters
    ----------
    name : str
        A process treats plans of one name as one plan.
    collective : str
        Free text; known collectives are in :data:`COLLECTIVES`.
    protocol : str
        "LL" (uses twice the scratch), or anything else.
    in_place : bool
        The intended kind of call; the executor ignores it.
    buffer_alignment : int
        Bytes; chunks are multiples of it.
    block_threads : int
        ``num_threads_per_block``.
    min_bytes, max_bytes : int
        The smallest and the largest size of its calls: of the output in an allgather, else of the
        input.
    """

    name: str
    collective: str
    protocol: str
    in_place: bool
    gpus: tuple[PlanGpu, ...] = field(repr=False)
    reuse_resources: bool = False
    double_scratch: bool = False
    buffer_alignment: int = 16
    block_threads: int = 1024
    min_bytes: int = 0
    max_bytes: int = NO_MOST_BYTES
