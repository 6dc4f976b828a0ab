"""Limits of the runtime, and references to what is not there."""

from dataclasses import replace
from typing import Any

import pytest

from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.mscclpp import Operation, Plan, RemoteBuffer, SwitchGroup
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from forestcoll.runtimes.mscclpp.interpreter.runtime_limits import check_limits, check_references
from tests.runtimes.mscclpp.interpreter.hand_plans import (
    NOP,
    alone,
    copy,
    data,
    meet,
    own,
    pair,
    share,
    swap,
    tell,
    there,
)

RIGHT = pair(swap(), swap())


def with_gpu(plan: Plan, **changes: Any) -> Plan:
    return replace(plan, gpus=(replace(plan.gpus[0], **changes), *plan.gpus[1:]))


def with_block(plan: Plan, **changes: Any) -> Plan:
    block = replace(plan.gpus[0].threadblocks[0], **changes)
    return with_gpu(plan, threadblocks=(block,))


def test_right_plans_have_no_findings() -> None:
    assert not list(check_limits(RIGHT, 1))
    assert not list(check_references(RIGHT))


@pytest.mark.parametrize(
    ("plan", "finding"),
    [
        (replace(RIGHT, block_threads=1025), "num_threads_per_block is 1025; at most 1024"),
        (alone([NOP], [NOP]), "GPU 0: 2 threadblocks; there must be at most 1"),
        (alone([NOP] * 65), "GPU 0, threadblock 0: 65 operations, those in pipelines counted"),
        (with_block(RIGHT, memory_channels=(0,) * 17), "17 memory channels; at most 16"),
        (with_block(RIGHT, memory_buffers=(0,) * 17), "17 remote buffers; at most 16"),
        (alone([tell("wait", *range(9))]), "operation 0: 9 channel_ids; at most 8"),
        (alone([Operation("re", (own("i0"),) * 11, (own("o0"),))]), "11 in src_buff; at most 10"),
        (alone([share("sem_release", *range(17))]), "17 semaphore_ids; at most 16"),
        (alone([meet(16, 1)]), "barrier_id is 16; at most 15"),
    ],
)
def test_every_limit_is_reported_with_its_number(plan: Plan, finding: str) -> None:
    found = [one for one in check_limits(plan, 1) if finding in one.message]
    assert len(found) == 1
    assert found[0].kind is Kind.LIMIT


GROUP = SwitchGroup("o", (0, 1))


@pytest.mark.parametrize(
    ("plan", "finding"),
    [
        (with_gpu(RIGHT, memory_channels=(1, 2)), "a memory channel of GPU 2; it must be another"),
        (with_gpu(RIGHT, port_channels=(0,)), "a port channel of GPU 0"),
        (with_gpu(RIGHT, remote_buffers=(RemoteBuffer(9, "o", ()),) * 3), "remote buffer of GPU 9"),
        (with_gpu(RIGHT, switch_channels=(SwitchGroup("o", (1,)),)), "channel of GPUs 1; it must"),
        (
            with_gpu(RIGHT, switch_channels=(GROUP,)),
            "GPU 1 does not list the switch channel",
        ),
        (with_gpu(RIGHT, switch_channels=(SwitchGroup("o", (0, 0)),)), "one is named twice"),
        (with_block(RIGHT, memory_channels=(0, 2)), "names memory channel 2; its GPU has 2"),
        (with_block(RIGHT, memory_channels=(0, 0)), "names a memory channel twice"),
        (with_block(RIGHT, memory_buffers=(0, 1, 3)), "names remote buffer 3; its GPU has 3"),
        (
            with_gpu(RIGHT, remote_buffers=(RemoteBuffer(1, "i", ("port",)),) * 3),
            "names remote buffer 0, which is not for memory channels",
        ),
        (pair([tell("signal", 2)], []), "memory channel 2; its threadblock names 2"),
        (pair([tell("signal")], []), "it names no channel"),
        (pair([share("sem_acquire", 0)], []), "semaphore 0; its GPU has 0"),
        (pair([share("sem_acquire")], []), "it names no semaphore"),
        (pair([data("put", [own("i0")], [there(3, 0)])], []), "remote buffer 3; its threadblock"),
    ],
)
def test_dangling_references_are_reported_and_stop_execution(plan: Plan, finding: str) -> None:
    found = interpret_plan(plan)
    assert any(finding in one.message for one in found.findings if one.kind is Kind.REFERENCE)
    assert not found.runs
    assert not found.is_right


def test_switch_channels_are_listed_in_one_order() -> None:
    """The second GPU lists the first of two groups last."""
    groups = (GROUP, SwitchGroup("s", (0, 1)))
    one, other = RIGHT.gpus
    plan = replace(
        RIGHT,
        gpus=(replace(one, switch_channels=groups), replace(other, switch_channels=groups[::-1])),
    )
    (finding,) = check_references(plan)
    assert "in orders that do not go together" in finding.message
    assert not list(check_references(alone([copy("i0", "o0")])))
