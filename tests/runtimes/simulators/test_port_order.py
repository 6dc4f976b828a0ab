"""The order of messages at their ports."""

import pytest

from forestcoll import compile_program, generate
from forestcoll.runtimes.simulators import port_order
from forestcoll.runtimes.simulators.messages import Messages
from forestcoll.runtimes.simulators.port_order import before_at_port
from forestcoll.runtimes.simulators.simulator_ports import path_ports


def test_own_data_leaves_before_that_of_others() -> None:
    """A ring of 3 in one direction, one chunk: gpu g sends its own shard, then what it got.

    So of the two messages of a port, the one that needs nothing is first.
    """
    program = compile_program(generate("ring:nodes=3,bidirectional=false").schedule)
    messages = Messages(program, 9)
    order = before_at_port(messages, path_ports(messages.program), 9, 10)
    sent = [
        {one.tag: one for one in found if one.tail == rank}
        for rank, found in enumerate(messages.by_rank())
    ]
    assert len(order) == 3
    for mine in sent:
        (last,) = set(mine) & set(order)
        assert mine[last].needs
        assert not mine[order[last]].needs


def test_pipeline_chunks_leave_in_their_order() -> None:
    """In any order of transfers, chunk p of each is behind its chunk p - 1."""
    program = compile_program(generate("dgx_h100:boxes=1").schedule, loopback=False)
    messages = Messages(program, 2**20, 3)
    order = before_at_port(messages, path_ports(messages.program), 2**20, 1)
    for found in messages.by_rank():
        for one in found:
            behind, tag = set(), one.tag
            while (tag := order.get(tag, -1)) >= 0:
                behind.add(tag)
            assert one.behind is None or one.behind in behind


def test_too_many_messages_are_ordered_within_each_transfer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At the limit all are ordered: 3 ports of 4 messages. Above it, 6 transfers of 2 messages."""
    program = compile_program(generate("ring:nodes=3,bidirectional=false").schedule)
    messages = Messages(program, 12, 2)
    for most, pairs in ((messages.count, 9), (messages.count - 1, 6)):
        monkeypatch.setattr(port_order, "MOST_TIMES", most)
        order = before_at_port(messages, path_ports(messages.program), 12, 10)
        assert len(order) == pairs
