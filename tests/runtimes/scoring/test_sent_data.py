"""What files of both runtimes send: the same where they are of one schedule."""

from dataclasses import replace
from fractions import Fraction

import pytest

from baselines.registry import METHODS
from forestcoll import generate
from forestcoll.compilation import compile_program
from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.runtimes.mscclpp import parse_plan
from forestcoll.runtimes.mscclpp.execution_plan import (
    Loop,
    Operation,
    Plan,
    PlanGpu,
    PlanThreadblock,
    RemoteBuffer,
    Span,
)
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions
from forestcoll.runtimes.scoring.file_score import score
from forestcoll.runtimes.scoring.sent_data import call_chunks, collective_of, sent_by
from forestcoll.topology import load_topology

HERE, THERE = Span("i", 0, 4), Span("remote", 0, 4)


def plan(*operations: Operation, collective: str = "allreduce") -> Plan:
    """GPU 0 has a threadblock with these operations; its second remote buffer is GPU 2's."""
    block = PlanThreadblock(operations, memory_buffers=(1, 0))
    remote = tuple(RemoteBuffer(rank, "i", ("memory",)) for rank in (1, 2))
    first = PlanGpu(8, 16, 0, (block,), remote_buffers=remote)
    return Plan("p", collective, "Simple", False, (first, *(PlanGpu(8, 16, 0, ()),) * 2))


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(
    "collective", ["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce"]
)
@pytest.mark.each_value_once
def test_both_files_of_a_schedule_send_the_same(collective: str, in_place: bool) -> None:
    """And both have its pipelined rate on a box with one path from GPU to GPU."""
    topology = load_topology("dgx_a100:boxes=1")
    root = 1 if collective in ("broadcast", "reduce") else None
    schedule = generate(topology, collective=collective, root=root).schedule
    program = compile_program(schedule)
    xml = parse_algorithm(export(program, MscclOptions(in_place=in_place)).text).algorithm
    made = parse_plan(export(program, MscclppOptions(in_place=in_place)).text).plan
    assert collective_of(xml) == collective_of(made) == collective
    assert sent_by(xml) == sent_by(made)
    one, other = (score(file, topology, root=root).measurement for file in (xml, made))
    assert one is not None
    assert one == other
    assert one.share == 1


def test_an_all_to_all_in_both_formats() -> None:
    """Each of 8 GPUs sends an eighth of its data to each other."""
    schedule = METHODS["direct"].run(load_topology("dgx_a100:boxes=1"), "all-to-all")
    made = parse_plan(export(compile_program(schedule), MscclppOptions()).text).plan
    pairs = {(a, b): Fraction(1, 8) for a in range(8) for b in range(8) if a != b}
    assert sent_by(made) == pairs


def test_writes_go_out_and_reads_come_in() -> None:
    """Buffer 0 of the block is the GPU's buffer 1, that of GPU 2. Of 8 chunks, 4 are a half."""
    put = Operation("put", (HERE,), (THERE,), "memory")
    get = Operation("get", (Span("remote", 0, 2, 1),), (Span("i", 0, 2),), "memory")
    assert sent_by(plan(put)) == {(0, 2): Fraction(1, 2)}
    assert sent_by(plan(put, put, get)) == {(0, 2): Fraction(1), (1, 0): Fraction(1, 4)}
    both = Operation("rres", (HERE, THERE), (HERE, replace(THERE, number=1)), "memory")
    assert sent_by(plan(both)) == {(2, 0): Fraction(1, 2), (0, 1): Fraction(1, 2)}


def test_a_group_of_threadblocks_shares_a_span() -> None:
    part = Operation("put", (HERE,), (THERE,), "memory", part=1, parts=4)
    assert sent_by(plan(part)) == {(0, 2): Fraction(1, 8)}


def test_rounds_of_a_pipeline_take_a_span_once() -> None:
    put = Operation("put", (HERE,), (THERE,), "memory")
    assert sent_by(plan(Operation("pipeline", loop=Loop(64, 4), inner=(put,)))) == {
        (0, 2): Fraction(1, 2)
    }


def test_a_call_has_the_size_of_the_output_in_an_allgather() -> None:
    assert call_chunks(plan()) == 8
    assert call_chunks(plan(collective="allgather")) == 16
    assert collective_of(plan(collective="shuffle")) == "shuffle"


def test_switch_channels_are_refused() -> None:
    for one in (
        Operation("gstore", (HERE,), (Span("switch", 0, 4),), "switch"),
        Operation("glres", (Span("switch", 0, 4),), (Span("switch", 0, 4),), "switch"),
    ):
        with pytest.raises(UnsupportedError, match="p uses switch channels"):
            sent_by(plan(one))


def test_own_buffers_are_on_no_link() -> None:
    alone = replace(plan(), gpus=plan().gpus[:1])
    gpu = replace(alone.gpus[0], remote_buffers=(RemoteBuffer(0, "s", ("memory",)),))
    put = Operation("put", (HERE,), (THERE,), "memory")
    block = PlanThreadblock((put,), memory_buffers=(0,))
    assert sent_by(replace(alone, gpus=(replace(gpu, threadblocks=(block,)),))) == {}


def test_packets_count_twice_and_port_channels_like_others() -> None:
    """Half of a packet are flags; a flush of a port channel moves nothing."""
    packets = Operation("ppkt", (HERE,), (THERE,), "memory")
    assert sent_by(plan(packets)) == {(0, 2): Fraction(1)}
    over_port = replace(THERE, where="port", number=0)
    rows = [Operation(kind, (HERE,), (over_port,), "port", (0,)) for kind in ("pwsf", "flush")]
    made = plan(*rows)
    gpu = made.gpus[0]
    block = replace(gpu.threadblocks[0], port_buffers=gpu.threadblocks[0].memory_buffers)
    first = replace(gpu, threadblocks=(block,))
    assert sent_by(replace(made, gpus=(first, *made.gpus[1:]))) == {(0, 2): Fraction(1, 2)}


def test_a_custom_collective_has_no_bound() -> None:
    """Nor has a file that names none, which is read as one."""
    box = load_topology("dgx_a100:boxes=1")
    program = compile_program(generate(box).schedule)
    text = export(program, MscclOptions()).text.replace('coll="allgather"', 'coll="custom"')
    with pytest.raises(UnsupportedError, match="is of a custom collective, or names none, so no b"):
        score(parse_algorithm(text).algorithm, box)
