"""Step schedules cut alike."""

from dataclasses import replace

import numpy as np

from forestcoll.schedule import Chunks, Send, Sends, by_shards, sequential, verify
from forestcoll.topology import load_topology
from tests.schedule.transform.schedules import direct


def test_phases_that_cut_the_data_differently_meet_in_shards() -> None:
    """Halves and thirds of one chunk are intervals of six units; the whole stays one chunk."""
    net = load_topology("complete:nodes=2")
    halves = [Send(i, i, 1, 0, reduce=True) for i in range(2)]
    thirds = [Send(i, i, 0, 1) for i in range(3)]
    reduce = direct(net, "reduce", Chunks.equal([0, 0], 2), Sends.of(halves))
    gather = direct(net, "broadcast", Chunks.equal([0, 0, 0], 3), Sends.of(thirds))
    both = sequential(reduce, gather)
    verify(both)
    assert both.chunks.size.tolist() == [6]
    assert both.intervals.first.tolist() == [0, 3, 0, 2, 4]
    assert both.intervals.amount.tolist() == [3, 3, 2, 2, 2]
    assert both.sends.step.tolist() == [0, 1, 2, 3, 4]


def test_shards_hold_the_chunks_of_a_root_in_order() -> None:
    """Chunks of 1, 2 and 4 units of GPUs 1, 0, 1: GPU 1's lie at 0 and 1."""
    net = load_topology("complete:nodes=2")
    chunks = replace(Chunks.equal([1, 0, 1], 10), size=np.array([1, 5, 4], dtype=np.int64))
    sends = Sends.of([Send(0, 0, 1, 0), Send(0, 1, 0, 1), Send(1, 2, 1, 0)])
    merged = by_shards(direct(net, "allgather", chunks, sends))
    verify(merged)
    assert merged.chunks.size.tolist() == [5, 5]
    assert merged.chunks.root.tolist() == [0, 1]
    assert merged.sends.chunk.tolist() == [1, 0, 1]
    assert merged.intervals.first.tolist() == [0, 0, 1]
    assert by_shards(merged) is merged
