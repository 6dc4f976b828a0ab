"""What must have been done before."""

from dataclasses import replace

from forestcoll.runtimes.msccl.exporter.channels import Block
from forestcoll.runtimes.msccl.exporter.threadblock_actions import Action, Spot
from forestcoll.runtimes.msccl.exporter.waits import waits_of
from tests.runtimes.msccl.exporter.drafts import down_a_line

LAYOUT = down_a_line().layout
ONE, TWO, THREE = (Block(channel, 1, 2) for channel in range(3))
WRITE = Action(0, ONE, "r", 1, None, Spot("o", 0, 0))
READ = Action(0, TWO, "s", 1, Spot("o", 0, 0), None)


def test_reads_wait_for_writes_and_writes_for_reads() -> None:
    """Within one threadblock nobody needs to."""
    assert waits_of([WRITE, READ, WRITE], LAYOUT) == [[], [0], [1]]
    assert waits_of([WRITE, replace(READ, block=ONE)], LAYOUT) == [[], []]


def test_two_that_read_do_not_wait_for_each_other() -> None:
    """Who then writes waits for both."""
    reads = [READ, replace(READ, block=THREE)]
    assert waits_of([*reads, WRITE], LAYOUT) == [[], [], [1, 0]]


def test_implied_waits_are_left_out() -> None:
    """The second writer waits for the reader, who has waited for the first."""
    last = replace(WRITE, block=THREE)
    assert waits_of([WRITE, READ, last], LAYOUT) == [[], [0], [1]]


def test_other_places_and_other_gpus_do_not_matter() -> None:
    elsewhere = replace(READ, source=Spot("o", 1, 0)), replace(READ, gpu=1)
    assert waits_of([WRITE, *elsewhere], LAYOUT) == [[], [], []]
