"""Checks against the MSCCL executor's limits and its unsupported steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np

from forestcoll.runtimes.interpretation.findings import Finding, Kind, Place
from forestcoll.runtimes.interpretation.multiprocessors import blocks_fault
from forestcoll.runtimes.msccl.algorithm import Algorithm, Gpu, Threadblock
from forestcoll.runtimes.msccl.interpreter.buffer_cells import collective_of
from forestcoll.runtimes.msccl.interpreter.call_sizes import MOST_COUNT
from forestcoll.runtimes.msccl.interpreter.merged_steps import (
    POPS,
    PUSHES,
    READS,
    WRITES,
    MergedSteps,
)

__all__ = [
    "MOST_CHANNELS", "MOST_ELEMENTS", "MOST_OFFSET", "MOST_PEERS", "MOST_STEPS",
    "check_connections", "check_limits", "check_steps",
]  # fmt: skip

MOST_STEPS: Final = 64
"""Of a threadblock."""

MOST_CHANNELS: Final = 32

MOST_PEERS: Final = 32
"""Threadblocks of a GPU that send over one channel, and that receive over it."""

MOST_ELEMENTS: Final = 4095
"""That the executor's reader keeps for one GPU: the algo, all gpus, its own tbs and steps."""

MOST_OFFSET: Final = 2**15 - 1


def check_limits(algorithm: Algorithm, most_blocks: int | None = None) -> Iterator[Finding]:
    """Report exceeded limits, and threadblocks that share one end of a FIFO."""
    chunks, gpus = algorithm.chunks_per_loop, len(algorithm.gpus)
    collective = collective_of(algorithm)
    if collective in ("allgather", "reducescatter", "alltoall") and chunks % gpus:
        message = (
            f"nchunksperloop is {chunks}; for {collective} of {gpus} GPUs it must be a multiple of "
            f"{gpus}"
        )
        yield Finding(Kind.BOUNDS, message)
    if algorithm.channels > MOST_CHANNELS:
        message = f"{algorithm.channels} channels; the executor has {MOST_CHANNELS}"
        yield Finding(Kind.LIMIT, message)
    for rank, gpu in enumerate(algorithm.gpus):
        place = Place(rank, line=gpu.line)
        if (fault := blocks_fault(len(gpu.threadblocks), most_blocks)) is not None:
            yield Finding.at(fault[0], f"{place}: {fault[1]}", place)
        for message in _too_many(gpu, gpus):
            yield Finding.at(Kind.LIMIT, f"{place}: {message}", place)
        for number, block in enumerate(gpu.threadblocks):
            here = Place(rank, number, line=block.line)
            for message in _block_faults(algorithm, rank, block):
                yield Finding.at(Kind.LIMIT, f"{here}: {message}", here)
        yield from _shared(rank, gpu)


def _too_many(gpu: Gpu, gpus: int) -> Iterator[str]:
    blocks = gpu.threadblocks
    if gpu.scratch_chunks > MOST_OFFSET + 1:
        yield (
            f"s_chunks is {gpu.scratch_chunks}; steps reach {MOST_OFFSET + 1} at most, and the "
            f"executor allocates all of them"
        )
    elements = 1 + gpus + len(blocks) + sum(len(block.instructions) for block in blocks)
    if elements > MOST_ELEMENTS:
        yield (
            f"{elements} elements with algo, gpus, tbs and steps; the executor reads at most "
            f"{MOST_ELEMENTS}"
        )
    for words, peers in (
        ("send", [block.channel for block in blocks if block.send >= 0]),
        ("receive", [block.channel for block in blocks if block.receive >= 0]),
    ):
        for channel, many in sorted(Counter(peers).items()):
            if many > MOST_PEERS:
                yield f"{many} threadblocks {words} over channel {channel}; at most {MOST_PEERS}"


def _block_faults(algorithm: Algorithm, rank: int, block: Threadblock) -> Iterator[str]:
    if len(block.instructions) > MOST_STEPS:
        yield f"{len(block.instructions)} steps; there must be at most {MOST_STEPS}"
    if not 0 <= block.channel < min(algorithm.channels, MOST_CHANNELS):
        most = min(algorithm.channels, MOST_CHANNELS) - 1
        yield f"is on channel {block.channel}; there are 0 to {most}"
    for word, peer in (("sends to", block.send), ("receives from", block.receive)):
        if peer == rank or not -1 <= peer < len(algorithm.gpus):
            yield f"{word} GPU {peer}; it must be another of the {len(algorithm.gpus)}, or -1"


def _shared(rank: int, gpu: Gpu) -> Iterator[Finding]:
    """Report two threadblocks at one end of a FIFO."""
    seen: dict[tuple[str, int, int], Place] = {}
    for number, block in enumerate(gpu.threadblocks):
        place = Place(rank, number, line=block.line)
        for word, peer in (("send to", block.send), ("receive from", block.receive)):
            if peer < 0:
                continue
            other = seen.setdefault((word, peer, block.channel), place)
            if other != place:
                message = (
                    f"{place} and {other} both {word} GPU {peer} over channel {block.channel}; "
                    "give one of them another channel"
                )
                yield Finding.at(Kind.LIMIT, message, place, other)


def check_connections(algorithm: Algorithm) -> Iterator[Finding]:
    """Report connections that only one of two GPUs opens: NCCL waits for the other for ever."""
    ends = {
        word: {
            (rank, peer, block.channel): Place(rank, number, line=block.line)
            for rank, gpu in enumerate(algorithm.gpus)
            for number, block in enumerate(gpu.threadblocks)
            if (peer := getattr(block, word)) >= 0
        }
        for word in ("send", "receive")
    }
    for word, other, doing in (("send", "receive", "recv"), ("receive", "send", "send")):
        for (rank, peer, channel), place in ends[word].items():
            if (peer, rank, channel) not in ends[other] and peer < len(algorithm.gpus):
                message = (
                    f"{place}: opens a connection with GPU {peer} over channel {channel}, and no "
                    f"threadblock of that has {doing}={rank}; the runtime waits for it for ever"
                )
                yield Finding.at(Kind.PAIRING, message, place)


def check_steps(steps: MergedSteps) -> Iterator[Finding]:
    """Report single steps that the executor rejects."""
    no_send = PUSHES[steps.kind] & (steps.send[steps.block] < 0)
    no_receive = POPS[steps.kind] & (steps.receive[steps.block] < 0)
    far = READS[steps.kind] & (steps.source_offset > MOST_OFFSET)
    far |= WRITES[steps.kind] & (steps.target_offset > MOST_OFFSET)
    for wrong, message in (
        (no_send, "sends, but its threadblock has no GPU to send to"),
        (no_receive, "receives, but its threadblock has no GPU to receive from"),
        (steps.count > MOST_COUNT, f"its cnt must be at most {MOST_COUNT}"),
        (far, f"its offsets must be at most {MOST_OFFSET}"),
    ):
        for step in np.flatnonzero(wrong):
            yield Finding.at(Kind.LIMIT, f"{steps.name(step)}: {message}", steps.place(step))
