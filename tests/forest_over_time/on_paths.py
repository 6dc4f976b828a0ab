"""Small networks and their parts, as the tests of forests over time share them."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.forest_over_time.priced_hops import HopNetwork
from forestcoll.forest_over_time.rate_program import Limits
from forestcoll.forest_over_time.rotations import Orbit, root_orbits
from forestcoll.forest_over_time.timed_trees import Column, TimedTree, column_of
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.topology import Topology
from tests.hand_networks import network_of


def path_of_three() -> Topology:
    """A - b - c, links of 1 GB/s and 1 us."""
    return network_of("a b c", "a - b: 1 1, b - c: 1 1")


@dataclass(frozen=True)
class Parts:
    """A network with its hops, orbits and limits."""

    topology: Topology
    hops: HopNetwork
    orbits: list[Orbit]
    limits: Limits

    @classmethod
    def of(cls, topology: Topology, alpha_us: int = 0, weights: tuple[int, ...] = ()) -> "Parts":
        links = TimedLinks.of(topology, Fraction(alpha_us), reduction=False)
        weights = weights or (1,) * topology.num_compute
        orbits = root_orbits(topology, links, weights)
        limits = Limits(
            links=len(links.capacity),
            groups=tuple(places for places, _ in topology.shared_places),
            exact=(
                *map(Fraction, links.capacity),
                *(limit * links.denominator for _, limit in topology.shared_places),
            ),
            weights=tuple(weights[orbit.roots[0]] for orbit in orbits),
        )
        return cls(topology, HopNetwork(links, topology.compute), orbits, limits)

    def column(self, orbit: int, *parent: int) -> Column:
        """Return the tree of these parents over the fastest hops."""
        root = self.orbits[orbit].roots[0]
        tree = TimedTree.of(self.hops.hops(), root, np.array(parent))
        return column_of(self.hops, self.orbits, orbit, tree)


def columns_of_path() -> tuple[Parts, list[Column]]:
    """The path of three GPUs, and the only tree of each of them.

    a and c are symmetric, so the tree of a stands for that of c.
    """
    parts = Parts.of(path_of_three())
    return parts, [parts.column(0, -1, 0, 1), parts.column(1, 1, -1, 1)]
