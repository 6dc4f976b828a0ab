"""Packing problem that the stages of the core pass on: trees, and links with capacities."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.errors import CapacityOverflowError
from forestcoll.problem.optimum import Optimum
from forestcoll.topology.model import Topology

__all__ = ["Amounts", "Problem", "is_target", "rooted", "tree_capacities"]

Amounts = npt.NDArray[np.int64]
Ends = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A tree packing problem: spanning out-trees of each GPU, within the links' capacities.

    Parameters
    ----------
    topology : Topology
        The network on which they are packed; for a reduction, the reversed network.
    capacity : int64 array, one entry a link
        Trees that each link of ``topology.links`` may carry.
    trees : int64 array, one entry a GPU
        Trees rooted at each rank.
    """

    topology: Topology
    capacity: Amounts
    trees: Amounts

    @classmethod
    def at(cls, topology: Topology, congestion: Fraction, trees: Amounts) -> Problem:
        """Return the problem whose links carry all they can at a congestion in trees per GB/s.

        Raises
        ------
        CapacityOverflowError
            As for :func:`tree_capacities`.
        """
        return cls(topology, tree_capacities(topology, congestion), trees)

    @classmethod
    def of(cls, best: Optimum, trees: Amounts) -> Problem:
        """Return the problem of an optimum: these trees in the usable capacities of its network.

        Raises CapacityOverflowError as :func:`tree_capacities` does.
        """
        network = best.topology.reversed() if best.reduction else best.topology
        if not best.usable_gb_s:
            return cls.at(network, best.congestion, trees)
        usable = {
            (e.tail, e.head)[:: -1 if best.reduction else 1]: int(best.congestion * capacity)
            for e, capacity in zip(best.topology.links, best.usable_gb_s, strict=True)
        }
        carried = [usable[e.tail, e.head] for e in network.links]
        return cls(network, _within_64_bits(network, carried), trees)

    def within(self, capacity: Amounts) -> Problem:
        """Return the same trees to be packed into other capacities."""
        return Problem(self.topology, capacity, self.trees)

    @property
    def arrays(self) -> tuple[int, Ends, Ends, Amounts, Amounts, npt.NDArray[np.uint8]]:
        """The problem as native functions take it.

        The number of nodes; tail, head and capacity of each link; for each node the trees rooted
        there, and 1 if all trees must arrive there: at the GPUs.
        """
        topology, links = self.topology, self.topology.integer_capacities
        trees, target = rooted(topology, self.trees), is_target(topology)
        return len(topology.nodes), links.tail, links.head, self.capacity, trees, target


def rooted(topology: Topology, trees: Amounts) -> Amounts:
    """Expand numbers of ranks to all nodes; 0 at switches."""
    at = np.zeros(len(topology.nodes), dtype=np.int64)
    at[np.array(topology.compute, dtype=np.int64)] = trees
    return at


def is_target(topology: Topology) -> npt.NDArray[np.uint8]:
    """Return 1 for GPUs and 0 for all other nodes."""
    target = np.zeros(len(topology.nodes), dtype=np.uint8)
    target[np.array(topology.compute, dtype=np.int64)] = 1
    return target


def tree_capacities(topology: Topology, congestion: Fraction) -> Amounts:
    """Return how many trees each link may carry: floor(U b), exact for the optimal U.

    Raises CapacityOverflowError if the sum does not fit 62 bits.

    Parameters
    ----------
    congestion : Fraction
        U, trees per GB/s.
    """
    links = topology.integer_capacities
    over, under = congestion.numerator, congestion.denominator * links.denominator
    if int(links.capacity.sum()) * over < 2**62 and max(over, under) < 2**62:  # and so all below
        trees: Amounts = links.capacity * over // under
        return trees
    return _within_64_bits(
        topology, [capacity * over // under for capacity in links.capacity.tolist()]
    )


def _within_64_bits(topology: Topology, trees: list[int]) -> Amounts:
    if sum(trees) >= 2**62:
        raise CapacityOverflowError(
            f"{topology.name}: the links must carry {sum(trees)} trees in all, beyond exact "
            f"64-bit arithmetic; round the bandwidths to fewer digits"
        )
    return np.array(trees, dtype=np.int64)
