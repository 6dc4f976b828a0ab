"""Exact times of TACCL's transfers, and their conversion into a clocked step schedule.

Problem: the earliest times at which no link and no port serves two messages at once.
Source:  Shah et al., TACCL (NSDI 2023), section 4.3. With routes, orders and messages fixed, the
         scheduling program consists of difference constraints. Its least solution is given by
         longest paths. TACCL occupies a link for latency and bytes; the clock of a schedule only
         for the bytes, so no link is overloaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from baselines.synthesizers.taccl.exchange import Exchange
from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from baselines.synthesizers.taccl.ordering import Transfer
from forestcoll.schedule.clock import timed
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.sends import Chunks, TimedSend
from forestcoll.schedule.steps import StepSchedule

__all__ = ["Message", "Timetable", "schedule_from", "sequences", "singly", "timetable"]

Message = tuple[Transfer, ...]
"""Transfers over one link that start together and arrive together."""


@dataclass(frozen=True, slots=True)
class Timetable:
    """Messages with their start and arrival times in ticks."""

    messages: tuple[Message, ...]
    start: tuple[int, ...]
    end: tuple[int, ...]
    tick_us: Fraction

    @property
    def finish_us(self) -> Fraction:
        """The makespan."""
        return max(self.end, default=0) * self.tick_us


def singly(order: Sequence[Transfer]) -> tuple[Message, ...]:
    """Make every transfer a message of its own."""
    return tuple((transfer,) for transfer in order)


def timetable(
    network: LogicalNetwork, order: Sequence[Transfer], messages: Sequence[Message]
) -> Timetable | None:
    """Find the earliest times; None if messages wait for each other in a cycle.

    Parameters
    ----------
    order : sequence of Transfer
        The order on every link and port.
    messages : sequence of Message
        A partition of the transfers.
    """
    number = {transfer: n for n, message in enumerate(messages) for transfer in message}
    after: list[set[int]] = [set() for _ in messages]
    waits = [0] * len(messages)

    def follows(first: int, then: int) -> None:
        if first != then and then not in after[first]:
            after[first].add(then)
            waits[then] += 1

    brings = {(one.chunk, network.links[one.link].head): one for one in order}
    for transfer in order:
        feeder = brings.get((transfer.chunk, network.links[transfer.link].tail))
        if feeder is not None:
            if number[feeder] == number[transfer]:
                return None
            follows(number[feeder], number[transfer])
    for row in sequences(network, order):
        # Consecutive pairs imply the others. A message that another one interrupts waits for
        # itself, so it is found on a cycle.
        for one, other in pairwise(row):
            follows(number[one], number[other])

    # Longest paths in topological order; messages left over are on a cycle.
    start, end = [0] * len(messages), [0] * len(messages)
    todo = [n for n, count in enumerate(waits) if not count]
    for n in todo:
        link = messages[n][0].link
        end[n] = start[n] + network.latency[link] + len(messages[n]) * network.busy[link]
        for then in after[n]:
            start[then] = max(start[then], end[n])
            waits[then] -= 1
            if not waits[then]:
                todo.append(then)
    if len(todo) < len(messages):
        return None
    return Timetable(tuple(messages), tuple(start), tuple(end), network.tick_us)


def sequences(network: LogicalNetwork, order: Sequence[Transfer]) -> list[list[Transfer]]:
    """Return the transfers of each link in order, then those of each port."""
    links = len(network.links)
    rows: list[list[Transfer]] = [[] for _ in range(links + len(network.ports))]
    ports_of: list[list[int]] = [[] for _ in range(links)]
    for number, port in enumerate(network.ports):
        for i in port.links:
            ports_of[i].append(links + number)
    for transfer in order:
        rows[transfer.link].append(transfer)
        for port_row in ports_of[transfer.link]:
            rows[port_row].append(transfer)
    return rows


def schedule_from(
    network: LogicalNetwork, exchange: Exchange, times: Timetable, size_bytes: int
) -> StepSchedule:
    """Convert a timetable into a step schedule; those sent together form one message."""
    rows = []
    messages = 0
    for message, start, end in zip(times.messages, times.start, times.end, strict=True):
        link = network.links[message[0].link]
        left = start + len(message) * network.busy[message[0].link]
        number = -1
        if len(message) > 1:
            number, messages = messages, messages + 1
        rows += [
            TimedSend(
                *(start, end, transfer.chunk),
                *(network.ranks[link.tail], network.ranks[link.head]),
                left=left,
                message=number,
            )
            for transfer in message
        ]
    sends, clock = timed(rows, size_bytes, times.tick_us)
    used = {network.links[message[0].link] for message in times.messages}
    routes = Routes.from_paths(
        {
            (network.ranks[link.tail], network.ranks[link.head]): tuple(
                Path(path, 1) for path in link.paths
            )
            for link in sorted(used, key=lambda link: (link.tail, link.head, link.plane))
        }
    )
    return StepSchedule(
        network.topology,
        "taccl",
        exchange.collective,
        _chunks(network, exchange),
        sends,
        routes,
        clock,
    )


def _chunks(network: LogicalNetwork, exchange: Exchange) -> Chunks:
    """Cut the data. In an all-to-all, M includes the part that a GPU keeps for itself."""
    ranks = np.array(network.ranks, dtype=np.int32)
    root = ranks[list(exchange.source)]
    whole = exchange.gpus * exchange.parts
    if exchange.collective == "allgather":
        return Chunks.equal(root, whole)
    return Chunks(
        size=np.ones(len(exchange), dtype=np.int64),
        whole=whole,
        root=root,
        target=ranks[list(exchange.target)],
    )
