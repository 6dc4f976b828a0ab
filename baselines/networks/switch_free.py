"""Switch-free networks: logical links between GPUs, and the paths that carry them.

Problem: run a method without support for switches on a network with switches.
Output:  the same trees over the physical paths of these links.
Source:  ForestColl section 5.3 (equivalence): every logical link has physical bandwidth of its own,
         so loads within the logical bandwidths are within the physical ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from forestcoll.schedule import cost
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.topology.model import Link, Topology

__all__ = ["Share", "Unwound", "latency_us"]

_ENOUGH_TREES = 2**40
"""Limit on trees after the multiplication that makes shares exact."""


@dataclass(frozen=True, slots=True)
class Share:
    """Part of a logical link: a physical path, and the bandwidth that it contributes.

    ``nodes`` are positions in the network with switches, with both ends; a path may visit a switch
    more than once.
    """

    nodes: tuple[int, ...]
    bandwidth_gb_s: Fraction


@dataclass(frozen=True)
class Unwound:
    """A network without its switches.

    Parameters
    ----------
    topology : Topology
        Only the GPUs, by rank, and the logical links; the latency of a link is that of its slowest
        path. Shared capacities are left out: methods ignore them, and their schedules are measured
        on the network with them.
    paths : mapping
        The shares of each logical link (tail rank, head rank). They add up to its bandwidth; over
        each physical link they add up to at most that link's bandwidth.
    """

    topology: Topology
    paths: Mapping[tuple[int, int], tuple[Share, ...]] = field(repr=False)

    @classmethod
    def from_paths(
        cls, name: str, original: Topology, paths: Mapping[tuple[int, int], tuple[Share, ...]]
    ) -> Unwound:
        """Make the network that the shares of logical links (tail rank, head rank) add up to."""
        nodes = tuple(original.nodes[position] for position in original.compute)
        links = (
            Link(
                tail,
                head,
                sum((share.bandwidth_gb_s for share in shares), Fraction(0)),
                max(latency_us(original, share.nodes) for share in shares),
            )
            for (tail, head), shares in paths.items()
        )
        return cls(Topology(name, nodes, tuple(links)), paths)

    def carry(self, forest: Forest, original: Topology, method: str) -> Forest:
        """Put a forest on the logical links onto the physical paths.

        Parameters
        ----------
        forest : Forest
            On ``self.topology``; sends data out.
        original : Topology
            The network with the switches.
        method : str
            That the forest will name.

        Returns
        -------
        Forest
            The same trees, each link's shared out in proportion to the bandwidths of its paths;
            all stand for more trees if that takes halves of trees, but once there are 2^40 in
            all, what is left over is rounded. Congestion is what the physical loads make it,
            which may be less than on the logical links.
        """
        loads = {
            link: sum(path.multiplicity for path in paths)
            for link, paths in forest.routes.paths().items()
        }
        parts = {
            link: [load * part for part in _proportions(self.paths[link])]
            for link, load in loads.items()
        }
        exactly = math.lcm(*(part.denominator for shared in parts.values() for part in shared))
        times = min(exactly, -(-_ENOUGH_TREES // forest.num_trees))
        routes = {
            link: tuple(
                Path(share.nodes, count)
                for share, count in zip(
                    self.paths[link], _whole([part * times for part in shared]), strict=True
                )
                if count
            )
            for link, shared in parts.items()
        }
        carried = replace(
            forest,
            topology=original,
            method=method,
            k=forest.k * times,
            multiplicity=forest.multiplicity * times,
            routes=Routes.from_paths(routes),
            optimum=None,
        )
        return replace(carried, congestion=cost(carried).time_s_per_gb * carried.num_trees)


def _proportions(shares: tuple[Share, ...]) -> list[Fraction]:
    """Return how much of a logical link's bandwidth each share is."""
    total = sum((share.bandwidth_gb_s for share in shares), Fraction(0))
    return [share.bandwidth_gb_s / total for share in shares]


def _whole(parts: list[Fraction]) -> list[int]:
    """Round parts of a whole number so that they still add up to it: largest remainders up."""
    floors = [math.floor(part) for part in parts]
    left = int(sum(parts)) - sum(floors)
    order = sorted(range(len(parts)), key=lambda i: (floors[i] - parts[i], i))
    for i in order[:left]:
        floors[i] += 1
    return floors


def latency_us(topology: Topology, nodes: Iterable[int]) -> Fraction:
    """Return the sum of the latencies of the links on a path."""
    return sum((topology.link_between[hop].latency_us for hop in pairwise(nodes)), Fraction(0))
