"""Switches: what comes in is passed on, kept, copied or added as their marks say."""

from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import (
    Chunks,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    TimedSend,
    time_reversed,
    timed,
    verify,
)
from tests.hand_networks import network_of
from tests.random_topologies import rounds
from tests.schedule.literals import LITERALS, marked, reduce_over, star, two_switches


def test_a_switch_without_multicast_sends_once() -> None:
    """What comes in once goes out twice: only a switch marked multicast does that."""
    made = marked(LITERALS["TE-CCL, multicast switch"].make(), multicast=False)
    with pytest.raises(VerificationError, match="switch does not have the chunk then; it passes"):
        verify(made)


def test_a_switch_that_stores_nothing_sends_at_once() -> None:
    """Kept for an epoch, which only a switch marked stores can do."""
    made = marked(LITERALS["TE-CCL, storing switch"].make(), stores=False)
    with pytest.raises(VerificationError, match="passes on at once what comes in"):
        verify(made)


def test_a_switch_that_stores_and_does_not_copy_sends_each_chunk_once() -> None:
    """The plain switch's schedule may wait, but not send more than came in."""
    plain = LITERALS["TE-CCL, plain switch"].make()
    verify(marked(plain, stores=True))
    made = marked(LITERALS["TE-CCL, storing switch"].make(), multicast=False)
    with pytest.raises(VerificationError, match="it keeps what comes in, and does so once"):
        verify(made)


def test_cut_through_transfers_leave_no_faster_than_they_arrive() -> None:
    """Crossing in one epoch is refused if the second link begins, or is done, before the first."""
    crossing = LITERALS["TE-CCL, multicast switch in one epoch"].make()
    assert crossing.clock is not None
    out = crossing.sends.tail == 3
    clock = crossing.clock
    verify(crossing)
    slow_in = replace(clock, end=np.where(out, clock.end, clock.end + 1))
    slow_in = replace(slow_in, left=slow_in.end)
    with pytest.raises(VerificationError, match="does not have the chunk then"):
        verify(replace(crossing, clock=slow_in))


def test_switches_cannot_feed_each_other() -> None:
    """Two switches pass on to each other, within one step, what neither ever got."""
    net = network_of("a b [s*] [t*]", "a b - s, a b s - t", "two switches")
    sends = Sends.of([Send(0, 0, 2, 3), Send(0, 0, 3, 2), Send(0, 0, 3, 1)])
    links = zip(sends.tail.tolist(), sends.head.tolist(), strict=True)
    ends = net.ends
    made = StepSchedule(
        net,
        "by hand",
        "broadcast",
        Chunks.equal([0], whole=1),
        sends,
        Routes.from_paths({(t, h): (Path((ends[t], ends[h]), 1),) for t, h in links}),
    )
    with pytest.raises(VerificationError, match="s does not have the chunk then"):
        verify(made)
    fed = Sends.of([Send(0, 0, 0, 2), Send(0, 0, 2, 3), Send(0, 0, 3, 1)])
    links = zip(fed.tail.tolist(), fed.head.tolist(), strict=True)
    routes = Routes.from_paths({(t, h): (Path((ends[t], ends[h]), 1),) for t, h in links})
    verify(replace(made, sends=fed, routes=routes))


def test_a_sum_that_a_switch_keeps_is_lost() -> None:
    """A reducing switch sends on what comes in, in the next step, and once."""
    made = LITERALS["adding in the switch"].make()
    sends = made.sends
    late = replace(sends, step=np.array([0, 1, 2], dtype=np.int32))
    late = replace(late, tail=sends.tail, head=sends.head)
    with pytest.raises(VerificationError, match="does not send it on at once"):
        verify(replace(made, sends=late))
    verify(marked(replace(made, sends=late), stores=True))
    plain = marked(made, multicast=False)
    with pytest.raises(VerificationError, match="does not send it on at once"):
        verify(plain)


