"""Step schedules backwards in time."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import UnsupportedError
from forestcoll.schedule import (
    Chunks,
    Clock,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    sequential,
    time_reversed,
    verify,
)
from forestcoll.schedule.clock import timed
from forestcoll.schedule.sends import TimedSend
from forestcoll.topology import load_topology
from tests.hand_networks import network_of
from tests.schedule.transform.schedules import direct, line, on_spines, relay


def test_a_gathering_turned_round_twice_is_itself() -> None:
    """Intervals, named paths, clock and messages come back as they were."""
    net, ways = on_spines()
    both = {link: tuple(Path(way, 1) for way in some) for link, some in ways.items()}
    sends, clock = timed(
        [
            TimedSend(0, 6, 0, 0, 1, first=0, amount=2, path=1, left=2, message=0),
            TimedSend(0, 6, 0, 0, 1, first=2, amount=1, path=1, left=2, message=0),
            TimedSend(1, 4, 0, 0, 1, first=3, amount=1, path=0, left=2),
            TimedSend(0, 8, 1, 1, 0, first=0, amount=4, path=2, left=6),
        ],
        4000,
    )
    there = StepSchedule(
        net,
        "by hand",
        "allgather",
        Chunks.equal([0, 1], 8, 4),
        sends,
        Routes.from_paths(both),
        clock,
    )
    verify(there)
    back = time_reversed(there, net)
    verdict = verify(back)
    assert verdict.collective == "reduce-scatter"
    assert back.clock is not None
    assert back.clock.start.tolist() == [0, 2, 2, 4]
    assert back.clock.left is not None
    assert back.clock.left.tolist() == [6, 4, 4, 5]
    assert back.sends.path is not None
    named = [(int(t), int(p)) for t, p in zip(back.sends.tail, back.sends.path, strict=True)]
    assert named == [(0, 0), (1, 3), (1, 3), (1, 2)]
    assert time_reversed(back, net) == there


def test_an_all_to_all_backwards_brings_chunks_from_targets_to_roots() -> None:
    """Two GPUs, a half each for the other."""
    net = load_topology("complete:nodes=2")
    roots, targets = np.array([0, 1], dtype=np.int32), np.array([1, 0], dtype=np.int32)
    chunks = Chunks(np.ones(2, dtype=np.int64), 2, roots, targets)
    there = direct(net, "all-to-all", chunks, Sends.of([Send(0, 0, 0, 1), Send(1, 1, 1, 0)]))
    back = time_reversed(there, net)
    verify(back)
    assert back.chunks.root.tolist() == [1, 0]
    assert back.sends.chunk.tolist() == [1, 0]


def test_an_allreduce_is_not_turned_round() -> None:
    """Its phases are."""
    allreduce = sequential(time_reversed(relay(line().reversed()), line()), relay(line()))
    with pytest.raises(UnsupportedError, match="turn its phases round"):
        time_reversed(allreduce, line().reversed())


def test_transfers_that_ended_together_start_together() -> None:
    """Backwards the steps number the former ends."""
    star = network_of("hub slow fast", "hub - slow, hub - fast: 2", "star")
    sends = Sends.of([Send(0, 0, 0, 1), Send(1, 0, 0, 2)])
    schedule = direct(star, "broadcast", Chunks.equal([0], whole=1), sends)
    start = np.array([0, 1], dtype=np.int64)
    clock = Clock(2000, Fraction(1), start, np.array([2, 2], dtype=np.int64))
    reduction = time_reversed(replace(schedule, clock=clock), star)
    verify(reduction)
    assert reduction.sends.step.tolist() == [0, 0]
    assert reduction.clock is not None
    assert sorted(reduction.clock.end.tolist()) == [1, 2]


@pytest.mark.parametrize("more", [Send(2, 0, 1, 2), Send(2, 0, 1, 0)])
def test_what_is_sent_in_vain_cannot_be_turned_round(more: Send) -> None:
    """A second copy, or one to the root, would be counted twice."""
    topology = load_topology("torus:dims=3,wrap=false")
    sends = [Send(0, 0, 0, 1), Send(1, 0, 1, 2), more]
    vain = direct(topology, "broadcast", Chunks.equal([0], whole=1), Sends.of(sends))
    with pytest.raises(UnsupportedError, match="a GPU gets what it has"):
        time_reversed(vain, topology)


def test_a_sum_that_is_sent_twice_cannot_be_turned_round() -> None:
    """Of two halves of it, one may be sent in each of two steps; one unit of it not."""
    topology = load_topology("complete:nodes=2")
    chunks = Chunks.equal([0], 2, 2)
    halves = [Send(step, 0, 1, 0, reduce=True, first=step, amount=1) for step in range(2)]
    verify(time_reversed(direct(topology, "reduce", chunks, Sends.of(halves)), topology))
    twice = [halves[0], halves[1]._replace(first=0)]
    with pytest.raises(UnsupportedError, match="a GPU sends what it has sent"):
        time_reversed(direct(topology, "reduce", chunks, Sends.of(twice)), topology)


def test_an_all_to_all_in_which_data_goes_astray_is_not_turned_round() -> None:
    """A GPU that gets a chunk besides would send it, backwards, to who has it."""
    complete = load_topology("complete:nodes=3")
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    chunks = Chunks(
        size=np.ones(6, dtype=np.int64),
        whole=3,
        root=np.array([a for a, _ in pairs], dtype=np.int32),
        target=np.array([b for _, b in pairs], dtype=np.int32),
    )
    rows = [Send(0, c, a, b) for c, (a, b) in enumerate(pairs)]

    def exchange(sends: list[Send]) -> StepSchedule:
        routes = Routes.from_paths({pair: (Path(pair, 1),) for pair in pairs})
        return StepSchedule(complete, "by hand", "all-to-all", chunks, Sends.of(sends), routes)

    assert verify(time_reversed(exchange(rows), complete)).collective == "all-to-all"
    astray = exchange([*rows, Send(0, 0, 0, 2)])
    verify(astray)
    with pytest.raises(UnsupportedError, match="a GPU sends what it has sent"):
        time_reversed(astray, complete)
