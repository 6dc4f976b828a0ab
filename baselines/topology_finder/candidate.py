"""A network with its schedule, by what the schedule takes and what may be built from it.

Source:  Zhao et al. (NSDI 2025), section 5.4 and appendix C.

T_L is counted in hops (of alpha each). T_B is a multiple of M / B: data over the bandwidth that
leaves a GPU of the degree. A reduce-scatter is an allgather of the reverse network, so both are
kept for both directions; they differ on generalized Kautz graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from baselines.topology_finder.distances import Distances
from forestcoll.topology.model import Topology

__all__ = ["Candidate", "pareto"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One construction of a network of ``nodes`` GPUs with ``degree`` links out of each.

    Parameters
    ----------
    name : str
        In the paper's notation.
    spec : str
        The same network as a specification; see :mod:`forestcoll.topology.expanded`. For a network
        that edge swaps have made, the one that they began with.
    nodes, degree : int
    hops : int
        T_L of its allgather.
    time : Fraction
        T_B of its allgather.
    reverse_hops, reverse_time : int, Fraction
        T_L and T_B of its reduce-scatter.
    techniques : str
        How it was made: a letter for each expansion (L, D, P, X, B), or none for a base network.
    bidirectional : bool
        Whether there is a link back for every link.
    reverse_symmetric : bool
        Whether it is known to be isomorphic to its reverse.
    breadth_first : bool
        Whether T_L and T_B are those of a breadth-first broadcast of the network.
    factor : bool
        Whether it is a simple digraph with a bandwidth-optimal breadth-first broadcast: products
        of such networks are known to be like it (theorem 13).
    cycle : int
        The length of a shortest cycle through any link, if that is the same for all links; else 0.
    self_loops : bool
        Whether the definition has links from a GPU to itself, which carry nothing.
    parallel : bool
        Whether there may be parallel links everywhere, which the specification has as wider ones.
    distances : Distances, optional
        Sums of distances with the bound on the all-to-all rate, if they are predicted.
    swapped : Topology, optional
        The network after edge swaps, which no specification gives.
    swaps : int
        Number of edge swaps that were made.
    """

    name: str
    spec: str
    nodes: int
    degree: int
    hops: int
    time: Fraction
    reverse_hops: int
    reverse_time: Fraction
    techniques: str = ""
    bidirectional: bool = False
    reverse_symmetric: bool = False
    breadth_first: bool = False
    factor: bool = False
    cycle: int = 0
    self_loops: bool = False
    parallel: bool = False
    distances: Distances | None = None
    swapped: Topology | None = None
    swaps: int = 0

    @property
    def least_time(self) -> Fraction:
        """The least T_B of any network with so many GPUs (theorem 4)."""
        return Fraction(self.nodes - 1, self.nodes)

    @property
    def optimal(self) -> bool:
        """Whether both directions take the least T_B."""
        return self.time == self.reverse_time == self.least_time

    def covers(self, other: Candidate) -> bool:
        """Whether it takes no longer than another one, and allows all that the other allows."""
        return (
            self.hops <= other.hops
            and self.reverse_hops <= other.reverse_hops
            and self.time <= other.time
            and self.reverse_time <= other.reverse_time
            and self._allows() >= other._allows()
        )

    def _allows(self) -> frozenset[str]:
        flags = ("bidirectional", "reverse_symmetric", "breadth_first", "factor")
        allowed = {flag for flag in flags if getattr(self, flag)}
        if not self.self_loops:
            allowed.add("expansions")
        if self.cycle:
            allowed.add(f"cycle {self.cycle}")
        return frozenset(allowed)


def pareto(candidates: list[Candidate]) -> list[Candidate]:
    """Drop each candidate that another one covers; of equal ones the first is kept."""
    kept: list[Candidate] = []
    for new in candidates:
        if any(old.covers(new) for old in kept):
            continue
        kept = [old for old in kept if not new.covers(old)] + [new]
    return kept
