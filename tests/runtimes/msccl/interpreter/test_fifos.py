"""Who takes from whom."""

from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.interpreter.actions import Actions, actions_of
from forestcoll.runtimes.msccl.interpreter.call_sizes import Cut
from forestcoll.runtimes.msccl.interpreter.fifos import check_pairs, pairs_of
from forestcoll.runtimes.msccl.interpreter.merged_steps import merge
from tests.runtimes.msccl_programs import Block, xml


def actions(*gpus: list[Block], slices: int = 1, at_once: int = 1) -> Actions:
    text = xml("allreduce", gpus, 9, (9, 9, 0))
    return actions_of(merge(parse_algorithm(text).algorithm), Cut(at_once, slices, ""))


def test_the_nth_receive_takes_the_nth_send() -> None:
    """Of one channel; slices go on where the one before ended."""
    two = actions(
        [Block(1).step("s").step("s"), Block(1, -1, 1).step("s")],
        [Block(-1, 0, 1).step("r"), Block(-1, 0).step("r").step("r")],
        slices=2,
    )
    pairs = pairs_of(two, 8)
    assert pairs.push.tolist() == [-1, -1, -1, 2, 0, 1, -1, -1, -1, 8, 6, 7]
    assert pairs.pop.tolist() == [4, 5, 3, -1, -1, -1, 10, 11, 9, -1, -1, -1]
    assert (pairs.room == -1).all()


def test_a_full_fifo_waits_for_the_receive_that_many_before() -> None:
    """A FIFO of two: the third send needs the first receive, the fourth one that is not there."""
    block = Block(1).step("s", "i0", "o0", 4)
    pairs = pairs_of(actions([block], [Block(-1, 0).step("r")]), 2)
    assert pairs.room.tolist() == [-1, -1, 4, -2, -1]


def test_at_any_size_there_is_room_for_as_many_steps() -> None:
    """A FIFO of two, sends of 3, 1 and 2: the third step (4, 5) waits for the first, of 3 (8)."""
    sender = Block(1).step("s", "i0", "o0", 3).step("s").step("s", "i0", "o0", 2)
    taker = Block(-1, 0).step("r", "i0", "o0", 3).step("r").step("r", "i0", "o0", 2)
    pairs = pairs_of(actions([sender], [taker]), 2)
    assert pairs.room[:6].tolist() == [-1, -1, 6, 7, 8, 9]
    assert pairs.room_at_any_size[:6].tolist() == [-1, -1, -1, -1, 8, 8]
    single = pairs_of(actions([sender], [taker], slices=2, at_once=71), 2)
    assert (single.room == single.room_at_any_size).all()


def test_unpaired_sends_and_receives_are_reported() -> None:
    """Two sends, of which one is received, and a receive of what nobody sends."""
    one = actions(
        [Block(1).step("s").step("s")], [Block(-1, 0).step("r"), Block(-1, 0, 1).step("r")]
    )
    messages = [found.message for found in check_pairs(one, pairs_of(one, 2))]
    assert len(messages) == 2
    assert "threadblock 1, step 0" in messages[0]
    assert "receives what GPU 0 does not send over channel 1" in messages[0]
    assert "step 1" in messages[1]
    assert "sends what GPU 1 does not receive over channel 0" in messages[1]


def test_different_counts_of_a_pair_are_reported() -> None:
    """Two and one at once; cut into single chunks, only the second is left alone."""
    gpus = ([Block(1).step("s", "i0", "o0", 2)], [Block(-1, 0).step("r")])
    many, single = actions(*gpus, at_once=71), actions(*gpus)
    (unlike,) = check_pairs(many, pairs_of(many, 2))
    assert "takes 1 of a transfer of 2" in unlike.message
    (alone,) = check_pairs(single, pairs_of(single, 2))
    assert "sends what GPU 1 does not receive" in alone.message