def test_a_switch_sends_no_sum_of_nothing() -> None:
    """It has no part of its own: what it sends has come in, whether it can store or not."""
    for stores in (False, True):
        net = star(2, multicast=True, stores=stores)
        made = reduce_over(net, [Send(0, 0, 1, 0, True), Send(0, 0, 2, 0, True)], root=0)
        made = replace(
            made,
            routes=Routes.from_paths({(1, 0): (Path((1, 2, 0), 1),), (2, 0): (Path((2, 0), 1),)}),
        )
        with pytest.raises(VerificationError, match="nothing has come in for it to add up"):
            verify(made)


@pytest.mark.parametrize("arrives", [10, 11])
def test_summands_leave_a_switch_with_the_first_possible_sum(arrives: int) -> None:
    """So it is in one sum, whichever of them is looked at first."""
    rows = [
        TimedSend(0, 10, 0, 0, 4, True),
        TimedSend(5, 10, 0, 3, 4, True),
        TimedSend(3, 12, 0, 4, 1, True),
        TimedSend(6, arrives, 0, 4, 5, True),
        TimedSend(6, arrives, 0, 5, 2, True),
        TimedSend(12, 14, 0, 1, 2, True),
    ]
    net = two_switches()
    verify(reduce_over(net, rows, root=2))
    together = [row._replace(start=6) if row[:2] == (3, 12) else row for row in rows]
    with pytest.raises(VerificationError, match="sends on twice what it has added up"):
        verify(reduce_over(net, together, root=2))


def test_an_adding_switch_goes_on_from_step_to_step() -> None:
    """What comes in in step 0 leaves in step 0, what comes in in step 1 in step 1."""
    rows = [
        Send(0, 0, 0, 4, True),
        Send(0, 0, 4, 1, True),
        Send(1, 0, 2, 4, True),
        Send(1, 0, 4, 3, True),
        Send(2, 0, 3, 1, True),
    ]
    verify(reduce_over(two_switches(), rows, root=1))


def through_a_switch(pieces: int, *, clock: bool) -> StepSchedule:
    """A broadcast of one chunk in pieces through a switch that only passes on."""
    net = star(2)
    chunks = Chunks.equal([0], whole=pieces, size=pieces)
    ends = net.ends
    routes = Routes.from_paths(
        {(t, h): (Path((ends[t], ends[h]), 1),) for t, h in ((0, 2), (2, 1))}
    )
    rows = [
        (step, piece, *ways)
        for piece in range(pieces)
        for step, ways in enumerate(((0, 2), (2, 1)))
    ]
    if not clock:
        sends = Sends.of(
            Send(step, 0, tail, head, first=piece, amount=1) for step, piece, tail, head in rows
        )
        return StepSchedule(net, "by hand", "broadcast", chunks, sends, routes)
    timed_sends, ticking = timed(
        (
            TimedSend(step * pieces, step * pieces + pieces, 0, tail, head, first=piece, amount=1)
            for step, piece, tail, head in rows
        ),
        1000,
        Fraction(1),
    )
    return StepSchedule(net, "by hand", "broadcast", chunks, timed_sends, routes, ticking)


@pytest.mark.parametrize("clock", [False, True])
def test_chunks_through_a_switch_are_followed_singly(clock: bool, count_feeds: list[int]) -> None:
    """Two thousand pieces of one chunk: each is held against the one that fed it, not all."""
    verify(through_a_switch(2000, clock=clock))
    assert sum(count_feeds) <= 4 * 2000


@pytest.fixture
def count_feeds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often two transfers at a switch were held against each other."""
    from forestcoll.schedule.verification.steps import switches as verify_switches

    counts: list[int] = []
    feeds = verify_switches._Links.feeds

    def counted(self: Any, into: int, out: int, switch: Any) -> bool:
        counts.append(1)
        return feeds(self, into, out, switch)

    monkeypatch.setattr(verify_switches._Links, "feeds", counted)
    return counts


def test_switches_that_pass_on_slowly_do_not_feed_each_other_either() -> None:
    """What is short of a copy takes another's, which then takes what it has passed on itself."""
    net = network_of("root a b [p] [m*]", "root - p, p - a m, m - b", "circle")
    rows = [(2, 0, 3), (2, 3, 1), (3, 3, 4), (3, 4, 3), (3, 4, 2)]
    sends, clock = timed([TimedSend(0, end, 0, tail, head) for end, tail, head in rows], 2000)
    links = [(tail, head) for _, tail, head in rows]
    nodes = net.ends
    routes = Routes.from_paths({(t, h): (Path((nodes[t], nodes[h]), 1),) for t, h in sorted(links)})
    chunks = Chunks.equal([0], whole=1)
    made = StepSchedule(net, "by hand", "broadcast", chunks, sends, routes, clock)
    for each in (made, time_reversed(made, net)):
        with pytest.raises(VerificationError):
            verify(each)


