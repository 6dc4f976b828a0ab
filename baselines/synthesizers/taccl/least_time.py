"""Lower bound on the makespan of any schedule of a sketch, without a search.

Problem: the earliest time by which each GPU and each box can have received all of its chunks.
Cost:    a bisection for each GPU and box, over the links into it.
Source:  ours. A link or port that takes w for a chunk has delivered floor(t / w) chunks by time t.
         The linear relaxation allows fractions of chunks, so its bound is lower.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from baselines.building.ticks import common_part, soonest
from baselines.synthesizers.taccl.exchange import Exchange
from baselines.synthesizers.taccl.logical_network import LogicalNetwork

__all__ = ["least_time"]


def least_time(
    network: LogicalNetwork, exchange: Exchange, cost: Sequence[Fraction]
) -> Fraction | None:
    """Return the bound; None if no link leads into some GPU or box.

    Parameters
    ----------
    cost : sequence of Fraction
        The least time for which a chunk occupies each link.
    """
    size, into = network.size, network.into
    spread = exchange.collective == "all-to-all"
    demands: list[tuple[Sequence[int], int]]
    demands = [(into[place], (network.gpus - 1) * exchange.parts) for place in range(network.gpus)]
    outside = network.gpus - size
    for box in range(network.boxes if outside else 0):
        inside = range(box * size, (box + 1) * size)
        links = [i for place in inside for i in into[place] if network.links[i].remote]
        demands.append((links, outside * exchange.parts * (size if spread else 1)))
    tick = common_part(cost)
    times = []
    for into_it, count in demands:
        ways = [int(way / tick) for way in _ways(network, into_it, cost)]
        if not ways:
            return None
        times.append(soonest(ways, count))
    return tick * max(times)


def _ways(
    network: LogicalNetwork, links: Iterable[int], cost: Sequence[Fraction]
) -> list[Fraction]:
    """Return the least cost of a chunk over each port of these links, and each other link."""
    port_of = {
        i: number for number, port in enumerate(network.ports) if not port.out for i in port.links
    }
    ways: dict[int, Fraction] = {}
    for i in links:
        key = port_of.get(i, len(network.ports) + i)
        ways[key] = min(ways.get(key, cost[i]), cost[i])
    return list(ways.values())
