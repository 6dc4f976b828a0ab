"""What operations take, and which are not executed."""

import re
from dataclasses import replace

import pytest

from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.mscclpp import Loop, Operation, Span
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from forestcoll.runtimes.mscclpp.interpreter.operand_rules import check_operands, refusals
from tests.runtimes.mscclpp.interpreter.hand_plans import alone, copy, data, messages, own, there


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (Operation("cpkt", (own("i0"),), (own("s0"),)), "packets are not modelled"),
        (Operation("gstorepkt"), "packets"),
        (Operation("signal", channel_type="port", channels=(0,)), "port channels are not modelled"),
        (Operation("flush", channel_type="memory", channels=(0,)), "it is for port channels"),
        (data("get", [there(0, 1)], [own("o0")]), "its two indices for each other"),
        (
            Operation("pipeline", loop=Loop(16, 2), inner=(copy("i0", "o0", 1),)),
            "is not of all its 2 chunks",
        ),
        (
            Operation("pipeline", loop=Loop(16, 1), inner=(replace(copy("i0", "o0"), parts=2),)),
            "for a group of threadblocks",
        ),
    ],
)
def test_operations_not_modelled_are_unknown(operation: Operation, reason: str) -> None:
    plan = alone([operation])
    assert reason in next(refusals(plan))
    with pytest.raises(UnsupportedError, match=f"{operation.kind} of GPU 0, threadblock 0, oper"):
        interpret_plan(plan)


def test_a_scratch_buffer_of_two_halves_is_not_executed() -> None:
    with pytest.raises(UnsupportedError, match="use_double_scratch_buffer"):
        interpret_plan(replace(alone([copy("i0", "o0", 2)]), double_scratch=True))


def test_the_number_of_like_operations_is_reported() -> None:
    packets = [Operation("cpkt")] * 3
    with pytest.raises(UnsupportedError, match="and 2 more like it"):
        interpret_plan(alone(packets))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (Operation("copy", (), (own("o0"),)), r"it has 0 in src_buff; it must have 1"),
        (Operation("copy", (own("i0"),) * 2, (own("o0"),)), r"it has 2 in src_buff"),
        (
            Operation("copy", (own("i0"),), (Span("remote", 0, 1),)),
            "is a remote buffer; it",
        ),
        (data("put", [own("i0")], [own("o0")]), r"dst_buff\[0\] is buffer o; it must be a remote"),
        (data("put", [own("i0")] * 2, [there(0, 0)]), "2 in src_buff and 1 in dst_buff"),
        (data("put", [own("i0"), own("s0")], [there(0, 0)] * 2), "takes the first for all"),
        (data("put", [own("i0", 2)], [there(0, 0)]), "a source and its target are of two sizes"),
        (data("rre", [own("i0"), own("s0")], [own("o0")]), r"src_buff\[1\] is buffer s"),
        (data("re", [own("i0"), own("s0", 2)], [own("o0")]), "its spans are of several sizes"),
    ],
)
def test_operands_that_an_operation_cannot_have_are_reported(
    operation: Operation, message: str
) -> None:
    assert any(re.search(message, one) for one in check_operands(operation))
    assert messages(alone([operation]), Kind.REFERENCE)


def test_correct_operands_are_not_reported() -> None:
    assert not list(
        check_operands(data("rres", [own("i0"), there(0, 0)], [own("o0"), there(1, 0)]))
    )
