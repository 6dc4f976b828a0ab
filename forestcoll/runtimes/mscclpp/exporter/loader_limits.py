"""Limits of the MSCCL++ loader and executor."""

from __future__ import annotations

from collections.abc import Iterator

from forestcoll.runtimes.export_limits import Excess, first_broken
from forestcoll.runtimes.mscclpp.execution_plan import Plan

__all__ = [
    "BLOCK_CHANNELS", "BLOCK_OPERATIONS", "GPU_THREADBLOCKS", "IDS", "MOST_BUFFER_BYTES", "SPANS",
    "excess_of",
]  # fmt: skip

BLOCK_OPERATIONS = 64
"""Operations of a threadblock."""

BLOCK_CHANNELS = 16
"""Memory channels of a threadblock; also remote buffers, and switch channels."""

IDS = 8
"""Channels of one signal or wait; semaphores, too, of which there may be more."""

SPANS = 10
"""Sources, and targets, of an operation."""

GPU_THREADBLOCKS = 108
"""Threadblocks of a GPU: they must all run at once, one on each multiprocessor of an A100."""

MOST_BUFFER_BYTES = 2**32 - 1
"""Offsets and sizes are 32 bits."""


def excess_of(plan: Plan, most_threadblocks: int = GPU_THREADBLOCKS) -> Excess | None:
    """Return the first limit that a plan breaks, with its largest need."""
    found = (
        Excess("threadblocks of a GPU", _most_blocks(plan), most_threadblocks),
        *_of_blocks(plan),
    )
    return first_broken(found)


def _most_blocks(plan: Plan) -> int:
    return max(len(gpu.threadblocks) for gpu in plan.gpus)


def _of_blocks(plan: Plan) -> Iterator[Excess]:
    blocks = [block for gpu in plan.gpus for block in gpu.threadblocks]
    for what, most, needed in (
        ("operations", BLOCK_OPERATIONS, [len(one.operations) for one in blocks]),
        ("channels", BLOCK_CHANNELS, [len(one.memory_channels) for one in blocks]),
        ("port channels", BLOCK_CHANNELS, [len(one.port_channels) for one in blocks]),
        ("switch channels", BLOCK_CHANNELS, [len(one.switch_channels) for one in blocks]),
        ("remote buffers", BLOCK_CHANNELS, [len(one.memory_buffers) for one in blocks]),
        ("remote buffers of ports", BLOCK_CHANNELS, [len(one.port_buffers) for one in blocks]),
    ):
        yield Excess(f"{what} of a threadblock", max(needed, default=0), most)
