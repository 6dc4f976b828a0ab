"""Schedules of rotated sketches."""

import numpy as np
import pytest

from baselines.building.composing import routed
from baselines.synthesizers.syccl.layers import cluster_of
from baselines.synthesizers.syccl.rotation import pairs_of, rotated
from baselines.synthesizers.syccl.sketch_search import find_sketches
from baselines.synthesizers.syccl.sub_demands import DIRECT
from forestcoll.schedule import verify
from forestcoll.topology import load_topology

SMALL = cluster_of(load_topology("rail_optimized:boxes=3,gpus_per_box=2"))


@pytest.mark.parametrize("kind", ["allgather", "all-to-all"])
def test_every_sketch_alone_is_a_schedule(kind: str) -> None:
    """``verify`` shares no code with the search."""
    for sketch in find_sketches(SMALL):
        chunks, sends = rotated(SMALL, [(sketch, DIRECT)], [1], kind)
        made = routed(SMALL.topology, "syccl", kind, chunks, sends)
        assert verify(made).collective == kind
        carried = sketch.carried(scatter=kind == "all-to-all")
        assert len(sends) == 6 * carried.sum()


@pytest.mark.parametrize("kind", ["allgather", "all-to-all"])
def test_two_sketches_share_every_shard(kind: str) -> None:
    """2 and 3 of 5 units each; 6 GPUs have 30 units."""
    one, other = find_sketches(SMALL)[:2]
    chunks, sends = rotated(SMALL, [(one, DIRECT), (other, DIRECT)], [2, 3], kind)
    verify(routed(SMALL.topology, "syccl", kind, chunks, sends))
    assert (chunks.whole, sorted(set(chunks.size.tolist()))) == (30, [2, 3])
    assert (
        np.bincount(chunks.root, chunks.size).tolist()
        == [5 * (5 if kind != "allgather" else 1)] * 6
    )


def test_pairs_are_those_of_the_transfers() -> None:
    for sketch in find_sketches(SMALL):
        _, sends = rotated(SMALL, [(sketch, DIRECT)], [1], "allgather")
        used = set(zip(sends.tail.tolist(), sends.head.tolist(), strict=True))
        assert set(pairs_of(SMALL, [(sketch, DIRECT)])) == used
