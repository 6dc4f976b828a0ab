"""Conversion of a TACCL timetable into a clocked step schedule.

Problem: say of every transfer when it starts, has left and has arrived, over which links.
Input:   a logical network, an exchange, a timetable.
Output:  a step schedule; what is sent together is one message of its clock.
Cost:    linear, after sorting.
Source:  Shah et al., TACCL (NSDI 2023), section 4.3. A link is kept for latency and bytes there;
         the clock has it busy for the bytes alone, so that it is never asked for more.
"""

from __future__ import annotations

import numpy as np

from baselines.synthesizers.taccl.exact_times import Timetable
from baselines.synthesizers.taccl.exchange import Exchange
from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from forestcoll.schedule.clock import timed
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.sends import Chunks, TimedSend
from forestcoll.schedule.steps import StepSchedule

__all__ = ["schedule_from"]


def schedule_from(
    network: LogicalNetwork, exchange: Exchange, times: Timetable, size_bytes: int
) -> StepSchedule:
    """Put a timetable on the clock."""
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
    """Cut the data: of an all-to-all what a GPU sends in all, to itself too."""
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
