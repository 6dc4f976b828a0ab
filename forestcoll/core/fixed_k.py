"""The best congestion for a given number of trees per root, with the cut that proves it.

Problem: the least U at which k trees per root (k w of a root of weight w) fit where a link of
         bandwidth b carries at most floor(U b) of them, for when the optimal k is too large.
Input:   a topology and k; weights, a direction.
Output:  the exact U*, and a cut whose links carry too few trees at any smaller U; capacities under
         which such trees can be packed.
Cost:    one max-flow pass over the GPUs per cut on the way (1 to 3 in practice), and what balancing
         takes where rounding leaves a switch with less in than out.
Source:  ForestColl section 5.5 and appendix E.4, Theorems 11 to 13; cuts that raise U from below
         stand for the bisection of Algorithm 5 (see docs/mathematics/optimality.md).

If no switch is left with less in than out (links of equal bandwidth both ways see to that), the
flow test decides: ``congestion`` is ``bound``, and exact. Otherwise out-links must be trimmed
(:mod:`forestcoll.core.balance`); where the cuts do not allow that at ``bound``, a larger congestion
is taken, and the best lies between the two.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.core.balance import balanced
from forestcoll.core.optimality import optimum
from forestcoll.core.problem import Problem
from forestcoll.core.violation import violated_cut
from forestcoll.errors import CapacityOverflowError
from forestcoll.problem.cuts import Cut
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.request import check_k
from forestcoll.problem.weights import Weights
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology

__all__ = ["FixedK", "fixed_k"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class FixedK:
    """The best that k trees per root can do on a network, with its witness.

    Parameters
    ----------
    optimum : Optimum
        The best with any number of trees; of the same weights and direction.
    k : int
        Trees per unit of weight: per root, if all GPUs root as much.
    bound : Fraction
        No forest with this k has a smaller congestion, in trees per GB/s.
    cut : tuple of int
        Positions of the nodes of a cut S. At every U < ``bound`` its exit links (in a reduction,
        its entry links), floor(U b) trees each, carry fewer trees than are rooted in it.
    congestion : Fraction
        U for which ``capacity`` was found: ``bound`` if ``exact``, else a little more.
    capacity : int64 array, one entry a link
        Trees that each link may carry, at most U b: all cuts hold, no switch sends more than it
        receives, so the trees can be packed. In a reduction the links are those of the reversed
        topology, on which out-trees are packed.
    """

    optimum: Optimum
    k: int
    bound: Fraction
    cut: tuple[int, ...]
    congestion: Fraction
    capacity: npt.NDArray[np.int64] = field(repr=False, compare=False)

    @property
    def exact(self) -> bool:
        """Whether ``congestion`` is proved to be the least there is, U*(k)."""
        return self.congestion == self.bound

    @property
    def optimal(self) -> bool:
        """Whether k trees do as well as any number: the congestion is k / x*."""
        return self.congestion == self.k * self.optimum.inverse_rate

    @property
    def time_s_per_gb(self) -> Fraction:
        """Seconds per gigabyte of data in all, U / (W k), W the sum of the weights."""
        return self.congestion / (self.k * sum(self.optimum.weights))

    @property
    def algbw_gb_s(self) -> Fraction:
        """Algorithmic bandwidth W k / U, in GB/s."""
        return 1 / self.time_s_per_gb

    @property
    def bound_algbw_gb_s(self) -> Fraction:
        """Algorithmic bandwidth that no forest with this k exceeds, in GB/s."""
        return self.k * sum(self.optimum.weights) / self.bound

    @property
    def witness(self) -> Cut:
        """The cut, with its GPUs and exit links."""
        best = self.optimum
        return Cut(best.topology, self.cut, best.weights, best.reduction)

    def certificate(self) -> int:
        """Recompute, from the topology alone, how many trees the cut lacks below the bound.

        At every U < ``bound`` a link of bandwidth b carries at most ceil(``bound`` b) - 1 trees. A
        positive number of missing trees proves that ``bound`` is one.
        """
        cut = self.witness
        room = sum(math.ceil(self.bound * link.bandwidth_gb_s) - 1 for link in cut.exit_links)
        return self.k * cut.weight - room


def fixed_k(
    topology: Network,
    k: int,
    *,
    weights: Weights | None = None,
    reduction: bool = False,
    threads: int = 1,
    progress: Progress | None = None,
) -> FixedK:
    """Find the least congestion of a forest with k trees per root.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    k : int
        Trees per unit of weight.
    weights : mapping or sequence, optional
        How much data each GPU roots, as of :func:`forestcoll.problem.weights.whole_weights`; all
        the same, an allgather or reduce-scatter, if not given.
    reduction : bool
        Whether data is summed up on its way to the roots.
    threads : int
        At most so many share the GPUs; the result does not depend on their number.
    progress : callable, optional
        Told (GPUs passed, GPUs in all) now and then; may raise to stop the search.

    Returns
    -------
    FixedK

    Raises
    ------
    InvalidParameterError
        If k is not a whole number from 1 up, or the weights are not a number from 0 up for every
        GPU.
    InvalidTopologyError
        If the network fails :func:`forestcoll.topology.validate` for this collective.
    CapacityOverflowError
        If the trees of all roots or links do not fit 62 bits in sum.

    Notes
    -----
    Theorem 13: ``bound`` is at most k / x* + 1 / (the least bandwidth).

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> best = fixed_k(load_topology("mi250:boxes=2"), 3)
    >>> best.algbw_gb_s, best.exact, best.certificate() > 0
    (Fraction(2400, 7), True, True)
    """
    check_k(k)
    topology = as_topology(topology)
    best = optimum(
        topology, weights=weights, reduction=reduction, threads=threads, progress=progress
    )
    if k * sum(best.weights) >= 2**62:
        raise CapacityOverflowError(
            f"{topology.name}: {k} trees per unit of weight are {k * sum(best.weights)} in all, "
            f"beyond exact 64-bit arithmetic; take fewer"
        )
    network = topology.reversed() if reduction else topology
    search = _Search(network, k * np.array(best.weights, dtype=np.int64), threads, progress)
    bound, cut = search.least_congestion(best.cut)
    congestion, capacity = search.balanced_from(bound)
    return FixedK(best, k, bound, cut, congestion, capacity)


class _Search:
    """The congestion at which given trees fit, approached from below."""

    def __init__(
        self,
        topology: Topology,
        trees: npt.NDArray[np.int64],
        threads: int,
        progress: Progress | None,
    ) -> None:
        self._topology, self._trees = topology, trees
        self._threads, self._progress = threads, progress
        links = topology.integer_capacities
        self._unit = links.denominator  # congestion U is U / unit trees per whole capacity
        self._sizes = sorted(set(links.capacity.tolist()))

    def least_congestion(self, cut: tuple[int, ...]) -> tuple[Fraction, tuple[int, ...]]:
        """Return the least congestion at which no cut is violated, and a cut that needs it.

        From a cut to start with. A cut that is violated names the least congestion that it can
        bear, which no feasible one goes below; GPUs that passed stay reached, as capacities grow.
        """
        inside = np.zeros(len(self._topology.nodes), dtype=np.bool_)
        inside[list(cut)] = True
        passed = 0
        while True:
            congestion = self._least_for(inside)
            found = violated_cut(
                Problem.at(self._topology, congestion, self._trees),
                passed=passed,
                threads=self._threads,
                progress=self._progress,
            )
            if found is None:
                return congestion, tuple(np.flatnonzero(inside).tolist())
            inside, passed = found.inside, found.passed

    def _least_for(self, inside: npt.NDArray[np.bool_]) -> Fraction:
        """Return the least congestion at which the exit links of a cut carry its trees.

        The sum of all floor(u c) is at least its value where u times the total is the trees wanted,
        less one for each link; from there on link by link, in the order in which they take one
        more tree.
        """
        links = self._topology.integer_capacities
        leaving = inside[links.tail] & ~inside[links.head]
        count = Counter(links.capacity[leaving].tolist())
        wanted = int(self._trees[inside[list(self._topology.compute)]].sum())
        at = Fraction(wanted, sum(size * number for size, number in count.items()))
        carried = {size: at.numerator * size // at.denominator for size in count}
        missing = wanted - sum(carried[size] * number for size, number in count.items())
        next_up = [(Fraction(carried[size] + 1, size), size) for size in count]
        heapq.heapify(next_up)
        while missing > 0:
            at, size = next_up[0]
            missing -= count[size]
            carried[size] += 1
            heapq.heapreplace(next_up, (Fraction(carried[size] + 1, size), size))
        return at * self._unit

    def balanced_from(self, bound: Fraction) -> tuple[Fraction, npt.NDArray[np.int64]]:
        """Return a congestion from the bound up, and capacities for it that can be packed.

        Steps from the bound that double until balancing works, then bisection; only the values at
        which some link takes one more tree are looked at. It works at the latest where all links
        carry whole numbers of trees, as the topology itself is balanced.
        """
        found = self._balanced_at(bound)
        if found is not None:
            return bound, found
        failed, step = bound, Fraction(self._unit, self._sizes[-1])
        whole = Fraction(self._unit, math.gcd(*self._sizes))
        last = math.ceil(bound / whole) * whole
        while found is None:
            worked = min(last, max(self._after(failed), self._upto(bound + step)))
            found = self._balanced_at(worked)
            failed, step = failed if found is not None else worked, 2 * step
        while (middle := max(self._after(failed), self._upto((failed + worked) / 2))) < worked:
            attempt = self._balanced_at(middle)
            if attempt is None:
                failed = middle
            else:
                worked, found = middle, attempt
        return worked, found

    def _balanced_at(self, congestion: Fraction) -> npt.NDArray[np.int64] | None:
        problem = Problem.at(self._topology, congestion, self._trees)
        return balanced(problem, threads=self._threads)

    def _after(self, congestion: Fraction) -> Fraction:
        """Return the next congestion at which a link carries one more tree."""
        u = congestion / self._unit
        return min(Fraction(math.floor(u * size) + 1, size) for size in self._sizes) * self._unit

    def _upto(self, congestion: Fraction) -> Fraction:
        """Return the largest congestion up to this one at which a link carries one more tree."""
        u = congestion / self._unit
        return max(Fraction(math.floor(u * size), size) for size in self._sizes) * self._unit
