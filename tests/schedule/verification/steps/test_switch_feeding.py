"""When what enters a switch can be what leaves it: by the clock, by paths, and unit by unit.

A schedule here is a broadcast from GPU 0. Its switches multicast nothing and keep nothing, except
where a test says so. Sizes are bytes and links have 1 GB/s, so bandwidth never decides.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction

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
from forestcoll.topology import Topology
from tests.hand_networks import network_of
from tests.schedule.literals import marked, routes_of, star


def broadcast(
    net: Topology,
    rows: Sequence[TimedSend] | Sequence[Send],
    *,
    units: int = 1,
    tick_us: Fraction = Fraction(1),
    routes: Routes | None = None,
) -> StepSchedule:
    """One chunk of some units from GPU 0 over links between ends."""
    clock = None
    if isinstance(rows[0], TimedSend):
        sends, clock = timed([row for row in rows if isinstance(row, TimedSend)], units, tick_us)
    else:
        sends = Sends.of(row for row in rows if isinstance(row, Send))
    links = zip(sends.tail.tolist(), sends.head.tolist(), strict=True)
    chunks = Chunks.equal([0], whole=units, size=units)
    routes = routes or routes_of(net, links)
    return StepSchedule(net, "by hand", "broadcast", chunks, sends, routes, clock)


def check(made: StepSchedule, right: bool, *, back: bool = True) -> None:
    """Verify accepts a schedule, or says that a switch has not what it sends.

    The same of the reduce that runs ``back`` in time: not where there are copies to spare, as every
    part of a sum is needed, nor where times of leaving are not those of the latencies.
    """
    _refused(made, None if right else "does not have the chunk then")
    if back:
        backwards = time_reversed(made, made.topology.reversed())
        _refused(backwards, None if right else r"not send it on|gets nowhere")


def _refused(made: StepSchedule, message: str | None) -> None:
    with pytest.raises(VerificationError, match=message) if message else nullcontext():
        verify(made)


# --- by the clock --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "left", "right"),
    [(1, 4, True), (0, 4, False), (1, 3, False), (2, 5, True), (4, 5, True), (5, 6, False)],
)
def test_a_switch_sends_no_byte_before_it_arrives(start: int, left: int, right: bool) -> None:
    """Bytes leave GPU 0 from 0 to 3 us and are at the switch from 1 to 4 us, so neither the first
    may leave it before 1 us nor the last before 4 us. After 4 us it has nothing any more.
    """
    net = star(2, latency_us=Fraction(1))
    rows = [TimedSend(0, 4, 0, 0, 2, left=3), TimedSend(start, left + 1, 0, 2, 1, left=left)]
    check(broadcast(net, rows), right)


@pytest.mark.parametrize(("end", "right"), [(6, True), (5, False), (4, False)])
def test_without_times_of_leaving_the_latency_of_each_link_counts(end: int, right: bool) -> None:
    """1 us to the switch: the last byte leaves GPU 0 at 3 us. 2 us to GPU 1: it leaves the switch
    at 4 us only if it is there at 6 us.
    """
    rows = [TimedSend(0, 4, 0, 0, 2), TimedSend(1, end, 0, 2, 1)]
    check(broadcast(network_of("a b [s]", "a - s: 1 1, b - s: 1 2", "uneven"), rows), right)


@pytest.mark.parametrize("with_left", [False, True])
@pytest.mark.parametrize(("start", "right"), [(4, True), (3, False)])
def test_latencies_are_compared_in_microseconds(start: int, right: bool, with_left: bool) -> None:
    """Ticks of half a us: bytes that leave at tick 2 are 1 us, two ticks, later at the switch."""
    net = star(2, latency_us=Fraction(1))
    rows = [
        TimedSend(2, 8, 0, 0, 2, left=6 if with_left else None),
        TimedSend(start, 10, 0, 2, 1, left=8 if with_left else None),
    ]
    check(broadcast(net, rows, tick_us=Fraction(1, 2)), right)


def test_nothing_has_passed_a_switch_before_all_is_there() -> None:
    """Bytes leave GPU 0 until 2 us, but arrive as late as 6 us: at 4 us GPU 1 cannot have all."""
    net = star(2, latency_us=Fraction(1))
    for end, right in ((6, True), (4, False)):
        rows = [TimedSend(0, 6, 0, 0, 2, left=2), TimedSend(1, end, 0, 2, 1, left=3)]
        check(broadcast(net, rows), right, back=False)


def test_a_switch_that_stores_sends_on_whenever_it_likes() -> None:
    """There at 1 us, sent on from 5 us: only where the switch stores."""
    for stores in (True, False):
        net = star(2, stores=stores)
        rows = [TimedSend(0, 1, 0, 0, 2), TimedSend(5, 6, 0, 2, 1)]
        check(broadcast(net, rows), stores)


# --- over paths ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "start", "right"),
    [(0, 1, True), (1, 1, False), (1, 2, False), (1, 3, True), (-1, 2, False), (-1, 3, True)],
)
def test_the_path_of_a_transfer_has_its_own_latency(path: int, start: int, right: bool) -> None:
    """From GPU 0 to s in 1 us, or by t in 1 + 2 us; over both paths the longer one counts."""
    net = network_of("a b [s] [t]", "a - s t: 1 1, t - s: 1 2, s - b", "two paths")
    near, far, to_b = Path((0, 2), 1), Path((0, 3, 2), 1), Path((2, 1), 1)
    routes = Routes.from_paths({(0, 2): (near, far), (2, 1): (to_b,)})
    rows = [
        TimedSend(0, 8, 0, 0, 2, path=path, left=5),
        TimedSend(start, 9, 0, 2, 1, path=2, left=9),
    ]
    check(broadcast(net, rows, routes=routes), right, back=False)


# --- unit by unit --------------------------------------------------------------------------------


@pytest.mark.parametrize("multicast", [False, True])
@pytest.mark.parametrize(("first", "amount"), [(0, 1), (1, 1), (0, 2), (2, 1), (0, 3)])
def test_a_switch_forwards_only_received_units(first: int, amount: int, multicast: bool) -> None:
    """Some of three units come in and all three go out."""
    rows = [
        Send(0, 0, 0, 2, first=first, amount=amount),
        Send(0, 0, 2, 1, first=0, amount=3),
    ]
    check(broadcast(star(2, multicast=multicast), rows, units=3), amount == 3)


def test_each_arrival_at_a_switch_feeds_one_transfer() -> None:
    """A chunk comes in three times. The first copy serves u, s or r, the others serve u alone, as
    they last beyond s and r. u gives the first up to s; then r has none.
    """
    net = star(4)
    came = [TimedSend(0, 3, 0, 0, 4), TimedSend(1, 6, 0, 0, 4), TimedSend(2, 7, 0, 0, 4)]
    u, s, r = TimedSend(2, 7, 0, 4, 1), TimedSend(3, 5, 0, 4, 2), TimedSend(3, 5, 0, 4, 3)
    late = [TimedSend(10, 11, 0, 0, 4), TimedSend(11, 12, 0, 4, 3)]
    check(broadcast(net, [*came, u, s, *late]), True, back=False)
    check(broadcast(net, [*came, u, s, r]), False)


def test_an_exchange_of_one_unit_gives_no_other() -> None:
    """GPU 2 is sent units 0 and 1. Unit 0 is there, if GPU 1 takes its own from the other copy;
    unit 1 never came in.
    """
    net = star(3)
    rows = [
        TimedSend(0, 3, 0, 0, 3, first=0, amount=1),
        TimedSend(1, 6, 0, 0, 3, first=0, amount=1),
        TimedSend(2, 6, 0, 3, 1, first=0, amount=1),
        TimedSend(3, 5, 0, 3, 2, first=0, amount=2),
        TimedSend(20, 21, 0, 0, 3, first=1, amount=1),
        TimedSend(21, 22, 0, 3, 1, first=1, amount=1),
    ]
    check(broadcast(net, rows, units=2), False)
    rows.append(TimedSend(0, 4, 0, 0, 3, first=1, amount=1))
    check(broadcast(net, rows, units=2), True, back=False)


def relays(*links: tuple[int, int]) -> Topology:
    """GPUs 0, 1 and 2 and plain switches 3 (p), 4 (q) and 5 (r), with links in one direction."""
    pairs = (f"{'abcpqr'[tail]} > {'abcpqr'[head]}" for tail, head in links)
    return network_of("a b c [p] [q] [r]", ", ".join(pairs), "relays")


def test_a_chunk_passes_a_switch_twice_in_one_step() -> None:
    """From GPU 0 to p, on to q, back to p and to GPU 1. What is between switches goes first: p
    must not use up for GPU 1 what only q can wait for.
    """
    ways = [(0, 3), (3, 1), (3, 4), (4, 3), (0, 2)]
    net = relays(*ways)
    check(broadcast(net, [Send(0, 0, *way) for way in ways]), True)
    check(broadcast(net, [Send(0, 0, *way) for way in ways if way != (0, 3)]), False)


def test_a_transfer_that_waits_keeps_nothing_that_it_was_given() -> None:
    """P sends units 0 and 1 to q; unit 1 comes from r, in the same step and looked at later. Unit
    0 is used for q then: p has none left for GPU 2, unless it copies.
    """
    ways = [(0, 3), (0, 5), (0, 2), (3, 2), (3, 4), (4, 1), (5, 3)]
    net = relays(*ways)
    rows = [
        Send(0, 0, 0, 3, first=0, amount=1),
        Send(0, 0, 0, 5, first=1, amount=1),
        Send(0, 0, 0, 2, first=1, amount=1),
        Send(0, 0, 3, 4, first=0, amount=2),
        Send(0, 0, 4, 1, first=0, amount=2),
        Send(0, 0, 5, 3, first=1, amount=1),
    ]
    check(broadcast(net, [*rows, Send(0, 0, 0, 2, first=0, amount=1)], units=2), True)
    twice = broadcast(net, [*rows, Send(0, 0, 3, 2, first=0, amount=1)], units=2)
    check(marked(twice, multicast=True), True)
    check(twice, False)


def summed_up_at_a(*last: Send) -> StepSchedule:
    """A reduce to GPU 0 in one step: GPU 1 by p to q, which has two ways on, GPU 2 by itself."""
    ways = [(1, 3), (3, 4), (4, 0), (4, 5), (5, 0), (2, 0)]
    rows = [Send(0, 0, *way, True, 0, 2) for way in ((1, 3), (3, 4), (2, 0))]
    rows += [Send(0, 0, 4, 0, True, 0, 1), *last]
    made = broadcast(relays(*ways), rows, units=2)
    return replace(made, collective="reduce")


def test_a_sum_leaves_a_switch_once() -> None:
    """Unit 0 goes from q to GPU 0 itself, unit 1 by r. Where r gets unit 0 too, it is a sum of
    nothing, though q looked at both ways and had to wait for r.
    """
    by_r = [Send(0, 0, 4, 5, True, 1, 1), Send(0, 0, 5, 0, True, 1, 1)]
    verify(summed_up_at_a(*by_r))
    twice = [Send(0, 0, 4, 5, True, 0, 2), Send(0, 0, 5, 0, True, 0, 2)]
    with pytest.raises(VerificationError, match="nothing has come in for it to add up"):
        verify(summed_up_at_a(*twice))


def test_a_forwarded_sum_differs_from_one_that_stays() -> None:
    """Unit 1 goes on to r, which loses it; or q itself keeps it."""
    with pytest.raises(VerificationError, match="what it is sent on with gets nowhere"):
        verify(summed_up_at_a(Send(0, 0, 4, 5, True, 1, 1)))
    with pytest.raises(VerificationError, match="q does not send it on at once"):
        verify(summed_up_at_a())
