"""What each transfer of a program waits for, by hand."""

from fractions import Fraction

import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule import Allreduce, Chunks, Send, stepwise, verify
from forestcoll.schedule.sends import TimedSend
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.baselines.claims import make
from tests.hand_networks import network_of
from tests.schedule.literals import reduce_over, two_switches
from tests.schedule.made.programs import by_hand, check, forest_of, line, rows
from tests.schedule.made.run_program import delivers


def test_pieces_follow_one_another() -> None:
    """A broadcast along three GPUs in three windows: each hop waits for its own window only."""
    sends = [Send(0, 0, 0, 1), Send(1, 0, 1, 2)]
    program = check(by_hand(line(3), "broadcast", Chunks.equal([0], 1), sends), pipeline_chunks=3)
    assert rows(program) == [
        (0, 0, 1, 0, 1),
        (0, 1, 1, 0, 1),
        (0, 2, 1, 0, 1),
        (0, 0, 1, 1, 2, 0),
        (0, 1, 1, 1, 2, 1),
        (0, 2, 1, 1, 2, 2),
    ]
    assert program.size(5) == Fraction(1, 3)
    assert program.paths.nodes(int(program.path[5])) == (1, 2)
    with pytest.raises(InvalidParameterError, match="cut into 0 pipeline chunks"):
        compile_program(
            by_hand(line(3), "broadcast", Chunks.equal([0], 1), sends), pipeline_chunks=0
        )


def test_a_ring_of_three_forwards_received_shards() -> None:
    """One way round: every shard is sent twice, the second time after the first."""
    ring = load_topology("ring:nodes=3,bidirectional=false")
    program = check(generate(ring).schedule)
    assert rows(program) == [
        (0, 0, 1, 0, 1),
        (1, 0, 1, 1, 2),
        (2, 0, 1, 2, 0),
        (0, 0, 1, 1, 2, 0),
        (1, 0, 1, 2, 0, 1),
        (2, 0, 1, 0, 1, 2),
    ]
    assert not program.reduce.any()
    assert program.starts is None
    assert (program.message == -1).all()


def test_each_summand_is_in_one_sum_of_an_adding_switch() -> None:
    """In the first to leave; the second has what came in later, though both overlap in time."""
    rows_ = [
        TimedSend(0, 10, 0, 0, 4, True),
        TimedSend(5, 10, 0, 3, 4, True),
        TimedSend(3, 12, 0, 4, 1, True),
        TimedSend(6, 11, 0, 4, 5, True),
        TimedSend(6, 11, 0, 5, 2, True),
        TimedSend(12, 14, 0, 1, 2, True),
    ]
    made = reduce_over(two_switches(), rows_, root=2)
    assert delivers(check(made))
    steps = [
        Send(0, 0, 0, 4, True),
        Send(0, 0, 4, 1, True),
        Send(1, 0, 2, 4, True),
        Send(1, 0, 4, 3, True),
        Send(2, 0, 3, 1, True),
    ]
    assert delivers(check(reduce_over(two_switches(), steps, root=1)))


def plain_switch(marks: tuple[dict[str, bool], ...], gpus: int = 3) -> Topology:
    """GPUs and switches with these marks, all joined."""
    builder = TopologyBuilder()
    names = [builder.gpu(f"g{i}") for i in range(gpus)]
    names += [builder.switch(f"w{i}", **mark) for i, mark in enumerate(marks)]
    for i, near in enumerate(names):
        for far in names[i + 1 :]:
            builder.link(near, far, 1)
    return builder.build("all joined")


def test_a_sum_that_a_plain_switch_divides_is_not_lowered() -> None:
    """Of what came in with two transfers, the one that leaves has a part and the other the rest."""
    rows_ = [
        Send(0, 0, 1, 0, True, 0, 1),
        Send(0, 0, 1, 3, True, 1, 1),
        Send(0, 0, 2, 3, True, 0, 2),
        Send(0, 0, 3, 0, True, 0, 2),
        Send(0, 0, 3, 0, True, 1, 1),
    ]
    chunks = Chunks.equal([0], whole=2, size=2)
    made = by_hand(plain_switch(({},)), "reduce", chunks, rows_)
    verify(made)
    with pytest.raises(UnsupportedError, match="cut the transfers where their ways part"):
        compile_program(made)


def test_switches_that_swap_within_a_moment_are_not_lowered() -> None:
    """One copies what the other may send once, and sends it back in the same step."""
    marks: tuple[dict[str, bool], ...] = ({"multicast": True}, {"stores": True})
    rows_ = [Send(0, 0, 0, 4), Send(1, 0, 4, 3), Send(1, 0, 3, 4), Send(2, 0, 3, 1)]
    made = by_hand(
        plain_switch(marks), "broadcast", Chunks.equal([0], 1), [*rows_, Send(2, 0, 4, 2)]
    )
    verify(made)
    with pytest.raises(UnsupportedError, match="within one moment"):
        compile_program(made)


def test_a_multicast_switch_needs_one_copy_of_each_chunk() -> None:
    """It gets the chunk twice, and what leaves it is either."""
    rows_ = [Send(0, 0, 0, 3), Send(0, 0, 3, 1), Send(1, 0, 1, 3), Send(1, 0, 3, 2)]
    net = plain_switch(({"multicast": True},))
    program = check(by_hand(net, "broadcast", Chunks.equal([0], 1), rows_))
    assert delivers(program)
    assert len(program.need) == 3


