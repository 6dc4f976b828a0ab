"""Local search: exchange the ends of two links as long as the broadcast gets faster.

Problem: a network of the same size and degree that takes less than one that is known.
Input:   a network of GPUs whose links have one bandwidth; the weights of T_L and T_B.
Output:  a network that is proved to take less, or None.
Cost:    two breadth-first broadcasts for each exchange that is tried.
Source:  none; exchanges of ends keep all degrees, and reach every network of these degrees.

Exchanges are drawn by a seeded generator, so the result depends on nothing else. What is accepted
has been computed exactly, for both directions.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.breadth_first import broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from baselines.topology_finder.building import built, network_of
from baselines.topology_finder.candidate import Candidate
from forestcoll.errors import DisconnectedError, UnsupportedError
from forestcoll.topology.model import Link, Topology

__all__ = ["Improved", "improved", "swapped"]

Pairs = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Improved:
    """A network found by exchanges, with its times as in a candidate.

    Parameters
    ----------
    topology : Topology
    hops, reverse_hops : int
    time, reverse_time : Fraction
    exchanges : int
        How many were accepted.
    """

    topology: Topology
    hops: int
    time: Fraction
    reverse_hops: int
    reverse_time: Fraction
    exchanges: int


def improved(
    topology: Topology,
    cost: Callable[[int, Fraction], Fraction],
    *,
    tries: int = 1000,
    seed: int = 0,
) -> Improved | None:
    """Exchange ends of links while the cost of an allreduce falls.

    Parameters
    ----------
    topology : Topology
        Of GPUs, with single links of one bandwidth.
    cost : callable
        What so many hops and so much T_B (in M / B, both directions together) cost.
    tries : int
        Exchanges to try.
    seed : int

    Raises
    ------
    UnsupportedError
        If links have several bandwidths.
    """
    widths = {link.bandwidth_gb_s for link in topology.links}
    if len(widths) > 1 or topology.switches:
        raise UnsupportedError(
            f"unsupported: {topology.name} has parallel links or switches; exchanges of ends are "
            f"of single links between GPUs"
        )
    links = [(link.tail, link.head) for link in topology.links]
    both_ways = {(b, a) for a, b in links} == set(links)
    chance = random.Random(seed)
    now = _timed(topology, links)
    assert now is not None
    least, accepted = cost(now[0] + now[2], now[1] + now[3]), 0
    for _ in range(tries):
        changed = _exchanged(links, chance, both_ways=both_ways)
        if changed is None:
            continue
        found = _timed(topology, changed)
        if found is not None and (price := cost(found[0] + found[2], found[1] + found[3])) < least:
            least, links, now, accepted = price, changed, found, accepted + 1
    if not accepted:
        return None
    return Improved(_rewired(topology, links), *now, accepted)


def swapped(
    one: Candidate,
    cost: Callable[[int, Fraction], Fraction],
    *,
    tries: int = 1000,
    seed: int = 0,
) -> Candidate | None:
    """Return the candidate that edge swaps make of one, with its schedules verified.

    T_B counts unused ports, such as those of self-loops, as in the candidate. None is returned if
    no swap costs less than ``one`` by its own T_L and T_B, or the swaps do not apply: exchanges of
    ends are of single links.

    Raises
    ------
    VerificationError
        If a schedule is wrong, or takes longer than computed.
    """
    topology = network_of(one)
    if len({link.bandwidth_gb_s for link in topology.links}) > 1:
        return None
    width = topology.links[0].bandwidth_gb_s
    ports = one.degree / (Fraction(len(topology.links), one.nodes) * width)

    def with_ports(hops: int, time: Fraction) -> Fraction:
        return cost(hops, time * ports)

    found = improved(topology, with_ports, tries=tries, seed=seed)
    if found is None:
        return None
    made = replace(
        one,
        name=f"{one.name}, {found.exchanges} swap{'s' * (found.exchanges > 1)}",
        hops=found.hops,
        time=found.time * ports,
        reverse_hops=found.reverse_hops,
        reverse_time=found.reverse_time * ports,
        reverse_symmetric=False,
        breadth_first=True,
        distances=None,
        factor=False,
        cycle=0,
        self_loops=False,
        swapped=found.topology,
        swaps=found.exchanges,
    )
    if _cost(made, cost) >= _cost(one, cost):
        return None  # the schedule of the construction is faster than a breadth-first broadcast
    for collective in ("allgather", "reduce-scatter"):
        built(made, collective)
    return made


def _cost(one: Candidate, cost: Callable[[int, Fraction], Fraction]) -> Fraction:
    return cost(one.hops + one.reverse_hops, one.time + one.reverse_time)


def _exchanged(
    links: list[tuple[int, int]], chance: random.Random, *, both_ways: bool
) -> list[tuple[int, int]] | None:
    """Let two links exchange their heads; None if there is such a link already, or a loop."""
    (a, b), (c, d) = chance.sample(links, 2)
    old, new = {(a, b), (c, d)}, {(a, d), (c, b)}
    if both_ways:
        old, new = ({*pairs, *((y, x) for x, y in pairs)} for pairs in (old, new))
    kept = set(links) - old
    if any(x == y for x, y in new) or len(old) != len(new) or kept & new:
        return None
    return sorted(kept | new)


def _timed(
    topology: Topology, links: list[tuple[int, int]]
) -> tuple[int, Fraction, int, Fraction] | None:
    """Return T_L and T_B of both directions; None if some GPU cannot be reached."""
    rewired = _rewired(topology, links)
    degree = Fraction(len(links), rewired.num_compute) * rewired.links[0].bandwidth_gb_s
    found: list[tuple[int, Fraction]] = []
    for network in (rewired, rewired.reversed()):
        try:
            times = broadcast_times(BroadcastNetwork.of(network), Alike.none(network.num_compute))
        except DisconnectedError:
            return None
        found.append((len(times.longest), times.time_s_per_gb * degree))
    return (*found[0], *found[1])


def _rewired(topology: Topology, links: list[tuple[int, int]]) -> Topology:
    width = topology.links[0].bandwidth_gb_s
    name = topology.name if topology.name.endswith(", rewired") else f"{topology.name}, rewired"
    return replace(topology, name=name, links=tuple(Link(a, b, width) for a, b in sorted(links)))
