"""Writing plans."""

import json

import pytest

from forestcoll.runtimes.mscclpp import (
    Loop,
    Operation,
    Plan,
    PlanGpu,
    PlanThreadblock,
    RemoteBuffer,
    Span,
    SwitchGroup,
    parse_plan,
    read_plan,
    written_plan,
)
from tests.runtimes.mscclpp.plans import BROADCAST, GATHER, document


@pytest.mark.parametrize("path", [GATHER, BROADCAST], ids=lambda path: path.stem)
def test_plans_are_written_with_all_keys(path) -> None:  # type: ignore[no-untyped-def]
    """Only what the loader assumes is added."""
    plan = read_plan(path).plan
    again = json.loads(written_plan(plan))
    assert parse_plan(written_plan(plan)).plan == plan
    for gpu, before in zip(again["gpus"], document(path)["gpus"], strict=True):
        assert gpu.pop("semaphores") == []
        for block in gpu["threadblocks"]:
            if not block["remote_buffer_refs"]:
                del block["remote_buffer_refs"]
        assert gpu == before


def test_everything_that_can_be_said_is_written_and_read_again() -> None:
    put = Operation("put", (Span("i", 0, 2),), (Span("remote", 1, 2, 0),), "port", (0,))
    inner = Operation("pipeline", loop=Loop(64, 2), inner=(put, Operation("nop")))
    operations = (
        Operation("barrier", barrier=3, meeting=2),
        Operation("sem_acquire", semaphores=(1, 0)),
        Operation("copy", (Span("i", 0, 4),), (Span("s", 1, 4),), part=1, parts=3),
        Operation("gstore", (Span("i", 0, 1),), (Span("switch", 2, 1, 0),), "switch"),
        inner,
    )
    block = PlanThreadblock(operations, (0,), (1,), (0,), (1,), (0,))
    gpu = PlanGpu(
        *(4, 4, 8),
        (block, PlanThreadblock(())),
        memory_channels=(1,),
        port_channels=(1, 1),
        switch_channels=(SwitchGroup("o", (0, 1)),),
        remote_buffers=(RemoteBuffer(1, "o", ("memory", "port")),),
        semaphores=(0, -2),
    )
    plan = Plan("all", "my own", "LL", True, (gpu, gpu), True, True, 32, 512, 8, 2**40)
    assert parse_plan(written_plan(plan)).plan == plan
