"""What operations read, add and write."""

from dataclasses import replace

import numpy as np

from forestcoll.runtimes.mscclpp import Operation, Plan, Span, SwitchGroup
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from forestcoll.runtimes.mscclpp.interpreter.buffer_cells import plan_cells_of
from forestcoll.runtimes.mscclpp.interpreter.data_transfers import (
    DataTransfers,
    Touch,
    data_moves_of,
)
from forestcoll.runtimes.mscclpp.interpreter.nodes import plan_nodes_of
from tests.runtimes.mscclpp.interpreter.hand_plans import (
    NOP,
    alone,
    copy,
    data,
    own,
    pair,
    tell,
    there,
)


def moves_of(plan: Plan) -> DataTransfers:
    layout = plan_cells_of(plan, in_place=False)
    nodes = plan_nodes_of(layout)
    return data_moves_of(layout, nodes, np.zeros(len(nodes.gpu), dtype=np.int64))


def test_a_copy_is_a_row_of_single_chunks() -> None:
    """Input at cells 0 and 1, output at 2 and 3."""
    found = moves_of(alone([copy("i0", "o0", 2)]))
    assert found.units.first.tolist() == [0, 1]
    assert found.units.second.tolist() == [-1, -1]
    assert found.units.target.tolist() == [2, 3]
    assert found.accesses.cell.tolist() == [0, 1, 2, 3]
    assert found.accesses.writes.tolist() == [False, False, True, True]


def test_a_sum_is_added_up_in_turn_and_written_once() -> None:
    """Cells: input 0, 1, output 2, 3, scratch 4, 5; the first addition is carried at 6."""
    found = moves_of(alone([Operation("re", (own("i0"), own("s0"), own("s1")), (own("o0"),))]))
    assert found.units.first.tolist() == [0, 6]
    assert found.units.second.tolist() == [4, 5]
    assert found.units.target.tolist() == [-1, 2]
    assert found.level.tolist() == [0, 1]
    assert found.name_of(1) == "re of GPU 0, threadblock 0, operation 0"
    assert found.place_of(1).step == 0


def test_accesses_to_remote_buffers_are_noted() -> None:
    plan = pair([data("rres", [own("i0"), there(0, 0)], [own("o0"), there(1, 0)])], [])
    assert moves_of(plan).touches == (Touch(0, 1, False), Touch(0, 1, True))


def handshaken(*middle: Operation) -> list[Operation]:
    """After both have begun, before either ends."""
    return [
        *(tell("rlxsignal", 0), tell("rlxwait", 0), NOP),
        *middle,
        *(NOP, tell("signal", 1), tell("wait", 1)),
    ]


def test_reductions_that_pull_and_push_come_out_right() -> None:
    """GPU 0 adds both inputs up and writes the sum to both outputs."""
    both = data("rres", [own("i0", 2), there(0, 0, 2)], [own("o0", 2), there(1, 0, 2)])
    assert not interpret_plan(pair(handshaken(both), handshaken())).findings
    res = data("res", [own("i0", 2), own("i0", 2)], [own("o0", 2), there(1, 0, 2)])
    (first, *_) = interpret_plan(pair(handshaken(res), handshaken())).findings
    assert "has input chunk 0 of GPU 0 (2 times), not the sum" in first.message


def test_a_switch_sums_all_inputs_and_writes_to_all() -> None:
    """GPU 0 reduces over the switch; with inputs for inputs nothing comes to outputs."""
    groups = (SwitchGroup("i", (0, 1)), SwitchGroup("o", (0, 1)))

    def plan(target: int) -> Plan:
        row = handshaken(
            Operation(
                "glres", (Span("switch", 0, 2, 0),), (Span("switch", 0, 2, target),), "switch"
            )
        )
        found = pair(row, handshaken())
        gpus = tuple(
            replace(
                gpu,
                switch_channels=groups,
                threadblocks=(replace(gpu.threadblocks[0], switch_channels=(0, 1)),),
            )
            for gpu in found.gpus
        )
        return replace(found, gpus=gpus)

    assert not interpret_plan(plan(1)).findings
    assert not interpret_plan(plan(0)).is_right
