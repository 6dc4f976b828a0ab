"""Who signals whom."""

from forestcoll import compile_program, generate
from forestcoll.runtimes.mscclpp.exporter.signals import phases_of
from forestcoll.runtimes.mscclpp.exporter.teams import Block, Fullness, blocks_of
from tests.runtimes.mscclpp.exporter.made_plans import actions, down, swap

WIDE = Fullness(14, 56)


def test_each_waits_for_what_it_needs() -> None:
    """Down a line: 0 signals 1, which signals 2, which only waits."""
    found, _ = actions(down())
    phases = phases_of(found, blocks_of(found, 1, WIDE))
    first, second, third = (Block(gpu, 0, 0) for gpu in range(3))
    assert phases[first][0].signals == [second]
    assert (phases[second][1].waits, phases[second][1].signals) == ([first], [third])
    assert phases[third][2].waits == [second]
    assert [one.kind for one in phases[third][2].actions] == ["end"]


def test_every_signal_has_one_wait_and_nobody_waits_for_what_it_knows() -> None:
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
