"""Who waits for whom where nothing moves."""

from forestcoll.runtimes.interpretation.findings import Finding, Kind
from tests.runtimes.msccl_programs import Block, found, line_of, xml


def deadlocks(text: str) -> list[Finding]:
    return [one for one in found(text).findings if one.kind is Kind.DEADLOCK]


def pair(*blocks: Block) -> str:
    return xml("allreduce", [[blocks[0]], list(blocks[1:])], 1, (1, 1, 1))


def test_a_cycle_with_waiting_threadblocks_is_reported_once() -> None:
    """GPUs 0 and 1 receive before they send; threadblock 1 of GPU 1 waits for that."""
    text = pair(
        Block(1, 1).step("r").step("s"),
        Block(0, 0).step("r", sets_flag=True).step("s"),
        Block().step("cpy", wait=(0, 0)),
    )
    (only,) = deadlocks(text)
    assert set(only.lines) == {line_of(text, 0, 0, 0), line_of(text, 1, 0, 0)}
    assert only.message.startswith("3 threadblocks are deadlocked: in a cycle, r of GPU 0")
    assert only.message.count(" waits for data of GPU ") == 2


def test_two_circles_are_two() -> None:
    blocks = [[Block(1 - r, 1 - r, c).step("r").step("s") for c in range(2)] for r in range(2)]
    text = xml("allreduce", blocks, 1, (1, 1, 1))
    assert len(deadlocks(text)) == 2


def test_a_wait_for_nothing_is_at_the_end_of_its_way() -> None:
    """GPU 1 waits for GPU 0, which waits for what GPU 1 never sends."""
    text = pair(Block(1, 1).step("r").step("s"), Block(-1, 0).step("r"))
    (only,) = deadlocks(text)
    assert only.lines == (line_of(text, 0, 0, 0),)
    assert "for data of GPU 1 over channel 0, which sends no more" in only.message


def test_waiting_for_oneself_is_a_circle_of_one() -> None:
    text = xml(
        "allreduce", [[Block().step("cpy", wait=(0, 1)).step("cpy", sets_flag=True)]], 1, (1, 1, 0)
    )
    (only,) = deadlocks(text)
    assert "in a cycle, cpy of GPU 0, threadblock 0, step 0" in only.message


def test_a_long_circle_is_cut_short_in_words_but_not_in_lines() -> None:
    """Eight of ten are written in words."""
    gpus = [[Block((r + 1) % 10, (r + 9) % 10).step("r").step("s")] for r in range(10)]
    (only,) = deadlocks(xml("allreduce", gpus, 1, (1, 1, 0)))
    assert len(only.lines) == 10
    assert "; and 2 more" in only.message
