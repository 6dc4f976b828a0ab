"""Requests on port channels: what is over when."""

from dataclasses import replace

from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.mscclpp import Operation
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from forestcoll.runtimes.mscclpp.interpreter.nodes import PlanNodes, Sync
from forestcoll.runtimes.mscclpp.interpreter.port_queues import PortQueues
from tests.runtimes.mscclpp.interpreter.hand_plans import NOP, kinds, messages
from tests.runtimes.mscclpp.interpreter.style_plans import port_gather, port_signals
from tests.runtimes.mscclpp.interpreter.test_program_order import reached

CHANNEL = (0, "port", 0)


def queued(*requests: tuple[int, int]) -> tuple[PlanNodes, list[int]]:
    """Queue requests of one threadblock, each an epoch and a thread."""
    nodes = PlanNodes()
    queues = PortQueues(nodes, 0, 5)
    ends = [
        queues.add(CHANNEL, Sync(nodes.add(0, 0), 0, epoch, thread, False), -1)
        for epoch, thread in requests
    ]
    return nodes, ends


def test_requests_of_one_thread_are_a_line() -> None:
    nodes, ends = queued((0, 0), (0, 0), (1, 3))
    assert [nodes.block[end] for end in ends] == [5, 5, 5]
    assert {(ends[0], ends[1]), (ends[1], ends[2])} <= set(zip(nodes.tail, nodes.head, strict=True))


def test_requests_of_two_threads_are_in_no_order_before_a_nop() -> None:
    """Requests behind the nop follow both, also those of two threads."""
    nodes, ends = queued((0, 0), (0, 1), (1, 0), (1, 1))
    first, second, *later = ends
    assert nodes.block[first] != nodes.block[second]
    assert not reached(nodes, first, second)
    for end in later:
        assert reached(nodes, first, end)
        assert reached(nodes, second, end)
    assert not reached(nodes, *later)


def test_many_threads_on_one_channel_cost_an_edge_each() -> None:
    """No runtime takes as many, but a file may have them: before and after a nop."""
    many = 2000
    nodes, _ = queued(*((epoch, thread) for epoch in (0, 1) for thread in range(many)))
    assert len(nodes.tail) == 4 * many
    assert len(nodes.queues) == many


def test_a_put_without_a_wait_for_it_may_read_after_the_launch() -> None:
    """The last launch may end while its own output is still read."""
    found = messages(port_gather("pws"), Kind.LAUNCH)
    assert len(found) == 4
    assert "may read a buffer of GPU 0 after its launch is over; wait for it with pwsf" in found[0]


def test_an_answer_says_that_a_put_is_over() -> None:
    """Without the last signal of GPU 1, GPU 0 does not know."""
    plan = port_signals()
    block = plan.gpus[1].threadblocks[0]
    assert block.operations[-3].kind == "signal"
    rows = block.operations[:-3] + block.operations[-2:]
    fewer = replace(plan.gpus[1], threadblocks=(replace(block, operations=rows),))
    found = interpret_plan(replace(plan, gpus=(plan.gpus[0], fewer)))
    assert {"balance", "deadlock"} <= kinds(found)


def test_a_flush_waits_if_it_names_targets() -> None:
    """The kernel counts dst_buff; without any, a flush waits for nothing, and this is noted."""
    plan = port_signals()

    def flushed(many: int) -> set[str]:
        gpus = []
        for gpu in plan.gpus:
            (block,) = gpu.threadblocks
            rows = list(block.operations)
            put = next(one for one in rows if one.kind == "put")
            flush = Operation("flush", (), put.targets[:many], "port", put.channels[:1])
            # The answers are left out, so that nothing but the flush says that the puts are over.
            rows = [*rows[:-3], NOP, flush]
            gpus.append(replace(gpu, threadblocks=(replace(block, operations=tuple(rows)),)))
        found = interpret_plan(replace(plan, gpus=tuple(gpus)))
        notes = [one for one in found.findings if not one.is_wrong]
        assert len(notes) == (0 if many else 2)
        return kinds(found)

    assert flushed(1) == set()
    assert flushed(0) == {"launch"}
