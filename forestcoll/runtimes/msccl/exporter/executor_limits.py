"""Limits of the MSCCL executor: chunks, channels, threadblocks, steps, elements."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from forestcoll.errors import ExportError
from forestcoll.runtimes.export_limits import Excess, first_broken
from forestcoll.runtimes.msccl.algorithm import Algorithm

__all__ = [
    "BLOCK_STEPS", "CHANNELS", "CHANNEL_THREADBLOCKS", "GPU_ELEMENTS", "GPU_THREADBLOCKS",
    "LAST_OFFSET", "STEP_CHUNKS", "Needs", "check_limits", "excess_of",
]  # fmt: skip

BLOCK_STEPS = 64
"""Steps of a threadblock."""

STEP_CHUNKS = 71
"""Chunks that a step moves."""

CHANNELS = 32
"""Channels."""

CHANNEL_THREADBLOCKS = 32
"""Threadblocks of a GPU that send or receive on one channel."""

GPU_THREADBLOCKS = 108
"""Threadblocks of a GPU: they must all run at once, one on each multiprocessor of an A100."""

GPU_ELEMENTS = 4095
"""Elements of a file that the executor keeps for a GPU: ``algo``, every ``gpu``, its own others."""

LAST_OFFSET = 2**15 - 1
"""Chunks are counted in 16 bits."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The largest need of an algorithm for each limited resource; 0 if not counted.

    Parameters
    ----------
    chunks : int
        In a buffer.
    channel_threadblocks : int
        Of a GPU, that send or receive on one channel.
    threadblocks : int
        Of a GPU.
    steps : int
        Of a threadblock.
    elements : int
        Of the file that are kept for a GPU.
    """

    chunks: int = 0
    channels: int = 0
    channel_threadblocks: int = 0
    threadblocks: int = 0
    steps: int = 0
    elements: int = 0

    def excess(self) -> Excess | None:
        """Return the first broken limit, or None."""
        found = (
            Excess("chunks in a buffer", self.chunks, LAST_OFFSET + 1),
            Excess("channels", self.channels, CHANNELS),
            Excess(
                "threadblocks of a GPU on one channel",
                self.channel_threadblocks,
                CHANNEL_THREADBLOCKS,
            ),
            Excess("threadblocks of a GPU", self.threadblocks, GPU_THREADBLOCKS),
            Excess("steps of a threadblock", self.steps, BLOCK_STEPS),
            Excess("elements for a GPU in the file", self.elements, GPU_ELEMENTS),
        )
        return first_broken(found)


def excess_of(algorithm: Algorithm) -> Excess | None:
    """Return the first limit that an algorithm breaks, with its largest need."""
    gpus = algorithm.gpus
    blocks = [block for gpu in gpus for block in gpu.threadblocks]
    on_channel = [
        many
        for gpu in gpus
        for many in Counter(
            block.channel for block in gpu.threadblocks if max(block.send, block.receive) >= 0
        ).values()
    ]
    chunks = [max(gpu.input_chunks, gpu.output_chunks, gpu.scratch_chunks) for gpu in gpus]
    elements = [
        1 + len(gpus) + sum(1 + len(block.instructions) for block in gpu.threadblocks)
        for gpu in gpus
    ]
    return Needs(
        chunks=max(chunks, default=0),
        channels=algorithm.channels,
        channel_threadblocks=max(on_channel, default=0),
        threadblocks=max((len(gpu.threadblocks) for gpu in gpus), default=0),
        steps=max((len(block.instructions) for block in blocks), default=0),
        elements=max(elements, default=0),
    ).excess()


def check_limits(algorithm: Algorithm) -> None:
    """Reject an algorithm that the runtime would reject.

    Raises ExportError if it breaks a limit.
    """
    excess = excess_of(algorithm)
    if excess is not None:
        raise ExportError(f"{algorithm.name} needs {excess}")
