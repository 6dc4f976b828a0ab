"""Lower bound on the time of any demand, from prices of links.

Problem: how long does a demand take at least, on a network where GPUs and switches forward?
Input:   a demand; a whole number from 0 up for every link and every shared capacity.
Output:  the bound, exactly:

             time >= sum over chunks of size d(chunk) / (sum_e b_e p_e + sum_g B_g q_g),

         with d the price of the cheapest path from the source to the farthest target; a link costs
         its own price and those of the shared capacities that hold it.
Cost:    a search from every source.
Source:  duality of concurrent flows (Shahrokhi and Matula 1990). A chunk pays for every link that
         it crosses, so at least the cheapest path to each of its targets; all together pay at most
         what the links carry in that time. Copies on the way do not change this.

Whole prices make the distances exact: floats hold whole numbers up to 2^53.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.problem.demand import Demand
from forestcoll.topology.describe import counted, link_classes
from forestcoll.topology.model import Link, Topology
from forestcoll.topology.shortest_paths import distances

__all__ = ["MOST_PRICE", "PriceBound", "boundary_prices"]

MOST_PRICE = 2**32
"""Largest price; with 2^20 nodes a path costs less than 2^53."""

_EVERY = 256
"""Sources whose distances are held at once."""


@dataclass(frozen=True)
class PriceBound:
    """A lower bound on the time of a demand.

    Parameters
    ----------
    demand : Demand, optional
        None: an all-to-all in which each pair has one unit.
    price : tuple of int
        Of each link, and then of each shared capacity.
    inverse_rate : Fraction
        The bound, in units of the demand per GB/s; for bytes these are nanoseconds.
    """

    topology: Topology
    demand: Demand | None
    price: tuple[int, ...] = field(repr=False)
    inverse_rate: Fraction

    @classmethod
    def of(cls, topology: Topology, demand: Demand | None, price: Sequence[int]) -> PriceBound:
        """Compute the bound; 0 if no price or no demand is above 0."""
        whole = tuple(map(int, price))
        paid = _offered(topology, whole)
        due = _due(topology, demand, whole) if paid else 0
        return cls(topology, demand, whole, Fraction(due) / paid if paid else Fraction(0))

    def in_words(self) -> list[str]:
        """Return the links that have a price, by kind, most expensive first."""
        links = self.topology.links
        by_price: dict[int, list[Link]] = {}
        for link, price in zip(links, self.price, strict=False):
            if price:
                by_price.setdefault(price, []).append(link)
        words = [
            f"price {price} on {counted(len(by_price[price]), 'link')}: "
            + "; ".join(map(str, link_classes(self.topology, by_price[price])))
            for price in sorted(by_price, reverse=True)[:_MOST_WORDS]
        ]
        shared = zip(self.topology.shared, self.price[len(links) :], strict=True)
        return words + [f"price {price} on {one.name}" for one, price in shared if price]


_MOST_WORDS = 8


def boundary_prices(topology: Topology, nodes: Sequence[int], *, into: bool) -> list[int]:
    """Return price 1 for each link into, or out of, a node set."""
    inside = np.zeros(len(topology.nodes), dtype=np.bool_)
    inside[list(nodes)] = True
    tail, head = topology.link_ends
    crosses = inside[head] & ~inside[tail] if into else inside[tail] & ~inside[head]
    return [*crosses.astype(int).tolist(), *[0] * len(topology.shared)]


def _offered(topology: Topology, price: Sequence[int]) -> Fraction:
    limits = [link.bandwidth_gb_s for link in topology.links]
    limits += [group.bandwidth_gb_s for group in topology.shared]
    return sum(
        (limit * one for limit, one in zip(limits, price, strict=True) if one), start=Fraction(0)
    )


def _due(topology: Topology, demand: Demand | None, price: Sequence[int]) -> int:
    """Return what all chunks pay."""
    links = len(topology.links)
    cost = np.array(price[:links], dtype=np.float64)
    for (members, _), extra in zip(topology.shared_places, price[links:], strict=True):
        cost[list(members)] += extra
    tail, head = topology.link_ends
    gpus, at = topology.num_compute, np.array(topology.compute)
    total, once = 0, gpus <= 2 * _EVERY
    for start in range(0, gpus, _EVERY):
        ranks = np.arange(start, min(start + _EVERY, gpus))
        away = distances(len(topology.nodes), tail, head, cost, at[ranks], once=once)[:, at]
        total += _paid(demand, ranks, away)
    return total


def _paid(
    demand: Demand | None, ranks: npt.NDArray[np.int64], away: npt.NDArray[np.float64]
) -> int:
    if np.isinf(away).any():
        away = np.where(np.isinf(away), 0.0, away)  # nobody can need anything there
    if demand is None:
        return sum(map(int, away.sum(axis=1)))
    lo, hi = np.searchsorted(demand.source, [ranks[0], ranks[-1] + 1])
    if lo == hi:
        return 0
    first = demand.first_target[lo : hi + 1]
    chunk = np.repeat(np.arange(lo, hi), np.diff(first))
    distance = away[demand.source[chunk] - ranks[0], demand.target[first[0] : first[-1]]]
    farthest = np.maximum.reduceat(distance, first[:-1] - first[0])
    paid = farthest > 0
    return sum(
        int(size) * int(one)
        for size, one in zip(
            demand.size[lo:hi][paid].tolist(), farthest[paid].tolist(), strict=True
        )
    )
