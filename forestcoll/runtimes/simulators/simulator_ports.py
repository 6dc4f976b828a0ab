"""Ports: the link by which each transfer leaves its sender, and that by which it arrives.

Problem: simulators of endpoints know the ports of a rank, not the links of a network.
Input:   a program with transfers between GPUs.
Output:  for each path: the ports at both ends, their bandwidths, the slowest link, the latency.
Cost:    linear in the hops of all paths.
Source:  ours. A port joins a GPU to one neighbour in both directions. The ports of a GPU count from
         0 in the order of its neighbours in the topology, so GPUs with like links have like ports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from forestcoll.schedule.program import Program
from forestcoll.topology.model import Topology

__all__ = ["PathPorts", "most_ports", "path_ports", "slowest_port"]


@dataclass(frozen=True, slots=True)
class PathPorts:
    """The ends of a path as a simulator of ports sees them.

    Parameters
    ----------
    leaves, arrives : int
        Port of the sender and of the receiver, from 0 up.
    leaves_gb_s, arrives_gb_s : Fraction
        Bandwidths of the first and the last link.
    slowest_gb_s : Fraction
        The least bandwidth of all links of the path.
    hops : int
        Number of GPUs on the path that send.
    latency_us : Fraction
        Latency of all links together.
    """

    leaves: int
    arrives: int
    leaves_gb_s: Fraction
    arrives_gb_s: Fraction
    slowest_gb_s: Fraction
    hops: int
    latency_us: Fraction


def path_ports(program: Program) -> list[PathPorts]:
    """Return the ports of every path of a program, by its number."""
    return list(_ends(program))


def most_ports(topology: Topology) -> int:
    """Return the largest number of ports that a GPU has."""
    numbers = _numbers(topology)
    return max(len(numbers[gpu]) for gpu in topology.compute)


def slowest_port(program: Program, ports: list[PathPorts]) -> Fraction:
    """Return the least bandwidth of the ports by which transfers leave; 1 without transfers."""
    used = {ports[path].leaves_gb_s for path in set(program.path.tolist())}
    return min(used, default=Fraction(1))


def _ends(program: Program) -> Iterator[PathPorts]:
    topology, number = program.topology, _numbers(program.topology)
    links = {(link.tail, link.head): link for link in topology.links}
    for path in range(len(program.paths)):
        nodes = program.paths.nodes(path)
        used = [links[hop] for hop in pairwise(nodes)]
        bandwidths = [link.bandwidth_gb_s for link in used]
        yield PathPorts(
            leaves=number[nodes[0]][nodes[1]],
            arrives=number[nodes[-1]][nodes[-2]],
            leaves_gb_s=bandwidths[0],
            arrives_gb_s=bandwidths[-1],
            slowest_gb_s=min(bandwidths),
            hops=sum(topology.nodes[node].is_gpu for node in nodes[:-1]),
            latency_us=sum((link.latency_us for link in used), Fraction(0)),
        )


def _numbers(topology: Topology) -> list[dict[int, int]]:
    """Return the number of each node's port to each of its neighbours."""
    neighbours: list[set[int]] = [set() for _ in topology.nodes]
    for link in topology.links:
        neighbours[link.tail].add(link.head)
        neighbours[link.head].add(link.tail)
    return [{other: i for i, other in enumerate(sorted(found))} for found in neighbours]
