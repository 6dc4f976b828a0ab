"""Proof of forwarding: switches pass data on at once unless they store, once unless they copy.

Part of :func:`forestcoll.schedule.verify`. A transfer in *feeds* a transfer out if it has arrived
when the other starts, or comes in at least as early and as fast as the other leaves. If the switch
does not store, the transfer out starts no later than the transfer in has arrived.

A switch that multicasts and stores is like a GPU, and is not checked here. Copies out must be
covered by transfers in that feed them; the check runs forwards in time. Sums in must be carried on
by a transfer that they feed: at a switch that reduces, by the first of these to leave; at another,
by one that carries nothing else. This check runs backwards in time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, groupby, pairwise

import numpy as np

from forestcoll.schedule.exact_sums import Ints
from forestcoll.schedule.verification.naming import end_name, fail
from forestcoll.schedule.verification.steps.transfers import Rows, send_name
from forestcoll.topology.model import Node

__all__ = ["check_adding_switches", "check_multicast_switches"]

_Parts = list[tuple[int, int]]

_NOWHERE = "what it is sent on with gets nowhere"


def check_multicast_switches(rows: Rows, out: Ints, into: Ints) -> None:
    """Prove that switches have what they send; transfers of other ends are taken as proved.

    Parameters
    ----------
    rows : Rows
    out, into : int arrays
        The transfers from and to switches that do not keep what they get.
    """
    links = _Links(rows)
    given = _Given.at_switches(rows, into, rows.head, rows.finish)
    passing = _Passing(set(out.tolist()))

    def feeding(send: int) -> Iterator[int]:
        at = int(rows.tail[send])
        switch = _node(rows, at)
        leaves = int(rows.start[send])
        since = None if switch.stores else leaves
        for other in given.among(rows, send, at, since, leaves + given.longest):
            if passing.settled(other, send) and links.feeds(other, send, switch):
                yield other

    def cover(send: int) -> str | None:
        at = int(rows.tail[send])
        switch = _node(rows, at)
        parts, used = _whole(rows, send), _Uses()
        for other in feeding(send):
            taken, parts = _split(parts, given.left[other])
            used.append((other, taken))
        if not switch.multicast:
            given.take(send, used)
            parts = parts and _exchanged(rows, given, send, at, feeding)
        if parts:
            return (
                f"{end_name(rows.schedule, at)} does not have the chunk then; it "
                f"{'keeps what comes in' if switch.stores else 'passes on at once what comes in'}"
                f"{'' if switch.multicast else ', and does so once'}"
            )
        return None

    onward = set(into.tolist())
    _follow(rows, passing, onward, key=lambda send: int(rows.start[send]), settle=cover)


def check_adding_switches(rows: Rows, into: Ints, out: Ints) -> None:
    """Prove that switches send every incoming sum once, and nothing else.

    Parameters
    ----------
    rows : Rows
    into, out : int arrays
        The transfers to and from switches that do not keep what they get.
    """
    links = _Links(rows)
    given = _Given.at_switches(rows, out, rows.tail, rows.start)
    passing = _Passing(set(into.tolist()))
    idle = {send: _whole(rows, send) for send in out.tolist()}  # where switches reduce

    def fed(send: int) -> Iterator[int]:
        at = int(rows.head[send])
        switch = _node(rows, at)
        latest = None if switch.stores else int(rows.finish[send])
        for other in given.among(rows, send, at, int(rows.start[send]), latest):
            if links.feeds(send, other, switch):
                yield other

    def settled(send: int) -> Iterator[int]:
        return (other for other in fed(send) if passing.settled(other, send))

    def carry_on(send: int) -> str | None:
        at = int(rows.head[send])
        switch, name = _node(rows, at), end_name(rows.schedule, at)
        lost = f"{name} does not send it on{'' if switch.stores else ' at once'}"
        if switch.multicast:
            used, parts = _first_to_leave(rows, given, send, [*fed(send)])
            if used is None:
                return f"{name} sends on twice what it has added up, so it would be counted twice"
            if not parts and any(other in passing.left for other, _ in used):
                return _NOWHERE
            for other, taken in used if not parts else ():
                idle[other] = _split(idle[other], taken)[1]
        else:
            used, parts = _free(rows, given, send, [*settled(send)])
            given.take(send, used)
            parts = parts and _exchanged(rows, given, send, at, settled)
            if parts and any(other in passing.left for other in fed(send)):
                return _NOWHERE
        return lost if parts else None

    onward = set(out.tolist())
    _follow(rows, passing, onward, key=lambda send: -int(rows.finish[send]), settle=carry_on)
    for send in idle:
        adds = _node(rows, int(rows.tail[send])).multicast
        if idle[send] if adds else given.left[send]:
            fail(f"{send_name(rows.schedule, send)}: nothing has come in for it to add up")


_Uses = list[tuple[int, _Parts]]


def _first_to_leave(
    rows: Rows, given: _Given, send: int, fed: list[int]
) -> tuple[_Uses | None, _Parts]:
    """Put what comes in into the first transfer to leave, unit by unit; None if that is two."""
    used, parts = _Uses(), _whole(rows, send)
    starts = sorted(fed, key=lambda other: int(rows.start[other]))
    for _, together in groupby(starts, key=lambda other: int(rows.start[other])):
        rest = parts
        for other in together:
            taken, rest = _split(rest, given.left[other])
            if _long(taken) < _long(_split(parts, given.left[other])[0]):
                return None, parts
            used.append((other, taken))
        parts = rest
    return used, parts


def _free(rows: Rows, given: _Given, send: int, fed: list[int]) -> tuple[_Uses, _Parts]:
    """Put what comes in into transfers that carry nothing else yet, the last to leave first."""
    used, parts = _Uses(), _whole(rows, send)
    for other in sorted(fed, key=lambda other: -int(rows.start[other])):
        taken, parts = _split(parts, given.left[other])
        used.append((other, taken))
    return used, parts


def _exchanged(
    rows: Rows, given: _Given, send: int, at: int, others: Callable[[int], Iterator[int]]
) -> _Parts:
    """Have what a transfer lacks from those that came before, where they can do without.

    Each unit of a chunk is matched by itself, along augmenting paths (Kuhn); ``others`` has only
    what was settled before, lest transfers feed each other. Return what is lacking still; then
    nothing is used for the transfer.
    """

    def found(one: int, low: int, high: int, seen: set[int]) -> bool:
        for other in others(one):
            if other in seen or not rows.first[other] <= low < rows.end[other]:
                continue
            seen.add(other)
            user = given.user(other, low)
            if user is None or found(user, low, high, seen):
                given.hand(other, user, one, [(low, high)])
                return True
        return False

    place = [*given.at(int(rows.chunk[send]), at)]
    parts = _whole(rows, send)
    for other in place:
        parts = _split(parts, given.of(other, send))[1]
    cuts = {int(cut) for other in place for cut in (rows.first[other], rows.end[other])}
    cuts |= {cut for other in place for _, its in given.users[other] for p in its for cut in p}
    for first, end in parts:
        inside = sorted(cut for cut in cuts if first < cut < end)
        for low, high in pairwise((first, *inside, end)):
            if not found(send, low, high, set()):
                for other in place:
                    given.hand(other, send, None, given.of(other, send))
                return parts
    return []


@dataclass
class _Passing:
    """Transfers that depend on others: which are still to be settled, and when those others were.

    Parameters
    ----------
    left : set of int
    turn : dict
        Of the settled ones.
    """

    left: set[int]
    turn: dict[int, int] = field(default_factory=dict)

    def settle(self, send: int) -> None:
        """Take a transfer as proved."""
        self.turn[send] = len(self.turn)
        self.left.discard(send)

    def settled(self, other: int, send: int) -> bool:
        """Whether one was settled before another, so that it does not depend on it."""
        turn = self.turn.get(send)
        if other in self.left:
            return False
        return turn is None or self.turn.get(other, -1) < turn


def _follow(
    rows: Rows,
    passing: _Passing,
    onward: set[int],
    *,
    key: Callable[[int], int],
    settle: Callable[[int], str | None],
) -> None:
    """Settle transfers one by one; those of one moment in whatever order works.

    First all between switches, on which others wait: these would else use up for good what they
    could leave to them.
    """

    def turn(send: int) -> tuple[int, bool]:
        return key(send), send not in onward

    order = sorted(passing.left, key=lambda send: (*turn(send), send))
    for _, moment in groupby(order, key=turn):
        waiting = list(moment)
        while waiting:
            problems = {}
            for send in waiting:
                problem = settle(send)
                if problem is None:
                    passing.settle(send)
                else:
                    problems[send] = problem
            if len(problems) == len(waiting):
                send, problem = next(iter(problems.items()))
                fail(f"{send_name(rows.schedule, send)}: {problem}")
            waiting = list(problems)


@dataclass(frozen=True, slots=True)
class _Group:
    """Transfers of one chunk at one switch at one time, by their first units.

    Parameters
    ----------
    sends, first, furthest : list of int
        The transfers, where they begin, and the furthest end of those so far.
    """

    sends: list[int]
    first: list[int]
    furthest: list[int]


@dataclass(frozen=True, slots=True)
class _Given:
    """Transfers at the other side of switches, and what of them is still to be had.

    Parameters
    ----------
    times : dict
        When there are transfers of each (chunk, switch), in order.
    groups : dict
        The transfers of each (chunk, switch, time).
    left : dict
        Of each transfer, the parts that are not used up.
    longest : int
        No transfer lasts longer.
    users : dict
        Of each transfer, who uses which parts of it.
    """

    times: dict[tuple[int, int], list[int]]
    groups: dict[tuple[int, int, int], _Group]
    left: dict[int, _Parts]
    longest: int
    users: dict[int, _Uses] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def at_switches(cls, rows: Rows, which: Ints, switch: Ints, time: Ints) -> _Given:
        sends = defaultdict(list)
        for send in which[np.argsort(rows.first[which], kind="stable")].tolist():
            sends[int(rows.chunk[send]), int(switch[send]), int(time[send])].append(send)
        times = defaultdict(list)
        for chunk, at, when in sorted(sends):
            times[chunk, at].append(when)
        groups = {
            place: _Group(
                some,
                rows.first[some].tolist(),
                list(accumulate(rows.end[some].tolist(), max)),
            )
            for place, some in sends.items()
        }
        long = int((rows.finish[which] - rows.start[which]).max(initial=0))
        return cls(times, groups, {send: _whole(rows, send) for send in which.tolist()}, long)

    def among(
        self, rows: Rows, send: int, switch: int, since: int | None, until: int | None
    ) -> Iterator[int]:
        """Yield transfers of some units of another one at a switch, whose time is within these."""
        chunk, low, high = (int(column[send]) for column in (rows.chunk, rows.first, rows.end))
        times = self.times.get((chunk, switch), [])
        begin = 0 if since is None else bisect_left(times, since)
        end = len(times) if until is None else bisect_right(times, until)
        for when in times[begin:end]:
            group = self.groups[chunk, switch, when]
            yield from group.sends[
                bisect_right(group.furthest, low) : bisect_left(group.first, high)
            ]

    def take(self, send: int, used: _Uses) -> None:
        """Use parts of transfers up for another."""
        for other, parts in used:
            if parts:
                self.left[other] = _split(self.left[other], parts)[1]
                self.users[other].append((send, parts))

    def at(self, chunk: int, switch: int) -> Iterator[int]:
        """Yield all transfers of a chunk at a switch."""
        for when in self.times.get((chunk, switch), ()):
            yield from self.groups[chunk, switch, when].sends

    def of(self, other: int, send: int) -> _Parts:
        """Return what of a transfer is used for another."""
        return [part for one, parts in self.users[other] if one == send for part in parts]

    def user(self, other: int, unit: int) -> int | None:
        """Return for whom a unit of a transfer is used; None if it is left."""
        for send, parts in self.users[other]:
            if any(low <= unit < high for low, high in parts):
                return send
        return None

    def hand(self, other: int, user: int | None, send: int | None, parts: _Parts) -> None:
        """Use parts of a transfer for another one than so far; None: for nobody."""
        if user is not None:
            uses = self.users[other]
            uses[:] = [(one, _split(its, parts)[1] if one == user else its) for one, its in uses]
            self.left[other] = [*self.left[other], *parts]
        if send is not None:
            self.take(send, [(other, parts)])


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


@dataclass(frozen=True, slots=True)
class _Links:
    """When bytes leave and arrive; latencies are looked up once for each way."""

    rows: Rows
    latency_us: dict[tuple[int, int, int], Fraction] = field(default_factory=dict)

    def feeds(self, into: int, out: int, switch: Node) -> bool:
        """Return whether one transfer in can feed another out."""
        rows = self.rows
        arrived, leaves = int(rows.finish[into]), int(rows.start[out])
        if leaves > arrived and not switch.stores:
            return False
        if leaves >= arrived:
            return True
        if leaves < int(rows.start[into]) or int(rows.finish[out]) < arrived:
            return False
        begins, ends = self._leaving_us(into)
        goes, gone = self._leaving_us(out)
        delay = self._delay_us(into)
        return goes >= begins + delay and gone >= ends + delay

    def _leaving_us(self, send: int) -> tuple[Fraction, Fraction]:
        """Return when the first and the last byte leave the sender; without a clock, in steps."""
        rows, clock = self.rows, self.rows.schedule.clock
        start, finish = Fraction(int(rows.start[send])), Fraction(int(rows.finish[send]))
        if clock is None:
            return start, finish
        if clock.left is not None:
            return start * clock.tick_us, int(clock.left[send]) * clock.tick_us
        return start * clock.tick_us, finish * clock.tick_us - self._delay_us(send)

    def _delay_us(self, send: int) -> Fraction:
        """Return the latency of the longest path of a transfer; without a clock, none."""
        rows, schedule = self.rows, self.rows.schedule
        if schedule.clock is None:
            return Fraction(0)
        path = -1 if schedule.sends.path is None else int(schedule.sends.path[send])
        way = int(rows.tail[send]), int(rows.head[send]), path
        if way not in self.latency_us:
            self.latency_us[way] = max(map(self._latency_us, self._paths(*way)))
        return self.latency_us[way]

    def _paths(self, tail: int, head: int, path: int) -> range:
        """Return the paths of a transfer by their places in the routes."""
        routes = self.rows.schedule.routes
        if path >= 0:
            return range(path, path + 1)
        link = int(np.flatnonzero((routes.tail == tail) & (routes.head == head))[0])
        return range(int(routes.first_path[link]), int(routes.first_path[link + 1]))

    def _latency_us(self, path: int) -> Fraction:
        routes, topology = self.rows.schedule.routes, self.rows.schedule.topology
        hops = routes.hop[routes.first_hop[path] : routes.first_hop[path + 1]].tolist()
        return sum((topology.link_between[hop].latency_us for hop in pairwise(hops)), Fraction(0))
