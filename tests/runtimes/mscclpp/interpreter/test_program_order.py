"""Operations as nodes, by hand."""

import pytest

from forestcoll.runtimes.mscclpp import Loop, Operation, Plan
from forestcoll.runtimes.mscclpp.interpreter.buffer_cells import plan_cells_of
from forestcoll.runtimes.mscclpp.interpreter.nodes import PlanNodes
from forestcoll.runtimes.mscclpp.interpreter.program_order import plan_nodes_of
from tests.runtimes.mscclpp.interpreter.hand_plans import (
    NOP,
    alone,
    copy,
    meet,
    own,
    pair,
    share,
    tell,
)
from tests.runtimes.mscclpp.interpreter.style_plans import Net, forwarded_gather, port_signals


def nodes_of(plan: Plan) -> PlanNodes:
    return plan_nodes_of(plan_cells_of(plan, in_place=False))


def reached(nodes: PlanNodes, start: int, end: int) -> bool:
    """Whether edges lead from one node to another."""
    left, seen = [start], {start}
    while left:
        at = left.pop()
        for tail, head in zip(nodes.tail, nodes.head, strict=True):
            if tail == at and head not in seen:
                seen.add(head)
                left.append(head)
    return end in seen


def test_only_a_nop_orders_data() -> None:
    """The first two copies are in no order, the third comes after both."""
    nodes = nodes_of(alone([copy("i0", "o0"), copy("i1", "o1"), NOP, copy("o0", "s0")]))
    first, second, third = (data.node for data in nodes.data)
    assert not reached(nodes, first, second)
    assert reached(nodes, first, third)
    assert reached(nodes, second, third)
    assert nodes.data[0].after == [nodes.data[2].before]


def test_a_thread_does_one_thing_after_another() -> None:
    """Thread 0 waits on channel 0, then signals 1; thread 1, which signals 0, does not wait."""
    nodes = nodes_of(pair([tell("wait", 0), tell("signal", 1, 0)], []))
    (wait,) = nodes.waits[0, "memory", 0]
    (late,), (early,) = nodes.signals[0, "memory", 1], nodes.signals[0, "memory", 0]
    assert reached(nodes, wait.node, late.node)
    assert not reached(nodes, wait.node, early.node)
    assert wait.is_before(late)
    assert not wait.is_before(early)


def test_a_launch_is_around_everything() -> None:
    nodes = nodes_of(pair([copy("i0", "o0")], [tell("signal", 0)]))
    (data,), (signal,) = nodes.data, nodes.signals[1, "memory", 0]
    for rank, node in ((0, data.node), (1, signal.node)):
        assert reached(nodes, nodes.begin[rank], node)
        assert reached(nodes, node, nodes.end[rank])
        assert not reached(nodes, nodes.begin[1 - rank], node)


def test_a_pipeline_goes_round_for_each_part_of_its_chunks() -> None:
    """Two chunks of two parts: four rounds, each of a copy and a release."""
    inner = (copy("i0", "o0", 2), NOP, share("sem_release", 0))
    plan = alone([Operation("pipeline", loop=Loop(16, 2), inner=inner)], semaphores=1)
    nodes = nodes_of(plan)
    assert [data.round for data in nodes.data] == [0, 1, 2, 3]
    assert len(nodes.releases[0, 0]) == 4
    assert nodes.name(nodes.data[0].node) == "copy of GPU 0, threadblock 0, operation 0.0"
    assert nodes.place(nodes.data[0].node).step == 0


def test_a_barrier_of_one_is_a_nop() -> None:
    nodes = nodes_of(alone([meet(0, 1), meet(1, 2)]))
    assert list(nodes.meetings) == [(0, 1)]
    assert nodes.name(nodes.begin[0]) == "the launch"
    assert nodes.place(nodes.begin[0]).gpu == 0


def test_a_thread_goes_on_behind_its_packets_alone() -> None:
    """The copy of a thread follows its packets; but other threads copy, so nothing is ordered."""
    unpack = Operation("upkt", (own("s0"),), (own("o0"),))
    nodes = nodes_of(alone([unpack, copy("i1", "o1"), NOP, copy("i0", "o0")]))
    first, second, _ = (data.node for data in nodes.data)
    assert (nodes.thread_tail, nodes.thread_head) == ([first], [second])
    assert not reached(nodes, first, second)


@pytest.mark.parametrize("channels", [(), (0,)])
def test_local_operations_ignore_port_channels(channels: tuple[int, ...]) -> None:
    """The kernel copies with all threads, whatever the type of channel in the file."""
    plan = port_signals()
    local = Operation("copy", (own("o0"),), (own("s0"),), "port", channels)
    blocks = [[[local, NOP, *gpu.threadblocks[0].operations]] for gpu in plan.gpus]
    found = nodes_of(Net(2, 1).plan("allgather", blocks.__getitem__, (2, 4, 1))).data[0]
    assert found.operation == local
    assert found.after != [found.node]


def test_packets_that_a_port_channel_forwards_are_awaited_by_all_threads() -> None:
    """A wait for them, a nop, and a transfer for each target."""
    plan = forwarded_gather()
    nodes = nodes_of(plan)
    kinds = [(data.operation.kind, data.operation.channel_type) for data in nodes.data[:5]]
    assert kinds[2:4] == [("rppkt", ""), ("rppkt", "port")]
    wait, transfer = nodes.data[2], nodes.data[3]
    assert wait.after == [transfer.before]
    assert transfer.after == [transfer.node]