def test_more_needs_than_can_be_held_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of d transfers out of a root needs each of d into it; the square must have an end."""
    made = make("direct", "allreduce", "complete:nodes=5")
    many = len(compile_program(made).need)
    monkeypatch.setattr("forestcoll.schedule.transform.dependencies._MOST", many)
    compile_program(made)
    monkeypatch.setattr("forestcoll.schedule.transform.dependencies._MOST", many - 1)
    with pytest.raises(UnsupportedError, match=f"each other more than {many - 1} times"):
        compile_program(made)


def test_a_root_sends_the_sum_of_the_same_units() -> None:
    """Halves of a sum come in to a in two trees, thirds of it go out in three.

    In units of a sixth: b sends c + b of the first three on, c that of the last three. Each third
    waits for the halves that it lies in: the one from 2 to 4 for both.
    """
    net = load_topology("complete:nodes=3")
    a, b, c = range(3)
    inward = [
        Send(0, 0, c, b, reduce=True),
        Send(0, 1, b, c, reduce=True),
        Send(1, 0, b, a, reduce=True),
        Send(1, 1, c, a, reduce=True),
    ]
    reduce = forest_of(by_hand(net, "reduce", Chunks.equal([a, a], 2), inward))
    outward = [Send(0, third, a, gpu) for third in range(3) for gpu in (b, c)]
    gather = forest_of(by_hand(net, "broadcast", Chunks.equal([a, a, a], 3), outward))
    program = check(Allreduce(reduce, gather))
    assert delivers(program)
    assert program.chunks.whole == 6
    assert program.reduce.tolist() == [True] * 4 + [False] * 6
    assert sorted(rows(program)[:4]) == sorted(
        [(0, 3, 3, b, c), (0, 0, 3, c, b), (0, 0, 3, b, a, 1), (0, 3, 3, c, a, 0)]
    )
    assert sorted(row[1:3] + row[4:] for row in rows(program)[4:]) == [
        (0, 2, b, 2),
        (0, 2, c, 2),
        (2, 2, b, 2, 3),
        (2, 2, c, 2, 3),
        (4, 2, b, 3),
        (4, 2, c, 3),
    ]


def test_two_gpus_that_swap_their_sums_do_not_need_each_other() -> None:
    """Recursive doubling of four: the second swap needs the first one's two sums, no more."""
    net = load_topology("complete:nodes=4")
    sends = [Send(s, 0, v, v ^ (1 << s), reduce=True) for s in range(2) for v in range(4)]
    program = check(by_hand(net, "allreduce", Chunks.equal([-1], 1), sends))
    assert delivers(program)
    assert [len(program.dependencies(t)) for t in range(8)] == [0] * 4 + [1] * 4


def test_what_is_added_after_a_copy_is_sent_on() -> None:
    """Pairs a, b and c, d of a ring sum up at b and c, which copy the sums to a and d.

    a and d exchange them, and copy the total to b and c. These copies need the exchange, not only
    the copies before it.
    """
    net = load_topology("ring:nodes=4")
    sends = [
        *(Send(0, 0, 0, 1, True), Send(0, 0, 3, 2, True)),
        *(Send(1, 0, 1, 0), Send(1, 0, 2, 3)),
        *(Send(2, 0, 0, 3, True), Send(2, 0, 3, 0, True)),
        *(Send(3, 0, 0, 1), Send(3, 0, 3, 2)),
    ]
    made = by_hand(net, "allreduce", Chunks.equal([-1], 1), sends)
    verify(made)
    program = check(made)
    assert delivers(program)
    assert rows(program)[-2:] == [(0, 0, 1, 0, 1, 2, 5), (0, 0, 1, 3, 2, 3, 4)]


def star(switch: str) -> Topology:
    """Three GPUs around a switch, which is end 3."""
    return network_of(f"a b c {switch}", "a b c - w", "star")


@pytest.mark.parametrize("later", [0, 1])
def test_a_switch_forwards_in_the_same_or_the_next_step(later: int) -> None:
    """To both others, which needs the one transfer to the switch, also in the same step."""
    sends = [Send(0, 0, 0, 3), Send(later, 0, 3, 1), Send(later, 0, 3, 2)]
    net = star("[w*]")
    program = check(by_hand(net, "broadcast", Chunks.equal([0], 1), sends), pipeline_chunks=2)
    assert [program.dependencies(t).tolist() for t in range(6)] == [[], [], [0], [1], [0], [1]]
    assert delivers(program)


def test_a_plain_switch_forwards_the_first_copy_first() -> None:
    """The first copy to leave is the first that came in, though both are there."""
    sends = [Send(0, 0, 0, 3), Send(1, 0, 0, 3), Send(2, 0, 3, 1), Send(3, 0, 3, 2)]
    program = compile_program(by_hand(star("[w+]"), "broadcast", Chunks.equal([0], 1), sends))
    assert [program.dependencies(t).tolist() for t in range(4)] == [[], [], [0], [1]]
    assert delivers(program)
    verify(stepwise(program))


@pytest.mark.parametrize("later", [0, 1])
def test_a_switch_adds_simultaneous_summands(later: int) -> None:
    """The sum of b and c needs both, in each of two windows."""
    sends = [
        Send(0, 0, 1, 3, reduce=True),
        Send(0, 0, 2, 3, reduce=True),
        Send(later, 0, 3, 0, reduce=True),
    ]
    net = star("[w*]")
    program = check(by_hand(net, "reduce", Chunks.equal([0], 1), sends), pipeline_chunks=2)
    assert [program.dependencies(t).tolist() for t in range(6)] == [[], [], [], [], [0, 2], [1, 3]]
    assert delivers(program)
