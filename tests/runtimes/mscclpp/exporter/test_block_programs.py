"""Operations of threadblocks, by hand."""

from collections import Counter

from forestcoll import compile_program, generate
from forestcoll.runtimes.mscclpp import Operation, Plan, Span
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions, to_mscclpp
from forestcoll.runtimes.mscclpp.interpreter.synchronisation import counterparts
from tests.runtimes.mscclpp.exporter.made_plans import down, swap

NOP = Operation("nop")


def tell(kind: str, *channels: int) -> Operation:
    return Operation(kind, channel_type="memory", channels=channels)


def rows(plan: Plan, gpu: int, block: int = 0) -> list[Operation]:
    return list(plan.gpus[gpu].threadblocks[block].operations)


def test_a_broadcast_down_a_line_is_this() -> None:
    """As one writes it by hand: greet, wait, put, signal."""
    plan = to_mscclpp(down())
    own, due, there = Span("i", 0, 1), Span("o", 0, 1), Span("remote", 0, 1)
    copy = Operation("copy", (own,), (due,))
    assert rows(plan, 0) == [
        *(tell("rlxwait", 0), NOP, copy, Operation("put", (own,), (there,), "memory")),
        *(NOP, tell("signal", 0)),
    ]
    assert rows(plan, 1) == [
        *(tell("rlxsignal", 0), tell("rlxwait", 1), tell("wait", 0), NOP),
        *(Operation("put", (due,), (there,), "memory"), NOP, tell("signal", 1)),
    ]
    assert rows(plan, 2) == [tell("rlxsignal", 0), tell("wait", 0)]
    assert plan.gpus[1].memory_channels == (0, 2)
    assert [one.buffer for one in plan.gpus[1].remote_buffers] == ["o"]


def test_two_counts_of_one_channel_are_apart() -> None:
    """After the greeting the same channel brings data: a nop is between, as other threads wait."""
    found = [one.kind for one in rows(to_mscclpp(swap()), 0)]
    assert found == [
        *("rlxsignal", "rlxwait", "nop", "put", "nop", "signal", "wait", "nop", "re"),
    ]


def test_neighbours_are_one_span_and_spans_of_a_buffer_one_operation() -> None:
    """GPU 0 puts its chunk to three others: one operation of three spans."""
    plan = to_mscclpp(
        compile_program(generate("complete:nodes=4").schedule), MscclppOptions(threadblocks=1)
    )
    puts = [one for one in rows(plan, 0) if one.kind == "put"]
    assert len(puts) == 1
    assert len(puts[0].targets) == 3


def test_channels_of_two_gpus_are_of_the_same_threadblocks() -> None:
    """What one calls its n-th channel to the other, the other waits for in the same team."""
    plan = to_mscclpp(
        compile_program(generate("torus:dims=3x3", collective="allreduce").schedule),
        MscclppOptions(instances=2, threadblocks=12),
    )
    ends = counterparts(plan)
    user = {
        (rank, "memory", channel): number
        for rank, gpu in enumerate(plan.gpus)
        for number, block in enumerate(gpu.threadblocks)
        for channel in block.memory_channels
    }
    uses = Counter(
        (rank, "memory", channel)
        for rank, gpu in enumerate(plan.gpus)
        for block in gpu.threadblocks
        for channel in block.memory_channels
    )
    assert set(uses.values()) == {1}
    assert set(user) == set(ends)
    blocks = len(plan.gpus[0].threadblocks) // 2
    for here, there in ends.items():
        assert user[here] // blocks == user[there] // blocks  # the same instance
