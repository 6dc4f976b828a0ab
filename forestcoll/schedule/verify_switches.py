"""Whether switches pass on what comes in: at once unless they store, once unless they copy or add.

Part of :func:`forestcoll.schedule.verify`. What comes in *feeds* what goes out if the one has
arrived when the other starts, or comes in at least as early and as fast as the other leaves. If
the switch does not store, the other starts no later than the first has arrived.

A switch that copies and stores is like a GPU, and not looked at here. Copies are followed in the
order of time: whatever goes out is covered by what feeds it. Sums are followed backwards, from what
goes out to what came in: whatever comes in is carried on by what it feeds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise

from forestcoll.schedule.exactly import Ints
from forestcoll.schedule.naming import end_name, fail
from forestcoll.schedule.verify_rows import Rows, send_name
from forestcoll.topology.model import Node

__all__ = ["check_adding_switches", "check_copying_switches"]

_Parts = list[tuple[int, int]]


def check_copying_switches(rows: Rows, out: Ints, into: Ints) -> None:
    """Prove that switches have what they send; what others send them is taken as proved.

    Parameters
    ----------
    rows : Rows
    out, into : int arrays
        The transfers from and to switches that do not keep what they get.
    """
    given = _Given.by_switch(rows, into, rows.head)
    passing = set(out.tolist())

    def cover(send: int) -> str | None:
        at = int(rows.tail[send])
        switch = _node(rows, at)
        parts, used = _whole(rows, send), []
        for other in given.at(rows, send, at):
            if other not in passing and _feeds(rows, other, send, switch):
                taken, parts = _split(parts, given.left[other])
                used.append((other, taken))
        if parts:
            return (
                f"{end_name(rows.schedule, at)} does not have the chunk then; it "
                f"{'keeps what comes in' if switch.stores else 'passes on at once what comes in'}"
                f"{'' if switch.multicast else ', and does so once'}"
            )
        if not switch.multicast:
            given.take(used)
        return None

    _follow(rows, passing, key=lambda send: int(rows.start[send]), settle=cover)


def check_adding_switches(rows: Rows, into: Ints, out: Ints) -> None:
    """Prove that switches send on every sum that comes in, once, and nothing else.

    Parameters
    ----------
    rows : Rows
    into, out : int arrays
        The transfers to and from switches that do not keep what they get.
    """
    given = _Given.by_switch(rows, out, rows.tail)
    passing = set(into.tolist())
    idle = {send: _whole(rows, send) for send in out.tolist()}

    def carry_on(send: int) -> str | None:
        at = int(rows.head[send])
        switch, name = _node(rows, at), end_name(rows.schedule, at)
        parts, used = _whole(rows, send), []
        for other in given.at(rows, send, at):
            if other in passing or not _feeds(rows, send, other, switch):
                continue
            taken, rest = _split(parts, given.left[other])
            if switch.multicast and _long(taken) < _long(
                _split(_whole(rows, send), given.left[other])[0]
            ):
                return f"{name} sends on twice what it has added up, so it would be counted twice"
            parts = rest
            used.append((other, taken))
        if parts:
            return f"{name} does not send it on{'' if switch.stores else ' at once'}"
        for other, taken in used:
            idle[other] = _split(idle[other], taken)[1]
        if not switch.multicast:
            given.take(used)
        return None

    _follow(rows, passing, key=lambda send: -int(rows.finish[send]), settle=carry_on)
    for send, parts in idle.items():
        if parts:
            fail(f"{send_name(rows.schedule, send)}: nothing has come in for it to add up")


def _follow(
    rows: Rows, passing: set[int], *, key: Callable[[int], int], settle: Callable[[int], str | None]
) -> None:
    """Settle transfers one by one; those of one moment in whatever order works."""
    for _, moment in groupby(sorted(passing, key=lambda send: (key(send), send)), key=key):
        waiting = list(moment)
        while waiting:
            problems = {send: settle(send) for send in waiting if send in passing}
            settled = [send for send, problem in problems.items() if problem is None]
            if not settled:
                send, problem = next(iter(problems.items()))
                fail(f"{send_name(rows.schedule, send)}: {problem}")
            passing.difference_update(settled)
            waiting = [send for send in waiting if send in passing]


@dataclass(frozen=True, slots=True)
class _Given:
    """Transfers at the other side of switches, and what of them is still to be had.

    Parameters
    ----------
    of : dict
        The transfers of each (chunk, switch), by their time.
    left : dict
        Of each transfer, the parts that are not used up.
    """

    of: dict[tuple[int, int], list[int]]
    left: dict[int, _Parts]

    @classmethod
    def by_switch(cls, rows: Rows, which: Ints, switch: Ints) -> _Given:
        of = defaultdict(list)
        for send in sorted(which.tolist(), key=lambda send: (int(rows.finish[send]), send)):
            of[int(rows.chunk[send]), int(switch[send])].append(send)
        return cls(dict(of), {send: _whole(rows, send) for send in which.tolist()})

    def at(self, rows: Rows, send: int, switch: int) -> list[int]:
        """Return the transfers of the chunk of another one at a switch."""
        return self.of.get((int(rows.chunk[send]), switch), [])

    def take(self, used: Iterable[tuple[int, _Parts]]) -> None:
        """Use parts of transfers up."""
        for send, parts in used:
            self.left[send] = _split(self.left[send], parts)[1]


def _whole(rows: Rows, send: int) -> _Parts:
    return [(int(rows.first[send]), int(rows.end[send]))]


def _split(parts: _Parts, by: _Parts) -> tuple[_Parts, _Parts]:
    """Return what of some intervals lies in others, and what does not."""
    inside: _Parts = []
    for low, high in by:
        outside: _Parts = []
        for first, end in parts:
            inside += (
                [(max(first, low), min(end, high))] if max(first, low) < min(end, high) else []
            )
            outside += [(first, min(end, low))] if first < min(end, low) else []
            outside += [(max(first, high), end)] if max(first, high) < end else []
        parts = outside
    return inside, parts


def _long(parts: _Parts) -> int:
    return sum(end - first for first, end in parts)


def _node(rows: Rows, end: int) -> Node:
    topology = rows.schedule.topology
    return topology.nodes[topology.ends[end]]


def _feeds(rows: Rows, into: int, out: int, switch: Node) -> bool:
    """Tell whether what comes in with one transfer can go out with another."""
    arrived, leaves = int(rows.finish[into]), int(rows.start[out])
    if leaves > arrived and not switch.stores:
        return False
    if leaves >= arrived:
        return True
    begins, ends = _leaving_us(rows, into)
    goes, gone = _leaving_us(rows, out)
    delay = _latency_us(rows, into)
    later = int(rows.finish[out]) >= arrived
    return later and goes >= begins + delay and gone >= ends + delay


def _leaving_us(rows: Rows, send: int) -> tuple[Fraction, Fraction]:
    """Return when the first and the last byte leave the sender; without a clock, in steps."""
    clock = rows.schedule.clock
    start, finish = Fraction(int(rows.start[send])), Fraction(int(rows.finish[send]))
    if clock is None:
        return start, finish
    if clock.left is not None:
        return start * clock.tick_us, int(clock.left[send]) * clock.tick_us
    return start * clock.tick_us, finish * clock.tick_us - _latency_us(rows, send)


def _latency_us(rows: Rows, send: int) -> Fraction:
    """Return the latency of the longest path of a transfer; without a clock, none."""
    schedule = rows.schedule
    if schedule.clock is None:
        return Fraction(0)
    routes, topology, path = schedule.routes, schedule.topology, schedule.sends.path
    if path is not None and path[send] >= 0:
        ways = range(int(path[send]), int(path[send]) + 1)
    else:
        key = routes.tail.astype("int64") * rows.ends + routes.head
        link = int(key.searchsorted(int(rows.tail[send]) * rows.ends + int(rows.head[send])))
        ways = range(int(routes.first_path[link]), int(routes.first_path[link + 1]))
    longest = Fraction(0)
    for way in ways:
        hops = routes.hop[routes.first_hop[way] : routes.first_hop[way + 1]].tolist()
        delays = (topology.link_between[hop].latency_us for hop in pairwise(hops))
        longest = max(longest, sum(delays, Fraction(0)))
    return longest
