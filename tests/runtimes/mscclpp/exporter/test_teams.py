"""Threadblocks of actions."""

from collections import Counter

from forestcoll import compile_program, generate
from forestcoll.runtimes.mscclpp.exporter.teams import Block, Fullness, blocks_of
from tests.runtimes.mscclpp.exporter.made_plans import actions, down

WIDE = Fullness(14, 56)


def test_a_place_is_of_one_team_everywhere() -> None:
    """An allgather of four GPUs in two teams: the first two chunks, and the others."""
    found, _ = actions(compile_program(generate("complete:nodes=4").schedule))
    block = blocks_of(found, 2, WIDE)
    assert {(one.target.chunk, block[one].team) for one in found} == {
        (0, 0),
        (1, 0),
        (2, 1),
        (3, 1),
    }
    assert {one.number for one in block.values()} == {0}
    assert all(block[one].gpu == one.gpu for one in found)


def test_excess_actions_go_to_another_threadblock_of_the_team() -> None:
    """A root that puts to 9 others may talk to 4 in one threadblock: 4, 4 and 1."""
    found, _ = actions(
        compile_program(generate("complete:nodes=10", collective="broadcast", root=0).schedule)
    )
    puts = [one for one in found if one.kind == "put" and one.gpu == 0 and one.level == 0]
    block = blocks_of(found, 1, Fullness(4, 56))
    of_first = Counter(block[one].number for one in puts if one.target.chunk == 0)
    assert max(of_first.values()) <= 4
    for number in {one.number for one in block.values()}:
        peers = {
            peer
            for action in found
            if block[action] == Block(0, 0, number)
            for peer in ({action.target.gpu} | {need.gpu for need in action.needs}) - {0}
        }
        assert len(peers) <= 4


def test_few_operations_make_many_threadblocks() -> None:
    """One level to a threadblock: the put of GPU 1 and the end of what came to it are apart."""
    found, _ = actions(down())
    block = blocks_of(found, 1, Fullness(14, 5))
    assert all(
        block[one] != block[other]
        for one in found
        for other in found
        if one.gpu == other.gpu and one.level < other.level
    )
