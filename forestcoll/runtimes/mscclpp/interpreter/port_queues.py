"""Queues of port channels: transfers and signals in the order in which their proxy does them.

Problem: a thread only queues a request; transfers and signals happen later, without the thread.
Input:   requests of threads, by channel.
Output:  for each request a node at which it is over, behind all that was queued before it on its
         channel.
Cost:    linear in requests.
Source:  the proxy of MSCCL++ takes requests from one FIFO in their order. A connection (RDMA queue
         pair or CUDA stream) does writes and signals in this order. Requests that two threads queue
         without a nop between them are in no order.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from forestcoll.runtimes.mscclpp.interpreter.nodes import Channel, PlanNodes, Sync

__all__ = ["PortQueues"]


@dataclass(slots=True)
class _Requests:
    """Requests of a threadblock on one channel.

    Attributes
    ----------
    epoch : int
        The nops before the last request.
    earlier : int
        The node at which all requests before the last nop are over; -1 for none.
    last : dict
        For each thread, the end of its last request since then.
    lines : list of int
        Lines of nodes; between two nops, each thread with requests takes the next one.
    """

    epoch: int = 0
    earlier: int = -1
    last: dict[int, int] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)


class PortQueues:
    """The queues of the port channels of one GPU.

    Attributes
    ----------
    next_line : int
        The first line of nodes that is still free.
    """

    def __init__(self, nodes: PlanNodes, rank: int, first_line: int) -> None:
        self.nodes, self.rank, self.next_line = nodes, rank, first_line
        self._requests: defaultdict[tuple[Channel, int], _Requests] = defaultdict(_Requests)

    def add(self, channel: Channel, request: Sync, what: int) -> int:
        """Queue a request; return the node at which it is over."""
        before = self.before(channel, request)
        requests = self._requests[channel, request.block]
        node = self.nodes.add(self.rank, self._line(requests, request.thread), what)
        for tail in (request.node, *before):
            self.nodes.join(tail, node)
        requests.last[request.thread] = node
        return node

    def before(self, channel: Channel, request: Sync) -> list[int]:
        """Return the end of all that was queued before a thread's request, if there is any."""
        requests = self._requests[channel, request.block]
        if request.epoch > requests.epoch:
            self._pass_nop(requests)
            requests.epoch = request.epoch
        node = requests.last.get(request.thread, requests.earlier)
        return [node] if node >= 0 else []

    def _line(self, requests: _Requests, thread: int) -> int:
        if thread in requests.last:
            return self.nodes.block[requests.last[thread]]
        place = len(requests.last)
        if place == len(requests.lines):
            requests.lines.append(self.next_line)
            self.nodes.queues.add(self.next_line)
            self.next_line += 1
        return requests.lines[place]

    def _pass_nop(self, requests: _Requests) -> None:
        ends = list(requests.last.values())
        if len(ends) > 1:
            # One node for all ends, so that later requests need one edge each.
            requests.earlier = self.nodes.add(self.rank, requests.lines[0])
            for end in ends:
                self.nodes.join(end, requests.earlier)
        elif ends:
            (requests.earlier,) = ends
        requests.last.clear()
