"""Programs as steps: as early as what they need allows."""

from dataclasses import replace

import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import VerificationError
from forestcoll.schedule import Chunks, Send, stepwise
from forestcoll.topology import load_topology
from tests.hand_networks import network_of
from tests.schedule.made.programs import by_hand, check, line
from tests.schedule.made.run_program import delivers


def test_a_program_must_be_in_order() -> None:
    """A transfer that needs itself never starts."""
    program = compile_program(generate(load_topology("ring:nodes=3,bidirectional=false")).schedule)
    need = program.need.copy()
    need[0] = 3
    with pytest.raises(VerificationError, match="does not come before it"):
        stepwise(replace(program, need=need))


def test_a_sum_that_has_left_excludes_later_summands() -> None:
    """GPU 0 sends its own part to 1 late, and gets 2's before, but for its own use only."""
    net = load_topology("complete:nodes=3")
    a, b, c = range(3)
    sends = [
        Send(0, 0, c, b, reduce=True),
        Send(1, 0, b, c, reduce=True),
        Send(1, 0, b, a, reduce=True),
        Send(1, 0, a, b, reduce=True),
        Send(1, 0, a, c, reduce=True),
    ]
    # c would count itself twice: only a and b have what is due, so check by the slow way.
    program = compile_program(by_hand(net, "allreduce", Chunks.equal([-1], 1), sends))
    assert [program.dependencies(t).tolist() for t in range(5)] == [[], [], [], [0], [0]]
    steps = stepwise(program).sends
    assert steps.step.tolist() == [0, 0, 1, 1, 1]
    assert (steps.tail[0], steps.head[0]) == (a, c)


def test_arrivals_at_a_switch_are_not_moved_before_its_sends() -> None:
    """A sum at the switch waits for its last part: b's own part with c's, which is d + c."""
    star = network_of("a b c d [w*]", "a b c d - w, c - d", "star")
    sends = [
        Send(0, 0, 3, 2, reduce=True),
        Send(1, 0, 1, 4, reduce=True),
        Send(1, 0, 2, 4, reduce=True),
        Send(2, 0, 4, 0, reduce=True),
    ]
    schedule = by_hand(star, "reduce", Chunks.equal([0], 1), sends)
    program = check(schedule)
    assert delivers(program)
    assert stepwise(program).sends.step.tolist() == [0, 1, 1, 2]


def test_each_transfer_goes_right_after_the_last_one_it_needs() -> None:
    """Along four GPUs in two windows: hop h of either window in step h, over its own path."""
    steps = stepwise(
        compile_program(
            generate(line(4), collective="broadcast", root=0).schedule, pipeline_chunks=2
        )
    )
    assert steps.sends.step.tolist() == [0, 0, 1, 1, 2, 2]
    assert steps.sends.tail.tolist() == [0, 0, 1, 1, 2, 2]
    assert steps.clock is None
    flat = [path.nodes for some in steps.routes.paths().values() for path in some]
    assert [flat[path] for path in steps.sends.paths.tolist()] == [
        (tail, tail + 1) for tail in steps.sends.tail.tolist()
    ]


def test_a_switch_that_keeps_nothing_gets_the_parts_of_a_sum_at_once() -> None:
    """GPU b waits for a; to a plain switch c sends a step later, to one that stores at once."""
    for stores, expected in ((False, [0, 1, 1, 2]), (True, [0, 0, 1, 2])):
        net = network_of(f"a b c [w*{'+' * stores}] d", "a b c d - w, a - b", "w")
        sends = [
            Send(0, 0, 0, 1, reduce=True),
            Send(1, 0, 1, 4, reduce=True),
            Send(0 if stores else 1, 0, 2, 4, reduce=True),
            Send(2, 0, 4, 3, reduce=True),
        ]
        program = compile_program(by_hand(net, "reduce", Chunks.equal([3], 1), sends))
        assert stepwise(program).sends.step.tolist() == expected
