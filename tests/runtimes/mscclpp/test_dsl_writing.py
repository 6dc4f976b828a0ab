"""Programs of the DSL: executed by a stand-in of its classes, which gives the plan back."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import RuntimeLimitError, UnsupportedError
from forestcoll.runtimes.mscclpp import (
    Operation,
    Plan,
    PlanGpu,
    PlanThreadblock,
    RemoteBuffer,
    Span,
    SwitchGroup,
    parse_plan,
)
from forestcoll.runtimes.mscclpp.dsl_writing import written_dsl
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions, to_mscclpp
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from tests.runtimes.mscclpp.dsl_stand_in import printed_plan
from tests.runtimes.mscclpp.exporter.made_plans import star

LOCAL = {"i", "o", "s"}


def again(plan: Plan) -> Plan:
    """The plan that the program of a plan prints."""
    return parse_plan(printed_plan(written_dsl(plan))).plan


def parts(plan: Plan) -> list[Any]:
    """Every channel and span of each operation, by its number at its GPU."""
    return [
        [[*map(str, _block_parts(gpu, block))] for block in gpu.threadblocks] for gpu in plan.gpus
    ]


def _block_parts(gpu: PlanGpu, block: PlanThreadblock) -> Iterator[Any]:
    ids = {
        "memory": block.memory_channels,
        "port": block.port_channels,
        "switch": block.switch_channels,
    }
    for one in block.operations:
        channels = [ids[one.channel_type][local] for local in one.channels]
        spans = [[_named(gpu, block, span) for span in one.sources]]
        spans += [[_named(gpu, block, span) for span in one.targets]]
        if one.kind in ("put", "ppkt", "rppkt"):
            many = len(one.targets) if one.kind == "rppkt" else 1
            rows = zip(spans[0] * many, spans[1], channels or [""] * len(spans[1]), strict=True)
            yield from ((one.kind, one.channel_type, *row) for row in rows)
        elif spans[1]:
            yield one.kind, spans
        elif one.kind == "nop":
            yield "nop"
        else:
            yield from ((one.kind, one.channel_type, each) for each in channels or one.semaphores)


def without_nops(rows: list[Any]) -> list[Any]:
    return [[[one for one in block if one != "nop"] for block in gpu] for gpu in rows]


def _named(gpu: PlanGpu, block: PlanThreadblock, span: Span) -> Any:
    if span.where in LOCAL:
        return span
    if span.where == "switch":
        return gpu.switch_channels[block.switch_channels[span.number]], span.index, span.size
    own = block.port_buffers if span.where == "port" else block.memory_buffers
    there = gpu.remote_buffers[own[span.number]]
    return there.rank, there.buffer, span.index, span.size


CASES = (
    ("dgx_a100:boxes=1", "allgather", {}),
    ("dgx_a100:boxes=1", "allreduce", {"instances": 2}),
    ("dgx_a100:boxes=1", "reduce-scatter", {"in_place": True}),
    ("dgx_a100:boxes=2", "allgather", {"in_place": True}),
    ("paper_example", "allreduce", {}),
    ("complete:nodes=12", "allreduce", {"threadblocks": 2}),
    ("ring:nodes=5", "broadcast", {}),
    ("ring:nodes=5", "reduce", {}),
    ("ring:nodes=5", "allreduce", {"protocol": "LL"}),
    ("paper_example", "broadcast", {"protocol": "LL"}),
)


@pytest.mark.first_rows(4)
@pytest.mark.parametrize(("network", "collective", "options"), CASES)
def test_programs_print_the_operations_of_their_plans(
    network: str, collective: str, options: dict[str, Any]
) -> None:
    """In their order, with nops only where the DSL would join too much."""
    root = 3 if collective in ("broadcast", "reduce") else None
    asked = {} if root is None else {"root": root}
    made = generate(network, collective=collective, **asked).schedule
    plan = to_mscclpp(compile_program(made), MscclppOptions(**options))
    found = again(plan)
    assert without_nops(parts(found)) == without_nops(parts(plan))
    if network != "complete:nodes=12":  # where 11 signals are two operations
        assert parts(found) == parts(plan)
    assert interpret_plan(found, root=root).findings == ()
    heads = [replace(one, gpus=()) for one in (found, plan)]
    assert heads[0] == heads[1]
    for one, other in zip(found.gpus, plan.gpus, strict=True):
        for name in ("input_chunks", "output_chunks", "scratch_chunks", "semaphores"):
            assert getattr(one, name) == getattr(other, name)
        assert one.memory_channels == other.memory_channels
        assert one.port_channels == other.port_channels


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
def test_multicasts_of_switches_are_calls_of_switch_channels(collective: str) -> None:
    """A sum is reduced in place, and then broadcast, which the DSL joins."""
    made = generate(star(4), collective=collective, multicast=True).schedule
    plan = to_mscclpp(compile_program(made), MscclppOptions(in_place=True))
    assert parts(again(plan)) == parts(plan)
    assert [one.switch_channels for one in again(plan).gpus] == [
        one.switch_channels for one in plan.gpus
    ]


def plan_of(*operations: Operation, gpus: int = 2, **at_gpu: Any) -> Plan:
    """GPU 0 with some operations; the others answer nothing."""
    block = PlanThreadblock(operations, memory_channels=tuple(range(16)), memory_buffers=(0,))
    first = PlanGpu(*(40, 40, 9), (block,), memory_channels=(1,) * 16, **at_gpu)
    first = replace(first, remote_buffers=(RemoteBuffer(1, "s", ("memory",)),))
    return Plan("of 'hand'", "allreduce", "Simple", False, (first,) * gpus)


def lines(*operations: Operation) -> list[str]:
    """The calls for operations."""
    text = written_dsl(plan_of(*operations))
    return text.split("# Threadblock 0.\n")[1].split("\n\n")[0].replace("        ", "").splitlines()


NOP = "rank.barrier([0])"


def put(sources: str, many: int = 1, size: int = 1) -> Operation:
    spans = tuple(Span(sources, size * place, size) for place in range(many))
    targets = tuple(Span("remote", size * place, size) for place in range(many))
    return Operation("put", spans, targets, "memory")


def test_a_nop_comes_between_calls_that_must_not_be_joined() -> None:
    """More channels or spans than fit; reads of two buffers; a sum and what is sent of it."""
    signal = Operation("signal", channel_type="memory", channels=tuple(range(5)))
    other = replace(signal, channels=tuple(range(5, 10)))
    assert lines(signal, replace(other, channels=(5, 6, 7))).count(NOP) == 0
    # Eight are joined, and the last two are not.
    assert lines(signal, other)[8] == NOP
    assert lines(signal, signal).count(NOP) == 0  # the DSL joins no channel to itself
    assert lines(put("i", 6), put("i", 4)).count(NOP) == 0
    assert lines(put("i", 6), put("i", 5))[10] == NOP
    assert lines(put("i"), put("s"))[1] == NOP
    assert lines(put("i"), put("s", size=2)).count(NOP) == 0
    sum_ = Operation("re", (Span("i", 0, 1), Span("s", 1, 1)), (Span("o", 0, 1),))
    assert lines(sum_, put("o"))[1] == NOP
    assert lines(sum_, Operation("nop"), put("o")).count(NOP) == 1
    acquire = Operation("sem_acquire", semaphores=tuple(range(8)))
    assert lines(acquire, replace(acquire, semaphores=(8,)))[8] == NOP


def test_packets_have_calls_of_their_own() -> None:
    """Packets that are read and sent on go to several GPUs in one operation."""
    scratch, target = Span("s", 2, 1), Span("remote", 1, 1)
    found = lines(
        Operation("ppkt", (Span("i", 0, 1),), (target,), "memory"),
        Operation("rppkt", (scratch,), (target, replace(target, index=3)), "memory"),
        Operation("repkt", (Span("i", 0, 1), scratch), (Span("o", 0, 1),)),
        Operation("nop"),
        Operation("upkt", (scratch,), (Span("o", 1, 1),)),
        Operation("cpkt", (Span("i", 1, 1),), (Span("s", 3, 1),)),
    )
    assert found == [
        "m[0].put_packets(s[1][1:2], i[0][0:1], tb=0)",
        "m[0].read_put_packets(s[1][1:2], s[0][2:3], tb=0)",
        "m[0].read_put_packets(s[1][3:4], s[0][2:3], tb=0)",
        "rank.reduce(i[0][0:1], [s[0][2:3]], tb=0, dst_chunk=o[0][0:1], packet=True)",
        NOP,
        "rank.unpack_packets(o[0][1:2], s[0][2:3], tb=0)",
        "rank.copy_packets(s[0][3:4], i[0][1:2], tb=0)",
    ]


def test_too_many_operations_are_refused() -> None:
    """64 and 65 puts of which none has the size of its neighbour."""
    puts = [put("i", size=1 + place % 2) for place in range(65)]
    assert len(lines(*puts[:64])) == 64
    with pytest.raises(RuntimeLimitError, match=r"GPU 0 has 65 operations .* 64 are possible"):
        written_dsl(plan_of(*puts))
    # Packets are joined to one operation only if they are the same.
    to = (Span("remote", 1, 1),)
    sent = [Operation("rppkt", (Span("s", place % 2, 1),), to, "memory") for place in range(65)]
    with pytest.raises(RuntimeLimitError, match="GPU 0 has 65 operations"):
        written_dsl(plan_of(*sent))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (Operation("rres"), "threadblock 0 of GPU 0 has rres, for which"),
        (replace(put("i"), parts=2), "has put of several threadblocks"),
        (
            Operation("glres", (Span("switch", 1, 1),), (Span("switch", 2, 1),)),
            "export it in place",
        ),
    ],
)
def test_operations_without_a_call_are_refused(operation: Operation, message: str) -> None:
    plan = plan_of(operation)
    block = replace(plan.gpus[0].threadblocks[0], switch_channels=(0,))
    with pytest.raises(UnsupportedError, match=message):
        written_dsl(replace(plan, gpus=(replace(plan.gpus[0], threadblocks=(block,)),)))


def test_a_put_without_a_channel_is_refused() -> None:
    plan = plan_of(put("i"))
    block = replace(plan.gpus[0].threadblocks[0], memory_channels=())
    gpu = replace(plan.gpus[0], threadblocks=(block,))
    assert "m[0].put(" in written_dsl(replace(plan, gpus=(gpu,)))  # by another of the GPU
    gpu = replace(gpu, memory_channels=())
    with pytest.raises(UnsupportedError, match="a put to GPU 1 without a channel"):
        written_dsl(replace(plan, gpus=(gpu,)))


def test_switch_channels_in_another_order_are_refused() -> None:
    groups = SwitchGroup("o", (0, 1)), SwitchGroup("i", (0, 1))
    plan = plan_of()
    one, other = (replace(plan.gpus[0], switch_channels=each) for each in (groups, groups[::-1]))
    with pytest.raises(UnsupportedError, match="GPU 0 has its switch channels in another order"):
        written_dsl(replace(plan, gpus=(one, other)))


def test_names_cannot_end_the_docstring() -> None:
    plan = replace(plan_of(), name='a"""\\')
    found = parse_plan(printed_plan(written_dsl(plan))).plan
    assert found.name == plan.name
