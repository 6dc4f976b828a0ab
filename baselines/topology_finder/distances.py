"""Sums of distances, and the all-to-all rates that follow, of a network and of its expansions.

Problem: bound the all-to-all rate of a network that is made of smaller ones, without building it.
Input:   the sums of the smaller ones.
Output:  the sums of the larger one, or bounds on them.
Cost:    constant.
Source:  Zhao et al. (NSDI 2025), section 6.2: with equal prices of all links, the rate of a pair is
         at most the links over the sum of all distances. The sums of expansions are ours:

Line graph. Two links are as far apart as the head of one is from the tail of the other, and one
hop more. A link and itself are the exception, so the sum over links of the way back is needed.
Degree expansion. Copies of two nodes are as far apart as the nodes. Two copies of one node are as
far apart as a shortest cycle through it is long.
Cartesian product. Distances add up. Prices on the links of one factor alone bound the rate by that
of the factor over the number of GPUs of the other one; the least of the two bounds is attained if
those of the factors are, by sending along one dimension after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Distances"]


@dataclass(frozen=True, slots=True)
class Distances:
    """Sums of distances, in hops; rates in bandwidths of one link for every ordered pair of GPUs.

    Parameters
    ----------
    total : int
        At most the sum over all ordered pairs of their distance; equal to it unless the network is
        a line graph of a line graph.
    back : int
        At least the sum over all links of the distance from head to tail; equal to it unless the
        network is a line graph.
    bound : Fraction
        No all-to-all is faster.
    rate : Fraction, optional
        The rate of an all-to-all that is known to be possible; it then equals the bound.
    """

    total: int
    back: int
    bound: Fraction
    rate: Fraction | None = None

    def line_graph(self, nodes: int, degree: int, hops: int) -> Distances:
        """Return the sums of L(G), for G with so many nodes of a degree and hops at most.

        Two links in a row are at most as far apart on the way back as any two links.
        """
        links = nodes * degree
        total = degree**2 * self.total + links**2 - (self.back + links)
        back = links * degree * (hops + 1)
        return Distances(total, back, Fraction(links * degree, total))

    def degree_expansion(self, nodes: int, degree: int, times: int, cycle: int) -> Distances:
        """Return the sums of G * n, for G whose links are all on a cycle of so many links."""
        total = times**2 * self.total + nodes * times * (times - 1) * cycle
        links = nodes * degree * times**2
        return Distances(total, times**2 * self.back, Fraction(links, total))

    def power(self, nodes: int, exponent: int) -> Distances:
        """Return the sums of the n-th Cartesian power of G, for G with so many nodes."""
        made, size = self, nodes
        for _ in range(1, exponent):
            made, size = made.product(size, self, nodes), size * nodes
        return made

    def product(self, nodes: int, other: Distances, others: int) -> Distances:
        """Return the sums of G [] H, for G with ``nodes`` and H with ``others`` nodes."""
        rate = None
        if self.rate is not None and other.rate is not None:
            rate = min(self.rate / others, other.rate / nodes)
        return Distances(
            self.total * others**2 + other.total * nodes**2,
            self.back * others + other.back * nodes,
            min(self.bound / others, other.bound / nodes),
            rate,
        )
