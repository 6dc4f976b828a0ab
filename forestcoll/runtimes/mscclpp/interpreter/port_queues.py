"""Queues of port channels: transfers and signals in the order in which their proxy does them.

Problem: a thread only queues a request; transfers and signals happen later, without the thread.
Input:   requests of threads, by channel.
Output:  for each request a node at which it is over, behind all that was queued before it on its
         channel.
Cost:    the requests since the last ordered ones, mostly one.
Source:  the proxy of MSCCL++ takes requests from one FIFO in their order. A connection (RDMA queue
         pair or CUDA stream) does writes and signals in this order. Requests that two threads queue
         without a nop between them are in no order.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from forestcoll.runtimes.mscclpp.interpreter.nodes import Channel, PlanNodes, Sync

__all__ = ["PortQueues"]


@dataclass(slots=True)
class _Row:
    """Requests of a channel in one order: the last one, and the line of their nodes."""

    last: Sync
    node: int
    line: int


class PortQueues:
    """The queues of the port channels of one GPU.

    Attributes
    ----------
    next_line : int
        The first line of nodes that is still free.
    """

    def __init__(self, nodes: PlanNodes, rank: int, first_line: int) -> None:
        self.nodes, self.rank, self.next_line = nodes, rank, first_line
        self._rows: defaultdict[Channel, list[_Row]] = defaultdict(list)

    def add(self, channel: Channel, request: Sync, what: int) -> int:
        """Queue a request; return the node at which it is over."""
        rows = self._rows[channel]
        earlier = [row for row in rows if row.last.is_before(request)]
        if earlier:
            line = earlier[0].line
        else:
            line, self.next_line = self.next_line, self.next_line + 1
            self.nodes.queues.add(line)
        node = self.nodes.add(self.rank, line, what)
        for tail in (request.node, *(row.node for row in earlier)):
            self.nodes.join(tail, node)
        # All later requests behind this one are behind those before it, too.
        rows[:] = [row for row in rows if row not in earlier]
        rows.append(_Row(request, node, line))
        return node

    def before(self, channel: Channel, request: Sync) -> list[int]:
        """Return the ends of what was queued before a thread's request, the last of each row."""
        return [row.node for row in self._rows[channel] if row.last.is_before(request)]
