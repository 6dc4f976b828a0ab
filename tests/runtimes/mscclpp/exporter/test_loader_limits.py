"""Limits of plans."""

from dataclasses import replace

import pytest

from forestcoll.runtimes.mscclpp import Operation, Plan, PlanGpu, PlanThreadblock
from forestcoll.runtimes.mscclpp.exporter.loader_limits import excess_of

NOP = Operation("nop")


def plan(block: PlanThreadblock, many: int = 1) -> Plan:
    return Plan("a", "allreduce", "Simple", False, (PlanGpu(1, 1, 0, (block,) * many),))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (plan(PlanThreadblock(()), 109), "109 threadblocks of a GPU, and 108 are the most"),
        (plan(PlanThreadblock((NOP,) * 65)), "65 operations of a threadblock, and 64 are the most"),
        (plan(PlanThreadblock((), tuple(range(17)))), "17 channels of a threadblock, and 16"),
        (
            plan(PlanThreadblock((), switch_channels=tuple(range(17)))),
            "17 switch channels of a threadblock, and 16",
        ),
        (
            plan(PlanThreadblock((), memory_buffers=tuple(range(17)))),
            "17 remote buffers of a threadblock, and 16",
        ),
    ],
)
def test_every_limit_is_named(made: Plan, message: str) -> None:
    assert message in str(excess_of(made))


def test_within_the_limits_nothing_is_too_much() -> None:
    block = PlanThreadblock((NOP,) * 64, tuple(range(16)))
    assert excess_of(plan(block, 108)) is None
    assert excess_of(replace(plan(block, 132)), 132) is None
