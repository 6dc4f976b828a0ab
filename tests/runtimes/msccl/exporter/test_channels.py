"""Queues, and the threadblocks at their ends."""

import pytest

from forestcoll import compile_program
from forestcoll.runtimes.msccl.exporter.channels import Block, Queue, blocks_of, queues_of
from forestcoll.runtimes.msccl.exporter.executor_limits import (
    CHANNEL_THREADBLOCKS,
    GPU_THREADBLOCKS,
)
from tests.baselines.claims import make
from tests.runtimes.msccl.exporter.drafts import Draft, down_a_line


def test_a_threadblock_receives_and_sends_on() -> None:
    """In the middle of a line; at its ends they do one thing only."""
    draft = down_a_line()
    sends, receives = blocks_of(queues_of(draft.pieces, draft.chains, 4))
    first, second = Queue(0, 0, 1), Queue(0, 1, 2)
    assert receives[first] == sends[second] == Block(0, 0, 2)
    assert (sends[first], receives[second]) == (Block(0, -1, 1), Block(0, 1, -1))


def test_transfers_to_one_gpu_are_spread_over_the_channels() -> None:
    """The last step of recursive doubling sends eight shards of sixteen: two over each of four."""
    schedule = make("recursive-halving-doubling", "allgather", "hypercube:dimension=4")
    draft = Draft.of(compile_program(schedule))
    queues = queues_of(draft.pieces, draft.chains, 4)
    last = max(piece.step for piece in draft.pieces)
    used = {
        queues.channel[place]
        for place, chain in enumerate(draft.chains)
        if draft.pieces[chain[-1]].step == last and draft.pieces[chain[-1]].tail == 0
    }
    assert used == {0, 1, 2, 3}


@pytest.mark.slow
def test_a_gpu_with_too_many_threadblocks_lets_some_do_two_things() -> None:
    """64 GPUs that all send to all: 63 that send and 63 that receive are 63 that do both."""
    draft = Draft.of(compile_program(make("direct", "allgather", "torus:dims=8x8")))
    queues = queues_of(draft.pieces, draft.chains, 8)
    sends, receives = blocks_of(queues)
    for gpu in range(64):
        blocks = {block for queue, block in sends.items() if queue.tail == gpu}
        blocks |= {block for queue, block in receives.items() if queue.head == gpu}
        assert len(blocks) <= GPU_THREADBLOCKS
        for channel in range(8):
            assert sum(block.channel == channel for block in blocks) <= CHANNEL_THREADBLOCKS


def test_a_thrifty_choice_takes_queues_that_are_there() -> None:
    """All reduce to all, then gather: five peers are five queues of each."""
    draft = Draft.of(compile_program(make("direct", "allreduce", "complete:nodes=6")))
    singly = [[piece] for chain in draft.chains for piece in chain]
    many = queues_of(draft.pieces, singly, 4)
    few = queues_of(draft.pieces, singly, 4, thrifty=True)
    assert len(few.load) == 6 * 5 < len(many.load)
