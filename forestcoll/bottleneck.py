"""The throughput optimum as a number, with the bottleneck cut that proves it.

What :func:`forestcoll.optimality.optimum` finds and a schedule may claim; apart from the search, so
that whoever checks a claim needs nothing of what made it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.cuts import Cut
from forestcoll.topology.model import Topology

__all__ = ["Optimum"]


@dataclass(frozen=True)
class Optimum:
    """The best any allgather can do on a network, with its witness.

    Parameters
    ----------
    topology : Topology
    inverse_rate : Fraction
        1/x*, in seconds per GB: an allgather of M GB in all takes at least (M/N) (1/x*).
    cut : tuple of int
        Positions of the nodes of the bottleneck cut S*, sorted; the data of its GPUs must leave
        over its exit links.
    k : int
        The least number of trees per root that attains the optimum.
    congestion : Fraction
        U = k / x*, trees per GB/s: U b is a whole number for every bandwidth b.
    """

    topology: Topology
    inverse_rate: Fraction
    cut: tuple[int, ...]
    k: int
    congestion: Fraction

    @property
    def algbw_gb_s(self) -> Fraction:
        """Optimal algorithmic bandwidth N x*, in GB/s."""
        return self.topology.num_compute / self.inverse_rate

    @property
    def time_s_per_gb(self) -> Fraction:
        """Least seconds per gigabyte gathered in all, (1/N) (1/x*)."""
        return self.inverse_rate / self.topology.num_compute

    @property
    def bottleneck(self) -> Cut:
        """The bottleneck cut, with its GPUs, its exit links and the bound in words."""
        return Cut(self.topology, self.cut)

    def certificate(self) -> Fraction:
        """Recompute |GPUs in S*| / B+(S*) from the topology alone; equals ``inverse_rate``."""
        return self.bottleneck.inverse_rate
