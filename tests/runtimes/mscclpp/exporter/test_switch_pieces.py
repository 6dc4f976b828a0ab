"""Switches that multicast and reduce, as operations of the runtime."""

import pytest

import forestcoll
from forestcoll import Program, compile_program, generate
from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.mscclpp import Plan, SwitchGroup
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions, to_mscclpp
from forestcoll.runtimes.mscclpp.exporter.switch_pieces import Alike, Ways, through_switches
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from forestcoll.runtimes.transfer_pieces import Piece
from forestcoll.topology import Topology
from tests.baselines.claims import load, run
from tests.runtimes.mscclpp.exporter.made_plans import star
from tests.schedule.made.run_mscclpp import RIGHT, carried_out


def piece(tail: int, head: int, *needs: int, adds: bool = False) -> Piece:
    return Piece(0, 0, 0, 1, tail, head, adds, needs)


def test_several_sends_of_a_switch_are_one_multicast() -> None:
    """GPU 0 sends to switch 3, which sends to 1 and 2; 2 sends on to 1."""
    pieces = [piece(0, 3), piece(3, 1, 0), piece(3, 2, 0), piece(2, 1, 2)]
    found = through_switches(pieces, star(3))
    assert [(one.tail, one.head, one.needs) for one in found.pieces] == [
        (0, 1, ()),
        (0, 2, ()),
        (2, 1, (1,)),
    ]
    assert found.copies == {0: 0, 1: 0}
    assert not found.sums


def test_several_receives_of_a_switch_are_one_reduction() -> None:
    pieces = [piece(1, 3, adds=True), piece(2, 3, adds=True), piece(3, 0, 0, 1, adds=True)]
    found = through_switches(pieces, star(3))
    assert [(one.tail, one.head, one.adds) for one in found.pieces] == [(1, 0, True), (2, 0, True)]
    assert found.sums == {0: 2, 1: 2}


def test_forwarding_through_a_switch_is_an_ordinary_piece() -> None:
    found = through_switches([piece(0, 3), piece(3, 1, 0)], star(3))
    assert found == Ways([piece(0, 1)])


def test_sums_that_are_copied_to_the_same_gpus_are_one_operation() -> None:
    """1 and 2 send sums to 0, which sends to both."""
    pieces = [
        *(piece(1, 0, adds=True), piece(2, 0, adds=True)),
        *(piece(0, 1, 0, 1), piece(0, 2, 0, 1)),
    ]
    ways = Ways(pieces, copies={2: 9, 3: 9}, sums={0: 5, 1: 5})
    alike = Alike.of(ways, range(4))
    assert alike.fused == {0, 1}
    assert alike.is_fused((0, 1), (0, 1, 2), pieces)
    assert not alike.is_fused((), (0, 1, 2), pieces)
    with pytest.raises(UnsupportedError, match="parts of 3 GPUs and multicasts the sum to 2"):
        alike.is_fused((0, 1), (0, 1), pieces)


def test_a_sum_that_is_copied_at_once_is_refused() -> None:
    pieces = [piece(1, 3, adds=True), piece(3, 0, 0)]
    with pytest.raises(UnsupportedError, match="reduces what is sent to rank 0 as a copy"):
        through_switches(pieces, star(3))


def test_switches_between_boxes_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="between ranks 0 and 3, which are in two boxes"):
        to_mscclpp(compile_program(forestcoll.multicast(generate(star(4, boxes=2)).schedule)))


def kinds(plan: Plan) -> set[str]:
    return {one.kind for gpu in plan.gpus for block in gpu.threadblocks for one in block.operations}


def copied(spec: str | Topology, collective: str) -> Program:
    root = 0 if collective == "broadcast" else None
    made = generate(spec, collective=collective, root=root).schedule
    return compile_program(forestcoll.multicast(made))


@pytest.mark.parametrize("in_place", [False, True], ids=["out of place", "in place"])
@pytest.mark.parametrize(
    ("collective", "kind"),
    [("allgather", "gstore"), ("broadcast", "gstore"), ("allreduce", "glres")],
)
@pytest.mark.each_value_once
def test_boxes_use_their_switch_alone(collective: str, kind: str, in_place: bool) -> None:
    """No GPU writes to another by itself."""
    plan = to_mscclpp(copied(star(5), collective), MscclppOptions(in_place=in_place, instances=2))
    assert kinds(plan) & {"put", "re", "copy", "gstore", "glres"} == {kind}
    assert interpret_plan(plan, root=0 if collective == "broadcast" else None).findings == ()
    assert {carried_out(plan, seed=seed) for seed in range(3)} == {RIGHT}
    buffers = {"i", "o"} if collective == "allreduce" and not in_place else {"o"}
    assert {group.buffer for group in plan.gpus[0].switch_channels} == buffers
    assert SwitchGroup("o", (0, 1, 2, 3, 4)) in plan.gpus[3].switch_channels


def test_between_boxes_data_is_put_and_in_them_copied() -> None:
    """Two boxes: what has come over the network is stored in all of the box at once."""
    plan = to_mscclpp(copied("dgx_h100:boxes=2", "allgather"), MscclppOptions(in_place=True))
    assert {"put", "gstore"} <= kinds(plan)
    assert interpret_plan(plan).findings == ()
    groups = {group.ranks for gpu in plan.gpus for group in gpu.switch_channels}
    assert tuple(range(8)) in groups
    assert all(len({rank // 8 for rank in ranks}) == 1 for ranks in groups)


@pytest.mark.parametrize("collective", ["reduce-scatter", "allreduce"])
def test_sums_for_one_gpu_alone_are_refused_with_the_reason(collective: str) -> None:
    spec = star(4) if collective == "reduce-scatter" else "dgx_h100:boxes=2"
    made = compile_program(forestcoll.multicast(generate(spec, collective=collective).schedule))
    with pytest.raises(UnsupportedError, match=r"reduces chunk 0 for rank \d+ alone, and MSCCL"):
        to_mscclpp(made)


def test_switches_that_hold_data_for_one_are_passed_through() -> None:
    """TE-CCL sends to switches and on from there: puts from GPU to GPU."""
    plan = to_mscclpp(compile_program(run("teccl", "allgather", load("paper_example"))))
    assert "gstore" not in kinds(plan)
    assert interpret_plan(plan).findings == ()
