"""Call sizes: how the runtime splits a call into chunks per transfer and slices.

A slot of a FIFO holds a fixed number of bytes. Larger chunks are moved in slices, and the program
runs once for each. Smaller chunks share a slot. So a step has the most transfers in the largest
call, and the fewest in the smallest. If the counts of sends and receives agree, fewer transfers
per step cannot cause a new deadlock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from forestcoll.runtimes.msccl.algorithm import Algorithm

__all__ = ["FIFO_DEPTH", "MOST_COUNT", "SLOT_BYTES", "Cut", "cuts_of"]

FIFO_DEPTH: Mapping[str, int] = MappingProxyType({"Simple": 2, "LL": 8, "LL128": 8})
"""Transfers that a FIFO holds before its sender waits."""

SLOT_BYTES: Mapping[str, int] = MappingProxyType({"Simple": 2**21, "LL": 2**15, "LL128": 576_000})
"""The data that one transfer holds: buffers of NCCL's sizes, four of eight steps of Simple."""

MOST_COUNT = 71
"""Chunks of a step that the runtime sends at once, at most; also those that a step may have."""

_SLICES = 2
_BROADCAST_SLOT = 2**19  # the runtime counts one step of Simple for these, though it fills four


@dataclass(frozen=True, slots=True)
class Cut:
    """The split of one call.

    Parameters
    ----------
    at_once : int
        Chunks of a step in one transfer.
    slices : int
        Number of runs of the program; two stand for any larger number.
    """

    at_once: int
    slices: int
    words: str


def cuts_of(algorithm: Algorithm) -> tuple[Cut, ...]:
    """Return the largest call, and the smallest if its transfers hold more chunks."""
    slot = SLOT_BYTES[algorithm.protocol]
    counts = [
        step.count
        for gpu in algorithm.gpus
        for block in gpu.threadblocks
        for step in block.instructions
    ]
    most = max(counts, default=1)
    per = algorithm.chunks_per_loop
    largest = _chunk_bytes(algorithm.max_bytes, per) if algorithm.max_bytes else slot * _SLICES
    smallest = min(_chunk_bytes(algorithm.min_bytes, per), largest)
    slices = _SLICES if largest > slot else 1
    grouped = _BROADCAST_SLOT if _is_one_way(algorithm) else slot
    few, many = _at_once(grouped, largest), _at_once(grouped, smallest)
    found = [Cut(few, slices, _words("largest", few, slices))]
    if min(many, most) > min(few, most):
        found.append(Cut(many, 1, _words("smallest", many, 1)))
    return tuple(found)


def _is_one_way(algorithm: Algorithm) -> bool:
    return algorithm.protocol == "Simple" and algorithm.collective in ("broadcast", "reduce")


def _chunk_bytes(data: int, chunks: int) -> int:
    return max(1, -(-data // chunks))


def _at_once(slot: int, chunk: int) -> int:
    return min(max(1, slot // chunk), MOST_COUNT)


def _words(which: str, at_once: int, slices: int) -> str:
    count = "one chunk" if at_once == 1 else f"up to {at_once} chunks"
    return (
        f"the {which} call: {count} a transfer, {'several slices' if slices > 1 else 'one slice'}"
    )
