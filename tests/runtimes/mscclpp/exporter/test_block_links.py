"""Channels and semaphores between threadblocks."""

from forestcoll import compile_program, generate
from forestcoll.runtimes.mscclpp.exporter.block_links import Wiring, channels_of, phases_of, wired
from forestcoll.runtimes.mscclpp.exporter.teams import Block, Fullness, blocks_of
from tests.runtimes.mscclpp.exporter.made_plans import actions, down, swap, there_and_back

WIDE = Fullness(14, 56)
FIRST, SECOND, THIRD = (Block(gpu, 0, 0) for gpu in range(3))


def wiring(made, teams: int = 1, most: Fullness = WIDE) -> Wiring:  # type: ignore[no-untyped-def]
    found, _ = actions(made)
    return wired(phases_of(found, blocks_of(found, teams, most)))


def test_receivers_greet_their_writers_at_the_launch() -> None:
    """Down a line: 0 of 1, 1 of 2."""
    found = wiring(down())
    assert found.greeted == {FIRST: [SECOND], SECOND: [THIRD]}
    assert found.links == {FIRST: [SECOND], SECOND: [FIRST, THIRD], THIRD: [SECOND]}
    assert not found.semaphores


def test_both_ways_are_one_channel() -> None:
    found = wiring(there_and_back())
    assert found.links == {FIRST: [SECOND], SECOND: [FIRST]}
    channels = channels_of(found, {0: [FIRST], 1: [SECOND]}, instances=2)
    assert channels.peers == {0: [1, 1], 1: [0, 0]}
    assert channels.number[1, FIRST, SECOND] == channels.number[1, SECOND, FIRST] == 1


def test_threadblocks_of_one_gpu_share_semaphores() -> None:
    """What GPU 1 gets and what it passes on are apart: a semaphore leads from one to the other."""
    found = wiring(
        compile_program(generate("complete:nodes=12", collective="allreduce").schedule),
        1,
        Fullness(4, 56),
    )
    assert found.semaphores
    assert all(one.gpu == other.gpu and one != other for one, other in found.semaphores)
    numbers = [number for (one, _), number in found.semaphores.items() if one.gpu == 0]
    assert sorted(numbers) == list(range(found.shared[0]))


def test_excesses_are_reported_before_writing() -> None:
    found = wiring(down())
    assert found.excess(1, 1) is None
    assert "2 threadblocks of a GPU, and 1 are the most" in str(found.excess(2, 1))
    star = wiring(
        compile_program(generate("complete:nodes=20", collective="broadcast", root=0).schedule),
        1,
        Fullness(99, 999),
    )
    assert "channels of a threadblock, and 16 are the most" in str(star.excess(1, 1))


def test_phases_wait_for_the_signals_they_need() -> None:
    """Down a line: 0 signals 1, which signals 2, which only waits."""
    found, _ = actions(down())
    phases = phases_of(found, blocks_of(found, 1, WIDE))
    first, second, third = (Block(gpu, 0, 0) for gpu in range(3))
    assert phases[first][0].signals == [second]
    assert (phases[second][1].waits, phases[second][1].signals) == ([first], [third])
    assert phases[third][2].waits == [second]
    assert [one.kind for one in phases[third][2].actions] == ["end"]


def test_every_signal_has_one_wait_and_no_implied_ones() -> None:
    found, _ = actions(compile_program(generate("torus:dims=2x3", collective="allreduce").schedule))
    for teams in (1, 3, 100):
        phases = phases_of(found, blocks_of(found, teams, WIDE))
        sent = [
            (block, other, level)
            for block, each in phases.items()
            for level, phase in each.items()
            for other in phase.signals
        ]
        waited = [
            (other, block)
            for block, each in phases.items()
            for phase in each.values()
            for other in phase.waits
        ]
        assert sorted((one, other) for one, other, _ in sent) == sorted(waited)
        assert len(set(sent)) == len(sent)


def test_needs_within_a_threadblock_are_not_signalled() -> None:
    """The sums of a swap need the own put, too, but wait for the other GPU alone."""
    found, _ = actions(swap())
    phases = phases_of(found, blocks_of(found, 1, WIDE))
    assert phases[Block(0, 0, 0)][1].waits == [Block(1, 0, 0)]
