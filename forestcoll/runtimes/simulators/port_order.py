"""Order of the messages of each port: that in which a simulation sends them.

Problem: LogGOPSim takes the messages that wait for a NIC in any order, which breaks pipelines.
Input:   messages; their ports; the latency of a hop.
Output:  for each message, the one that leaves its port before it.
Cost:    a simulation that serves links first come, first served, and a sort. Of more than two
         million messages only the pipeline chunks of each transfer are ordered.
Source:  ours. Messages are ordered by the times at which they arrive in the simulation. A message
         arrives after those that it needs, so no order of ports makes a cycle.
"""

from __future__ import annotations

from fractions import Fraction

from forestcoll.runtimes.simulators.messages import Messages
from forestcoll.runtimes.simulators.simulator_ports import PathPorts
from forestcoll.schedule.simulate import UNLIMITED, AlphaBeta, Sharing, Simulator

__all__ = ["MOST_TIMES", "before_at_port"]

MOST_TIMES = 2 * 10**6
"""Messages of the largest simulation whose times are kept."""


def before_at_port(
    messages: Messages, ports: list[PathPorts], size_bytes: int, alpha_us: Fraction | int
) -> dict[int, int]:
    """Return the tag of the message before each one at its sending port; the first ones have none.

    Parameters
    ----------
    ports : list of PathPorts
        By path.
    """
    chunks = messages.pipeline_chunks
    if messages.count > MOST_TIMES:
        every = (one for found in messages.by_rank() for one in found)
        return {one.tag: one.behind for one in every if one.behind is not None}
    model = AlphaBeta(alpha_us=alpha_us, sharing=Sharing.FIFO, window=UNLIMITED)
    simulation = Simulator(messages.program).run(size_bytes, model, chunks, timeline=True)
    assert simulation.timeline is not None  # it was asked for
    arrival = simulation.timeline.arrival_s[simulation.timeline.row].tolist()
    queues: dict[tuple[int, int], list[tuple[float, int]]] = {}
    for rank, found in enumerate(messages.by_rank()):
        for one in found:
            if one.tail == rank:
                time = arrival[one.tag // chunks][one.tag % chunks]
                queues.setdefault((rank, ports[one.path].leaves), []).append((time, one.tag))
    order: dict[int, int] = {}
    for queue in queues.values():
        tags = [tag for _, tag in sorted(queue)]
        order.update(zip(tags[1:], tags, strict=False))
    return order
