"""The busiest threadblock, counted by hand."""

from fractions import Fraction

import pytest

from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.mscclpp.execution_plan import (
    Operation,
    Plan,
    PlanGpu,
    PlanThreadblock,
    RemoteBuffer,
    Span,
)
from forestcoll.runtimes.scoring.threadblock_rates import THREADBLOCK_RATES
from forestcoll.runtimes.scoring.threadblock_work import BusiestThreadblock, busiest_threadblock
from tests.runtimes.msccl_programs import Block, xml

A100, H100 = THREADBLOCK_RATES["a100"], THREADBLOCK_RATES["h100"]
HERE, THERE = Span("i", 0, 4), Span("remote", 0, 4)


def of_plan(*operations: Operation) -> BusiestThreadblock:
    """GPU 1 has a threadblock without data and one with these operations; a call has 8 chunks."""
    idle, busy = PlanThreadblock(()), PlanThreadblock(operations, memory_buffers=(0,))
    remote = (RemoteBuffer(0, "i", ("memory",)),)
    gpus = PlanGpu(8, 16, 0, (idle,)), PlanGpu(8, 16, 0, (idle, busy), remote_buffers=remote)
    return busiest_threadblock(Plan("p", "allreduce", "Simple", False, gpus), A100, Fraction(1, 8))


@pytest.mark.parametrize(("protocol", "rate"), [("Simple", 20), ("LL128", 20), ("LL", 10)])
def test_a_step_that_forwards_counts_once(protocol: str, rate: int) -> None:
    """GPU 1 copies 1 chunk, and receives and sends 2 of 3 at once: 3/3 at 20 GB/s, or at 10."""
    first = [Block(send=1).step("s", count=2)]
    second = [
        Block(),
        Block(send=0, receive=0).step("cpy").step("rcs", count=2).step("nop", count=9),
    ]
    text = xml("allgather", [first, second], 3, (3, 3, 0), proto=protocol)
    found = busiest_threadblock(parse_algorithm(text).algorithm, A100, Fraction(1, 3))
    assert (found.gpu, found.threadblock, found.share) == (1, 1, 1)
    assert (found.gb_s, found.algbw_gb_s) == (rate, rate)


def test_the_first_of_equals_is_reported() -> None:
    """Two threadblocks of each GPU send 1 of 2 chunks: 1/2 at 36.7 GB/s are 73.4."""
    gpus = [[Block(send=1 - rank, channel=c).step("s") for c in (0, 1)] for rank in (0, 1)]
    algorithm = parse_algorithm(xml("allgather", gpus, 2, (2, 2, 0))).algorithm
    found = busiest_threadblock(algorithm, H100, Fraction(1, 2))
    assert (found.gpu, found.threadblock, found.share) == (0, 0, Fraction(1, 2))
    assert found.algbw_gb_s == Fraction(367, 5)


def test_work_of_a_plan_is_its_writes_or_remote_reads() -> None:
    """Of 8 chunks: 4 put to two GPUs are 1, 4 read of two GPUs and added are 1, a signal is 0."""
    put = Operation("put", (HERE, HERE), (THERE, THERE), "memory")
    add = Operation("rre", (HERE, THERE, THERE), (HERE,), "memory")
    signal = Operation("signal", channel_type="memory", channels=(0,))
    assert of_plan(put).share == of_plan(add, signal).share == 1
    found = of_plan(put, add, signal)
    assert (found.gpu, found.threadblock, found.share, found.algbw_gb_s) == (1, 1, 2, 10)


def test_a_group_shares_its_work_and_a_pipeline_has_inner_work() -> None:
    """A quarter of 4 chunks of 8 is 1/8; two such copies in a pipeline are 1/4."""
    part = Operation("copy", (HERE,), (HERE,), part=1, parts=4)
    assert of_plan(part).share == Fraction(1, 8)
    assert of_plan(Operation("pipeline", inner=(part, part))).share == Fraction(1, 4)


def test_plans_without_transfers_have_no_limit() -> None:
    found = of_plan()
    assert (found.share, found.algbw_gb_s) == (0, None)
