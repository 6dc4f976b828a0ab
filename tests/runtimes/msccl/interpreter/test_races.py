"""Two at one chunk, in no order."""

import pytest

from forestcoll.runtimes.interpretation.findings import Finding, Kind
from tests.runtimes.msccl_programs import Block, changed, found, line_of, xml


def races(*gpus: list[Block], **more: object) -> list[Finding]:
    text = xml("allreduce", gpus, 4, (4, 4, 4), **more)
    return [one for one in found(text).findings if one.kind is Kind.RACE]


def test_two_writers_race_and_two_readers_do_not() -> None:
    (race,) = races([Block().step("cpy", "i0", "o1"), Block().step("cpy", "i2", "o1")])
    assert (race.gpu, race.threadblock, race.lines) == (0, 0, (4, 7))
    assert race.message == (
        "cpy of GPU 0, threadblock 0, step 0 (line 4) writes and cpy of GPU 0, threadblock 1, step "
        "0 (line 7) writes chunk 1 of o, in no order"
    )
    assert not races([Block().step("cpy", "i0", "o1"), Block().step("cpy", "i0", "o2")])


def test_a_wait_orders_and_none_does_not() -> None:
    """Write, then read elsewhere; and read, then write elsewhere."""
    for first, second in (
        (("cpy", "i0", "s0"), ("cpy", "s0", "o0")),
        (("cpy", "s0", "o0"), ("cpy", "i0", "s0")),
    ):
        writer = Block().step(*first, sets_flag=True)
        assert not races([writer, Block().step(*second, wait=(0, 0))])
        assert len(races([writer, Block().step(*second)])) == 1


def test_one_threadblock_has_no_races() -> None:
    assert not races(
        [Block().step("cpy", "i0", "o0").step("re", "i1", "o0").step("cpy", "i2", "o0")]
    )


def test_steps_that_race_at_many_chunks_are_one_race() -> None:
    assert len(races([Block().step("cpy", "i0", "o0", 3), Block().step("cpy", "i1", "o1", 3)])) == 1


def test_a_transfer_there_and_back_orders() -> None:
    """GPU 0 sends chunk 0; another threadblock writes what comes back for it there."""
    there, back = Block(1).step("s", "i0"), Block(-1, 1).step("r", "i0", "i0")
    echo = Block(0, 0).step("rcs", "i0", "s0")
    assert not races([there, back], [echo], inplace=1, outofplace=0)
    own = [Block(-1, 0).step("r", "i0", "s0"), Block(0).step("s", "i1")]
    assert len(races([there, back], own, inplace=1, outofplace=0)) == 1


@pytest.mark.parametrize(("protocol", "racing"), [("Simple", 0), ("LL", 1)])
def test_room_orders_as_far_as_the_fifo_is_deep(protocol: str, racing: int) -> None:
    """GPU 0 has sent chunk 3 only when GPU 1 has taken chunk 0, out of a FIFO of two, not of eight.

    GPU 0 sets a flag then. GPU 1 has two threadblocks: the second waits for what GPU 0 sends it
    after the third transfer.
    """
    sender = Block(1).step("s", "i0").step("s", "i1").step("s", "i2", sets_flag=True)
    after = Block(1, -1, 1).step("s", "i3", wait=(0, 2))
    taker = Block(-1, 0).step("r", "i0", "o0").step("r", "i0", "o1").step("r", "i0", "o2")
    writer = Block(-1, 0, 1).step("r", "i0", "o0")
    assert len(races([sender, after], [taker, writer], proto=protocol)) == racing


def test_in_place_copies_to_themselves_do_not_race() -> None:
    """The copy of the own chunk, which another sends at the same time."""
    gpu = [Block().step("cpy", "i0", "o0"), Block(1).step("s", "i0")]
    other = [Block(-1, 0).step("r", "i0", "o1")]
    assert not races(gpu, other, inplace=1, outofplace=0)
    moved = [Block().step("cpy", "i1", "o0"), gpu[1]]
    assert len(races(moved, other, inplace=1, outofplace=0)) == 1


def test_a_step_with_shifted_overlap_is_reported() -> None:
    """Threads of a threadblock copy chunks in no order."""
    (race,) = races([Block().step("cpy", "o0", "o1", 2)])
    assert "reads chunks that it writes, shifted" in race.message
    assert not races([Block().step("re", "o0", "o0", 2)])


def test_races_are_looked_for_in_both_kinds_of_calls() -> None:
    """In place, input and output are one, so a copy into the output races with a send."""
    text = xml(
        "allreduce",
        [
            [Block().step("cpy", "i1", "o0"), Block(1).step("s", "i0")],
            [Block(-1, 0).step("r", "i0", "o2")],
        ],
        4,
        (4, 4, 0),
    )
    kinds = {one.kind for one in found(text).findings}
    assert Kind.RACE not in kinds
    both = found(changed(text, 1, inplace=1)).findings
    (race,) = [one for one in both if one.kind is Kind.RACE]
    assert race.message.startswith("in place: ")
    assert race.lines == (line_of(text, 0, 0, 0), line_of(text, 0, 1, 0))
