"""Synchronisation edges: channels, semaphores and barriers, matched by their counts.

Problem: counters only count, so a wait does not name its signal.
Input:   signals, waits, acquires, releases and barriers.
Output:  edges, each strong (earlier writes are visible after it) or weak (earlier actions are
         over); imbalances, which would change the counts of a later launch.
Cost:    one pass.
Source:  the k-th wait at one end of a channel returns when k signals have come from the other end.
         If one threadblock orders those of each end, this is the k-th signal at any speeds.
         Otherwise the file is refused, since the signal of a wait is ambiguous. Counters are never
         reset, so a launch must wait for as many signals as it sends.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise

from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.interpretation.findings import Finding, Kind
from forestcoll.runtimes.mscclpp.execution_plan import Plan
from forestcoll.runtimes.mscclpp.interpreter.nodes import Channel, Meeting, PlanNodes, Sync

__all__ = ["Links", "Why", "counterparts", "links_of"]


class Why(IntEnum):
    """The reason why one node comes after another."""

    PROGRAM = 0
    SIGNAL = 1
    RELAXED = 2
    SEMAPHORE = 3
    BARRIER = 4
    PACKET = 5
    """The flag of a packet, which orders no data but its own."""
    THREAD = 6
    """The order of each thread alone, which orders no data."""


@dataclass(slots=True)
class Links:
    """Edges between threadblocks; a tail of -1 stands for an event that never happens."""

    tail: list[int] = field(default_factory=list)
    head: list[int] = field(default_factory=list)
    why: list[Why] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def add(self, tail: int, head: int, why: Why) -> None:
        """Add an edge."""
        self.tail.append(tail)
        self.head.append(head)
        self.why.append(why)


def counterparts(plan: Plan) -> dict[Channel, Channel]:
    """Return the other end of each memory or port channel that has one."""
    place = defaultdict[tuple[int, int, str], list[int]](list)
    for rank, gpu in enumerate(plan.gpus):
        for kind, peers in (("memory", gpu.memory_channels), ("port", gpu.port_channels)):
            for number, peer in enumerate(peers):
                place[rank, peer, kind].append(number)
    return {
        (rank, kind, one): (peer, kind, other)
        for (rank, peer, kind), numbers in place.items()
        for one, other in zip(numbers, place.get((peer, rank, kind), []), strict=False)
    }


def links_of(plan: Plan, nodes: PlanNodes) -> Links:
    """Match all signals and waits.

    Raises UnsupportedError if the signal of a wait is ambiguous.
    """
    links = Links()
    _check_one_order(nodes)
    _channels(plan, nodes, links)
    _semaphores(plan, nodes, links)
    for (rank, number), meetings in nodes.meetings.items():
        _barrier(nodes, rank, number, meetings, links)
    return links


def _check_one_order(nodes: PlanNodes) -> None:
    rows = [
        *((f"signal on {_words(side)}", each) for side, each in nodes.signals.items()),
        *((f"wait on {_words(side)}", each) for side, each in nodes.waits.items()),
        *(
            (f"release semaphore {number} of GPU {rank}", each)
            for (rank, number), each in nodes.releases.items()
        ),
        *(
            (f"acquire semaphore {number} of GPU {rank}", each)
            for (rank, number), each in nodes.acquires.items()
        ),
    ]
    for what, each in rows:
        for one, other in pairwise(each):
            if not one.is_before(other):
                raise UnsupportedError(
                    f"unsupported: {nodes.name(one.node)} and {nodes.name(other.node)} both "
                    f"{what}, in no order, so it is open which comes first; give each its own"
                )


def _words(side: Channel) -> str:
    rank, kind, number = side
    return f"{'port ' if kind == 'port' else ''}channel {number} of GPU {rank}"


def _channels(plan: Plan, nodes: PlanNodes, links: Links) -> None:
    ends = counterparts(plan)
    for side, signals in nodes.signals.items():
        waits = nodes.waits.get(ends[side], []) if side in ends else []
        if len(signals) > len(waits):
            links.findings.append(_left_over(nodes, side, signals, len(waits), ends))
    back = {there: here for here, there in ends.items()}
    for side, waits in nodes.waits.items():
        signals = nodes.signals.get(back[side], []) if side in back else []
        if len(waits) > len(signals):
            links.findings.append(_in_vain(nodes, side, waits, len(signals)))
        for place, wait in enumerate(waits):
            if place >= len(signals):
                links.add(-1, wait.node, Why.SIGNAL)
                continue
            signal = signals[place]
            weak = signal.relaxed or wait.relaxed
            links.add(signal.node, wait.node, Why.RELAXED if weak else Why.SIGNAL)


def _left_over(
    nodes: PlanNodes,
    side: Channel,
    signals: Sequence[Sync],
    waits: int,
    ends: Mapping[Channel, Channel],
) -> Finding:
    node = signals[waits].node
    there = "no channel back is tied to it"
    if side in ends:
        there = f"GPU {ends[side][0]} waits {waits} times"
    message = (
        f"{nodes.name(node)}: signals {_words(side)} for time {waits + 1} of a launch, but {there}"
    )
    return Finding.at(Kind.BALANCE, message, nodes.place(node))


def _in_vain(nodes: PlanNodes, side: Channel, waits: Sequence[Sync], signals: int) -> Finding:
    node = waits[signals].node
    message = (
        f"{nodes.name(node)}: waits on {_words(side)} for time {signals + 1} of a launch, but it "
        f"is signalled {signals} times"
    )
    return Finding.at(Kind.BALANCE, message, nodes.place(node))


def _semaphores(plan: Plan, nodes: PlanNodes, links: Links) -> None:
    for side in sorted(nodes.releases.keys() | nodes.acquires.keys()):
        releases, acquires = nodes.releases.get(side, []), nodes.acquires.get(side, [])
        at_first = plan.gpus[side[0]].semaphores[side[1]]
        for place, acquire in enumerate(acquires):
            needed = place - at_first  # the first ones pass by the value it starts with
            if needed >= 0:
                tail = releases[needed].node if needed < len(releases) else -1
                links.add(tail, acquire.node, Why.SEMAPHORE)
        if len(releases) != len(acquires):
            node = (releases or acquires)[0].node
            message = (
                f"{nodes.name(node)}: semaphore {side[1]} of GPU {side[0]} is released "
                f"{len(releases)} times and acquired {len(acquires)} times, so a later launch "
                f"finds another value"
            )
            links.findings.append(Finding.at(Kind.BALANCE, message, nodes.place(node)))


def _barrier(
    nodes: PlanNodes, rank: int, number: int, meetings: Sequence[Meeting], links: Links
) -> None:
    """Match the n-th arrival of each threadblock at a barrier."""
    times = Counter[int]()
    rounds = defaultdict[int, list[Meeting]](list)
    for meeting in meetings:
        rounds[times[meeting.block]].append(meeting)
        times[meeting.block] += 1
    for each in rounds.values():
        middle = nodes.add(rank, nodes.block[nodes.end[rank]] + 1, nodes.what[each[0].come])
        for meeting in each:
            links.add(meeting.come, middle, Why.BARRIER)
            links.add(middle, meeting.go, Why.BARRIER)
        if any(meeting.many > len(times) or meeting.many > len(each) for meeting in each):
            links.add(-1, middle, Why.BARRIER)
        if any(meeting.many != len(times) for meeting in each):
            node = each[0].come
            message = (
                f"{nodes.name(node)}: {len(times)} threadblocks of GPU {rank} come to barrier "
                f"{number}, which is for {each[0].many}"
            )
            links.findings.append(Finding.at(Kind.BALANCE, message, nodes.place(node)))
