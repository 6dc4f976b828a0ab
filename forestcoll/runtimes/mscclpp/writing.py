"""MSCCL++ plan writer, with all keys that the loader requires."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from forestcoll.runtimes.mscclpp.execution_plan import (
    Operation,
    Plan,
    PlanGpu,
    PlanThreadblock,
    Span,
)

__all__ = ["written_plan"]


def written_plan(plan: Plan) -> str:
    """Return the JSON of a plan, one line per operation; deterministic."""
    return "\n".join([*_plan_lines(plan), ""])


def _plan_lines(plan: Plan) -> Iterator[str]:
    head = {
        "name": plan.name,
        "collective": plan.collective,
        "protocol": plan.protocol,
        "inplace": plan.in_place,
        "reuse_resources": plan.reuse_resources,
        "use_double_scratch_buffer": plan.double_scratch,
        "buffer_alignment": plan.buffer_alignment,
        "num_threads_per_block": plan.block_threads,
        "min_message_size": plan.min_bytes,
        "max_message_size": plan.max_bytes,
    }
    yield "{"
    yield from (f"{_json(key)}:{_json(value)}," for key, value in head.items())
    yield '"gpus":['
    for rank, gpu in enumerate(plan.gpus):
        yield from _gpu_lines(rank, gpu, "," if rank + 1 < len(plan.gpus) else "")
    yield "]}"


def _gpu_lines(rank: int, gpu: PlanGpu, comma: str) -> Iterator[str]:
    head = {
        "id": rank,
        "input_chunks": gpu.input_chunks,
        "output_chunks": gpu.output_chunks,
        "scratch_chunks": gpu.scratch_chunks,
        "channels": list(_channels(gpu)),
        "remote_buffers": [
            {"rank": one.rank, "type": one.buffer, "access_channel_types": list(one.access)}
            for one in gpu.remote_buffers
        ],
        "semaphores": [{"init_value": value} for value in gpu.semaphores],
    }
    yield f'{_json(head)[:-1]},"threadblocks":['
    for number, block in enumerate(gpu.threadblocks):
        last = number + 1 == len(gpu.threadblocks)
        yield from _block_lines(number, block, "" if last else ",")
    yield f"]}}{comma}"


def _channels(gpu: PlanGpu) -> Iterator[dict[str, Any]]:
    for kind, peers in (("memory", gpu.memory_channels), ("port", gpu.port_channels)):
        if peers:
            yield {"channel_type": kind, "connected_to": list(peers)}
    for one in gpu.switch_channels:
        group = {"size": len(one.ranks), "ranks": list(one.ranks)}
        yield {"channel_type": "switch", "buffer_type": one.buffer, "rank_groups": [group]}


def _block_lines(number: int, block: PlanThreadblock, comma: str) -> Iterator[str]:
    channels = (
        ("memory", block.memory_channels),
        ("port", block.port_channels),
        ("switch", block.switch_channels),
    )
    buffers = (("memory", block.memory_buffers), ("port", block.port_buffers))
    head = {
        "id": number,
        "channels": [
            {"channel_type": kind, "channel_ids": list(ids)} for kind, ids in channels if ids
        ],
        "remote_buffer_refs": [
            {"access_channel_type": kind, "remote_buffer_ids": list(ids)}
            for kind, ids in buffers
            if ids
        ],
    }
    yield f'{_json(head)[:-1]},"ops":['
    rows = [_json(_operation(one)) for one in block.operations]
    yield from (f"{row}," for row in rows[:-1])
    yield from rows[-1:]
    yield f"]}}{comma}"


def _operation(one: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {"name": one.kind}
    if one.loop is not None:
        context = {"unit_size": one.loop.unit_bytes, "num_chunks": one.loop.chunks}
        return {**found, "iter_context": context, "ops": list(map(_operation, one.inner))}
    if one.sources:
        found["src_buff"] = list(map(_span, one.sources))
    if one.targets:
        found["dst_buff"] = list(map(_span, one.targets))
    if one.channel_type:
        found["channel_type"] = one.channel_type
    if one.channels:
        found["channel_ids"] = list(one.channels)
    if one.semaphores:
        found["semaphore_ids"] = list(one.semaphores)
    if one.kind == "barrier":
        found |= {"barrier_id": one.barrier, "num_threadblocks": one.meeting}
    if one.parts > 1:
        found["tbg_info"] = {"tb_id": one.part, "tbg_size": one.parts}
    return found


def _span(one: Span) -> dict[str, Any]:
    place = {
        "remote": {"buffer_id": one.number},
        "port": {"buffer_id": one.number},
        "switch": {"switch_channel_id": one.number},
    }.get(one.where, {"type": one.where})
    return {**place, "index": one.index, "size": one.size}


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
