"""What operations take, and which are not executed."""

import re
from dataclasses import replace

import pytest

from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.mscclpp import Loop, Operation, Span
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from forestcoll.runtimes.mscclpp.interpreter.operand_rules import (
    as_executed,
    check_operands,
    packets_of,
    positions_of,
    refusals,
    surprises,
)
from tests.runtimes.mscclpp.interpreter.hand_plans import (
    NOP,
    alone,
    copy,
    data,
    messages,
    own,
    pair,
    swap,
    there,
)

OVER_PORT = Span("port", 0, 1)


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (Operation("ppkt", (own("i0"),), (OVER_PORT,), "port", (0,)), "buffers of the first plan"),
        (
            Operation(
                *("pipeline", (), ()),
                loop=Loop(16, 1),
                inner=(Operation("cpkt", (own("i0"),), (own("s0"),)),),
            ),
            "is on packets, which do not advance with its rounds",
        ),
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


def test_plain_operations_do_not_follow_scratch_of_two_halves() -> None:
    """Not on scratch of another GPU; on its own they do."""
    plan = replace(alone([copy("i0", "s0", 2), NOP, copy("s0", "o0", 2)]), double_scratch=True)
    assert interpret_plan(plan).findings == ()
    (first, _) = messages(replace(pair(swap(), swap()), double_scratch=True), Kind.REFERENCE)
    assert "the first half of another GPU's scratch in every launch" in first


def test_the_number_of_like_operations_is_reported() -> None:
    packets = [Operation("ppkt", channel_type="port")] * 3
    with pytest.raises(UnsupportedError, match="and 2 more like it"):
        interpret_plan(alone(packets))


def test_operations_that_do_something_else_are_noted() -> None:
    """A get of two indices, a signal with a put over memory, a flush of nothing."""
    get = data("get", [there(0, 1)], [own("o0")])
    pws = data("pws", [own("i0")], [there(2, 0)])
    flush = Operation("flush", channel_type="port", channels=(0,))
    plan = pair([get, pws], [flush])
    notes = list(surprises(plan))
    assert [re.split(": ", note)[0].split()[0] for note in notes] == ["get", "pws", "flush"]
    assert "waits for 0 of its 1 channels" in notes[2]
    executed = as_executed(plan).gpus[0].threadblocks[0].operations[0]
    assert (executed.sources[0].index, executed.targets[0].index) == (0, 1)


def test_operands_that_are_packets() -> None:
    """A sum of packets adds its own plain data; what a put pairs is at positions of its own."""
    sums = Operation("respkt", (own("i0"), own("s0")), (own("o0"), there(2, 0)), "memory")
    assert packets_of(sums) == ([False, True], [False, True])
    assert packets_of(copy("i0", "o0")) == ([False], [False])
    assert positions_of(sums, 2, 100) == [0, 0]
    assert positions_of(data("put", [], []), 2, 100) == [0, 100]


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
        (Operation("flush", channel_type="memory", channels=(0,)), "it is for port channels"),
        (Operation("put", (own("i0"),), (OVER_PORT,), "port"), "names 0 channels for 1 in dst"),
        (
            Operation("put", (own("i0"),), (there(0, 0),), "port", (0,)),
            "it must be a remote buffer of port channels",
        ),
        (Operation("cpkt", (own("i0"),), (own("o0"),)), r"dst_buff\[0\] is buffer o; it must be"),
        (data("recpkt", [own("i0"), own("s0")], [own("o0")]), "1 in dst_buff; it must have 2"),
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
