"""Allreduces in the paper's stages: both proved, and together never slower than in sequence."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from baselines.interface.search import Search
from baselines.synthesizers.teccl.staged_allreduce import (
    StagedAllreduce,
    check_stages,
    joint_allreduce,
    paper_allreduce,
)
from baselines.synthesizers.teccl.teccl import generate
from forestcoll.errors import InvalidParameterError, TimeLimitError, VerificationError
from forestcoll.problem.limits import Limits
from forestcoll.schedule import StepSchedule, verify
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.baselines.synthesizers.teccl.random_demands import BYTES, random_network
from tests.random_topologies import seeds


@pytest.mark.parametrize(
    ("spec", "asked", "theirs", "ours"),
    [
        # in the paper's epochs of table 3: 4 us each way
        ("dgx1", {"size_bytes": 200_000, "epoch": "slowest", "crossing": "stored"}, 8, 8),
        # five epochs and three, where sums take three as well
        ("ring:nodes=6", {"size_bytes": 6000}, 8, 6),
        ("dgx1:nvlink_latency=0", {"size_bytes": 200_000, "epoch": "slowest"}, 5, 4),
    ],
)
def test_adding_on_the_way_is_never_slower(
    spec: str, asked: dict[str, Any], theirs: int, ours: int
) -> None:
    """Both phases are proved, and so is our allreduce."""
    topology = load_topology(spec)
    made = paper_allreduce(topology, **asked)
    assert verify(made.scatter).collective == "all-to-all"
    assert verify(made.gather).collective == "allgather"
    assert made.finish_us == pytest.approx(Fraction(theirs), rel=1e-4)
    schedule = generate(topology, "allreduce", **asked)
    verify(schedule)
    assert schedule.clock is not None
    assert schedule.clock.finish_us == ours


def test_the_time_is_shared() -> None:
    with pytest.raises(TimeLimitError):
        paper_allreduce(load_topology("torus:dims=4x4"), limits=Limits(seconds=0))


def shifted(schedule: StepSchedule, ticks: int) -> StepSchedule:
    clock = schedule.clock
    assert clock is not None
    assert clock.left is not None
    moved = (clock.start + ticks, clock.end + ticks, clock.left + ticks)
    return replace(schedule, clock=replace(clock, start=moved[0], end=moved[1], left=moved[2]))


def fewest_by_trying(topology: Topology) -> int:
    """Breadth first over all that three GPUs may have: six parts, and three sums of them.

    Links of one chunk an epoch, without latencies. Chunk (s, d) is a part, (d, d) the sum.
    """
    place = {node: rank for rank, node in enumerate(topology.compute)}
    links = [(place[link.tail], place[link.head]) for link in topology.links]
    pairs = list(itertools.permutations(range(3), 2))
    wanted = {((d, d), rank) for rank, d in pairs}
    states = {frozenset((pair, pair[0]) for pair in pairs)}
    for epochs in itertools.count():
        if any(wanted <= state for state in states):
            return epochs
        states = {after for state in states for after in _one_epoch(state, links)}
    raise AssertionError


def _one_epoch(state: Any, links: list[tuple[int, int]]) -> set[Any]:
    sums = {((d, d), d) for d in range(3) if all(((s, d), d) in state for s in range(3) if s != d)}
    have = state | sums
    found = {have}
    for a, b in links:
        lacking = [chunk for chunk, at in have if at == a and (chunk, b) not in have]
        found = {got | {(c, b)} for got in found for c in lacking} or found
    most = max(map(len, found))
    return {got for got in found if len(got) == most}


@pytest.mark.parametrize("seed", seeds(12, 6))
def test_the_fewest_epochs_are_those_of_all_schedules(seed: int) -> None:
    draw = random.Random(seed)
    builder = TopologyBuilder()
    for rank in range(3):
        builder.gpu(f"g{rank}")
    for a, b in itertools.permutations(range(3), 2):
        if b == (a + 1) % 3 or draw.random() < 0.4:
            builder.arc(f"g{a}", f"g{b}", 1)
    topology = builder.build("three")
    made = joint_allreduce(topology, size_bytes=3 * BYTES)
    check_stages(made)
    assert made.epochs == made.bound == fewest_by_trying(topology)


@pytest.mark.parametrize(("seed", "gained"), [(0, 0), (7, 2), (8, 1), (15, 1), (21, 1)])
def test_together_is_never_slower_than_in_sequence(seed: int, gained: int) -> None:
    """It is faster where some GPU has its sum before others have theirs."""
    topology = random_network(random.Random(seed))
    asked: dict[str, Any] = {
        "size_bytes": topology.num_compute * BYTES,
        "epoch": "slowest",
        "crossing": "stored",
    }
    reported: list[Search] = []
    together = joint_allreduce(topology, report=reported.append, **asked)
    check_stages(together)
    assert (reported[-1].incumbent, reported[-1].bound) == (together.epochs, together.bound)
    in_turn = paper_allreduce(topology, milp=True, **asked)
    check_stages(in_turn)
    assert in_turn.finish_us - together.finish_us == gained
    assert together.finish_us == together.epochs


@pytest.mark.slow
def test_several_chunks_and_switches() -> None:
    """A chunk's sum may leave before the other chunks' parts are there."""
    for spec in (
        "torus:dims=3,wrap=false",
        "dgx_a100:boxes=1",
        "fat_tree:leaves=2,hosts=1,spines=1",
    ):
        made = joint_allreduce(
            load_topology(spec), size_bytes=24_000, chunks=2, limits=Limits(seconds=2)
        )
        check_stages(made)


def test_a_sum_that_is_sent_too_early_is_found() -> None:
    """And so is a link that both stages use at once."""
    made = joint_allreduce(load_topology("ring:nodes=4"), size_bytes=4000)
    clock = made.gather.clock
    assert clock is not None
    begin = int(clock.start.min())
    assert begin > 0
    early = replace(made, gather=shifted(made.gather, -begin))
    with pytest.raises(VerificationError, match="of all schedules together"):
        check_stages(early)
    wide = made.scatter.topology.scaled("*", 2)
    both = [replace(each, topology=wide) for each in (made.scatter, early.gather)]
    with pytest.raises(VerificationError, match="sends the sum of chunk 0 from 0 us on"):
        check_stages(StagedAllreduce(both[0], both[1], together=True))


def test_invalid_chunks_and_exhausted_time_are_refused() -> None:
    ring = load_topology("ring:nodes=4")
    with pytest.raises(InvalidParameterError, match="chunks is 0"):
        joint_allreduce(ring, chunks=0)
    with pytest.raises(TimeLimitError):
        joint_allreduce(load_topology("torus:dims=4x4"), limits=Limits(seconds=0))