def _overlapping(seed: int, halves: bool) -> StepSchedule:
    """A broadcast of a chunk that goes into a plain switch several times at once, and out."""
    random = Random(seed)
    gpus = random.randint(2, 5)
    net = network_of(f"gpu0..{gpus} [switch]", f"gpu0..{gpus} - switch: 100", "wide star")
    units = [(0, 1), (1, 1)] if halves else [(0, 2)]
    rows = []
    for first, amount in units:
        begins, ends = random.sample(range(7), gpus), [0] * gpus
        while len(set(ends)) < gpus:  # no two that begin or end together: they would be one row
            ends = [begin + random.randint(1, 4) for begin in begins]
        for gpu, begin, end in zip(range(1, gpus + 1), begins, ends, strict=True):
            whole = halves and first == 0 and random.random() < 0.3  # more than is needed
            cut = (0, 2) if whole else (first, amount)
            rows.append(TimedSend(begin, end, 0, 0, gpus + 1, first=cut[0], amount=cut[1]))
            start = begin + random.randint(0, 1)
            end = start + random.randint(2, 5)
            rows.append(TimedSend(start, end, 0, gpus + 1, gpu, first=first, amount=amount))
    sends, clock = timed(rows, 2)
    links = zip(sends.tail.tolist(), sends.head.tolist(), strict=True)
    nodes = net.ends
    routes = Routes.from_paths({(t, h): (Path((nodes[t], nodes[h]), 1),) for t, h in links})
    chunks = Chunks.equal([0], whole=2, size=2)
    return StepSchedule(net, "by hand", "broadcast", chunks, sends, routes, clock)


def _can_be_matched(made: StepSchedule) -> bool:
    """Try every way of giving each unit that goes out one that came in."""
    assert made.clock is not None
    assert made.sends.interval is not None
    sends, clock = made.sends, made.clock
    cut = sends.interval
    rows = [
        (
            int(clock.start[i]),
            int(clock.end[i]),
            int(cut.first[i]),
            int(cut.first[i] + cut.amount[i]),
        )
        for i in range(len(sends))
    ]
    for unit in range(2):
        into = [
            r for r, tail in zip(rows, sends.tail, strict=True) if tail == 0 and r[2] <= unit < r[3]
        ]
        out = [
            r for r, tail in zip(rows, sends.tail, strict=True) if tail != 0 and r[2] <= unit < r[3]
        ]
        if not any(
            all(
                came[0] <= goes[0] <= came[1] and (goes[0] == came[1] or came[1] <= goes[1])
                for came, goes in zip(some, out, strict=True)
            )
            for some in permutations(into, len(out))
        ):
            return False
    return True


@pytest.mark.parametrize("halves", [False, True])
def test_a_plain_switch_is_refused_only_if_nothing_that_came_in_fits(halves: bool) -> None:
    """Against trying all ways: broadcasts, and turned round reductions, which need all of it."""
    right = 0
    for seed in range(rounds(300)):
        made = _overlapping(seed, halves)
        assert made.sends.interval is not None
        fits = _can_be_matched(made)
        right += fits
        with nullcontext() if fits else pytest.raises(VerificationError):
            verify(made)
        all_needed = int(made.sends.interval.amount[made.sends.tail == 0].sum()) == 2 * (
            made.topology.num_compute - 1
        )
        if all_needed or not fits:
            with nullcontext() if fits else pytest.raises(VerificationError):
                verify(time_reversed(made, made.topology))
    assert 30 < right < 270
