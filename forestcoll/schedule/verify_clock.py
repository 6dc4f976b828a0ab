"""Whether the times of a schedule with a clock can be kept.

Part of :func:`forestcoll.schedule.verify`. Whether data is there when it is sent is looked at
elsewhere; here, that times are in order, that messages are such, and that at no moment the rates of
the transfers over a link add up to more than its bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.schedule.exactly import Ints, first
from forestcoll.schedule.naming import fail
from forestcoll.schedule.steps import Clock, StepSchedule
from forestcoll.schedule.verify_rows import send_name
from forestcoll.schedule.wellformed import check_array

__all__ = ["check_rates", "check_times"]

_NEVER = np.iinfo(np.int64).max


def check_times(schedule: StepSchedule, clock: Clock) -> None:
    """Times are whole numbers in order; transfers start together when their step is the same."""
    count = len(schedule.sends)
    if type(clock.size_bytes) is not int or clock.size_bytes < 1:
        fail(f"the clock is for {clock.size_bytes!r} bytes; it must be a positive int")
    if not isinstance(clock.tick_us, Fraction) or clock.tick_us <= 0:
        fail(f"a tick is {clock.tick_us!r} us; it must be a positive Fraction")
    check_array("clock.start", clock.start, (count,), 0, _NEVER - 1)
    check_array("clock.end", clock.end, (count,), 0, _NEVER - 1)
    if (send := first(clock.end <= clock.start)) is not None:
        name = send_name(schedule, send)
        fail(f"{name} ends at tick {clock.end[send]}, not after it starts")
    later = np.diff(clock.start) > 0
    same = np.diff(schedule.sends.step) == 0
    if (send := first((np.diff(clock.start) < 0) | (later == same))) is not None:
        fail(f"{send_name(schedule, send + 1)}: steps must number the starts of the transfers")
    if clock.left is not None:
        check_array("clock.left", clock.left, (count,), 0, _NEVER - 1)
        if (send := first((clock.left <= clock.start) | (clock.left > clock.end))) is not None:
            fail(f"{send_name(schedule, send)} leaves at tick {clock.left[send]}, not in its time")
    if clock.message is not None:
        _check_messages(schedule, clock)


def _check_messages(schedule: StepSchedule, clock: Clock) -> None:
    """The transfers of a message have the same ends and times, and the same way."""
    sends, message = schedule.sends, clock.message
    assert message is not None
    check_array("clock.message", message, (len(sends),), -1, max(len(sends) - 1, 0))
    order = np.argsort(message, kind="stable")
    order = order[message[order] >= 0]
    together = message[order][1:] == message[order][:-1]
    for what, column in (
        ("sender", sends.tail),
        ("receiver", sends.head),
        ("path", sends.path),
        ("start", clock.start),
        ("end", clock.end),
        ("time of leaving", clock.left),
    ):
        if column is None:
            continue
        if (at := first(together & (column[order][1:] != column[order][:-1]))) is not None:
            name = send_name(schedule, int(order[at + 1]))
            fail(f"{name} has another {what} than the rest of message {message[order[at]]}")


@dataclass(frozen=True, slots=True)
class _Way:
    """What a transfer does to links.

    Parameters
    ----------
    latency_us : Fraction
        Of its longest path.
    shares : tuple of (int, Fraction, Fraction)
        Physical link, the share of the transfer that takes it, and how long before in us.
    """

    latency_us: Fraction
    shares: tuple[tuple[int, Fraction, Fraction], ...]


def check_rates(schedule: StepSchedule, clock: Clock, way: Ints, hops: Ints) -> None:
    """At no moment do the transfers over a link need more than its bandwidth.

    Parameters
    ----------
    schedule : StepSchedule
    clock : Clock
    way : int array of length T
        The way of every transfer: a logical link, or behind these a path.
    hops : int array
        The physical link of every hop of the paths.
    """
    ways: dict[int, _Way] = {}
    changes: dict[int, dict[Fraction, Fraction]] = {}
    size = [Fraction(n, schedule.chunks.whole) for n in schedule.intervals.amount.tolist()]
    starts, ends = clock.start.tolist(), clock.end.tolist()
    gone = None if clock.left is None else clock.left.tolist()
    for send, (begin, end, number) in enumerate(zip(starts, ends, way.tolist(), strict=True)):
        if number not in ways:
            ways[number] = _way(schedule, hops, number)
        latency, start_us = ways[number].latency_us, begin * clock.tick_us
        left_us = end * clock.tick_us - latency if gone is None else gone[send] * clock.tick_us
        if left_us <= start_us or left_us + latency > end * clock.tick_us:
            name = send_name(schedule, send)
            fail(f"{name} has no time for the latency of its way, {latency} us")
        busy_us = left_us - start_us
        gb_s = size[send] * clock.size_bytes / (busy_us * 1000)
        for physical, share, before_us in ways[number].shares:
            change, at = changes.setdefault(physical, {}), start_us + before_us
            change[at] = change.get(at, Fraction(0)) + gb_s * share
            change[at + busy_us] = change.get(at + busy_us, Fraction(0)) - gb_s * share
    for physical in sorted(changes):
        _check_link(schedule, physical, changes[physical])


def _way(schedule: StepSchedule, hops: Ints, number: int) -> _Way:
    """Look up what a logical link, or behind these a path, does to physical links."""
    routes, links = schedule.routes, schedule.topology.links
    path = number - len(routes.tail)
    low, high = (path, path + 1) if path >= 0 else routes.first_path[number : number + 2].tolist()
    trees = routes.multiplicity[low:high].tolist()
    latency, shares = Fraction(0), list[tuple[int, Fraction, Fraction]]()
    for at, count in zip(range(low, high), trees, strict=True):
        begin, end = (int(routes.first_hop[i]) - i for i in (at, at + 1))
        before = Fraction(0)
        for link in hops[begin:end].tolist():
            shares.append((link, Fraction(count, sum(trees)), before))
            before += links[link].latency_us
        latency = max(latency, before)
    return _Way(latency, tuple(shares))


def _check_link(schedule: StepSchedule, physical: int, change: dict[Fraction, Fraction]) -> None:
    topology = schedule.topology
    link, rate = topology.links[physical], Fraction(0)
    for time_us in sorted(change):
        rate += change[time_us]
        if rate > link.bandwidth_gb_s:
            ends = " -> ".join(topology.nodes[i].name for i in (link.tail, link.head))
            fail(
                f"link {ends} carries {rate} GB/s from {time_us} us on; its bandwidth is "
                f"{link.bandwidth_gb_s} GB/s"
            )
