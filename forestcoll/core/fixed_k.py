"""Least congestion for a fixed number of trees per root, with its proof.

Problem: the least U at which k trees per root (k w for a root of weight w) fit, if a link of
         bandwidth b carries at most floor(U b) of them; for cases where the optimal k is too large.
Input:   a topology and k; weights, a direction.
Output:  the exact U*, and a cut, or prices, by which links carry too few trees at any smaller U;
         capacities under which such trees can be packed.
Cost:    one max-flow pass over the GPUs per cut on the way (1 to 3 in practice), plus balancing
         where rounding leaves a switch with less in than out; at worst some linear programs.
Source:  ForestColl section 5.5 and appendix E.4, Theorems 11 to 13. Cuts that raise U from below
         replace the bisection of Algorithm 5 (see docs/mathematics/optimality.md).

Links of equal bandwidth both ways leave no switch with less in than out. Then the flow test
decides: ``congestion`` is ``bound``, and exact. Otherwise out-links must be trimmed
(:mod:`forestcoll.core.balance`). Where the cuts forbid that, or links share a capacity, the program
of :mod:`forestcoll.core.any_network.sub_capacities` on the rounded links tests whether a congestion
is too small, and by how much. It is exact while its solutions are whole
(:mod:`forestcoll.core.any_network.whole_capacities`); otherwise the least congestion lies between
``bound`` and ``congestion``.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.core.balance import balanced
from forestcoll.core.optimality import SECONDS, optimum
from forestcoll.core.problem import Problem
from forestcoll.core.violation import violated_cut
from forestcoll.errors import CapacityOverflowError
from forestcoll.problem.cuts import Cut
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.options import check_k
from forestcoll.problem.rate_bound import RateBound
from forestcoll.problem.weights import Weights
from forestcoll.topology.describe import decimal, rate
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology
from forestcoll.topology.validation import uses_all_bandwidth

__all__ = ["FixedK", "fixed_k"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True, repr=False)
class FixedK(InBrief):
    """The least congestion of k trees per root on a network, with its witness.

    Parameters
    ----------
    optimum : Optimum
        The optimum with any number of trees, for the same weights and direction.
    k : int
        Trees per unit of weight: per root, if all GPUs have equal weights.
    bound : Fraction
        No forest with this k has a smaller congestion, in trees per GB/s.
    cut : tuple of int
        Positions of the nodes of a cut S. At every U < ``bound`` its exit links (in a reduction,
        its entry links), floor(U b) trees each, carry fewer trees than are rooted in it. With
        ``prices``, the cut with the highest price.
    congestion : Fraction
        U for which ``capacity`` was found: ``bound`` if ``exact``, else a little more.
    capacity : int64 array, one entry a link
        Trees that each link may carry, at most U b. No cut is violated and no switch sends more
        than it receives, so the trees can be packed. In a reduction the links are those of the
        reversed topology, on which out-trees are packed.
    prices : RateBound, optional
        The proof of ``bound`` where one cut does not suffice: at every smaller U, links and shared
        capacities carry less, at these prices, than the trees need.
    """

    optimum: Optimum
    k: int
    bound: Fraction
    cut: tuple[int, ...]
    congestion: Fraction
    capacity: npt.NDArray[np.int64] = field(repr=False, compare=False)
    prices: RateBound | None = field(default=None, repr=False)

    @property
    def exact(self) -> bool:
        """Whether ``congestion`` is proved to be the least possible, U*(k)."""
        return self.congestion == self.bound

    @property
    def optimal(self) -> bool:
        """Whether k trees attain the optimum of any number: the congestion is k / x*."""
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

    def in_a_line(self) -> str:
        """Return the rate with its k, and what is lost against the optimum."""
        best = self.optimum
        share = "optimal" if self.optimal else f"{decimal(100 * self.share)} % of the optimum"
        name = f"{best.collective} on {best.topology.name}"
        return f"{name}: {rate(self.algbw_gb_s)}, k = {self.k}, {share}"

    def in_a_table(self) -> dict[str, object]:
        """Return the same, with the bound of this k and its cut."""
        return {
            "topology": self.optimum.topology.name,
            "collective": self.optimum.collective,
            "k": self.k,
            "algbw": rate(self.algbw_gb_s),
            "at most, with this k": rate(self.bound_algbw_gb_s),
            "optimum, any k": rate(self.optimum.algbw_gb_s),
            "share of the optimum": self.share,
            "U": f"{self.congestion} trees per GB/s",
            "what binds": (
                self.witness.in_words() if self.prices is None else self.prices.in_words()
            ),
        }

    @property
    def share(self) -> Fraction:
        """The rate as a share of the optimum with any k, at most 1."""
        return self.algbw_gb_s / self.optimum.algbw_gb_s

    def certificate(self) -> Fraction | int:
        """Recompute, from the topology alone, how many trees the cut lacks below the bound.

        At every U < ``bound`` a link of bandwidth b carries at most ceil(``bound`` b) - 1 trees. A
        positive number of missing trees proves the bound. With ``prices``, trees are counted at
        these prices.
        """
        if self.prices is not None:
            network = self.optimum.topology
            below = self.prices.room(
                [math.ceil(self.bound * one.bandwidth_gb_s) - 1 for one in network.links],
                [math.ceil(self.bound * one.bandwidth_gb_s) - 1 for one in network.shared],
            )
            return self.k * self.prices.covered - below
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
    seconds: float = SECONDS,
) -> FixedK:
    """Find the least congestion of a forest with k trees per root.

    Parameters
    ----------
    k : int
        Trees per unit of weight.
    weights : mapping or sequence, optional
        How much data each GPU roots, as for :func:`forestcoll.problem.weights.whole_weights`; if
        not given, equal weights: an allgather or reduce-scatter.
    reduction : bool
        Whether data is summed up on its way to the roots.
    threads : int
        Threads that share the GPUs, at most; the result does not depend on it.
    progress : callable, optional
        Called with (GPUs passed, GPUs in all) now and then; may raise to stop the search.
    seconds : float
        Time limit of the linear programs that raise the bound, and again of those that attain it.

    Raises
    ------
    InvalidParameterError
        If k is not a whole number from 1 up, or the weights are not a number from 0 up for every
        GPU.
    InvalidTopologyError
        If the network fails :func:`forestcoll.topology.validate` for this collective.
    CapacityOverflowError
        If the trees of all roots or links do not fit 62 bits in sum.
    TimeLimitError
        As for :func:`forestcoll.core.optimality.optimum`.

    Notes
    -----
    Theorem 13: ``bound`` is at most k / x* + 1 / (the least bandwidth), if there are no ``prices``.

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
    plain = uses_all_bandwidth(topology, reduction)
    capacity = search.trimmed_at(bound) if plain else None
    if capacity is not None:
        return FixedK(best, k, bound, cut, bound, capacity)
    bound, prices = search.raised(bound, time.monotonic() + seconds)
    congestion, capacity = search.whole_from(bound, best, time.monotonic() + seconds)
    if prices is None:
        return FixedK(best, k, bound, cut, congestion, capacity)
    prices = replace(prices, topology=topology, weights=best.weights, reduction=reduction)
    return FixedK(best, k, bound, tuple(prices.widest.nodes), congestion, capacity, prices)


class _Search:
    """Search from below for the least congestion at which given trees fit."""

    def __init__(
        self,
        topology: Topology,
        trees: npt.NDArray[np.int64],
        threads: int,
        progress: Progress | None,
    ) -> None:
        self._topology, self._trees = topology, trees
        self._threads, self._progress = threads, progress
        limits = [link.bandwidth_gb_s for link in topology.links]
        limits += [group.bandwidth_gb_s for group in topology.shared]
        self._unit = math.lcm(*(one.denominator for one in limits))
        sizes = [int(one * self._unit) for one in limits]  # U is U / unit trees for each of them
        self._links, self._groups = sizes[: len(topology.links)], sizes[len(topology.links) :]
        self._sizes = sorted(set(sizes))

    def least_congestion(self, cut: tuple[int, ...]) -> tuple[Fraction, tuple[int, ...]]:
        """Return the least congestion at which no cut is violated, and a cut that needs it.

        The search starts from a given cut. Each violated cut yields the least congestion at which
        it holds, a lower bound. GPUs that passed stay reached, because capacities only grow.
        """
        inside = np.zeros(len(self._topology.nodes), dtype=np.bool_)
        inside[list(cut)] = True
        passed = 0
        while True:
            congestion = self._least_for_cut(inside)
            found = violated_cut(
                Problem.at(self._topology, congestion, self._trees),
                passed=passed,
                threads=self._threads,
                progress=self._progress,
            )
            if found is None:
                return congestion, tuple(np.flatnonzero(inside).tolist())
            inside, passed = found.inside, found.passed

    def _least_for_cut(self, inside: npt.NDArray[np.bool_]) -> Fraction:
        """Return the least congestion at which the exit links of a cut carry its trees."""
        links = self._topology.integer_capacities
        leaving = np.flatnonzero(inside[links.tail] & ~inside[links.head]).tolist()
        wanted = int(self._trees[inside[list(self._topology.compute)]].sum())
        return self._least_for(Counter(self._links[link] for link in leaving), wanted)

    def _least_for_prices(self, prices: RateBound) -> Fraction:
        """Return the least congestion at which prices no longer prove that it is too small."""
        given = [*prices.link_prices(), *prices.shared_prices()]
        whole = math.lcm(*(one.denominator for one in (*given, prices.covered)))
        count: Counter[int] = Counter()
        for price, size in zip(given, [*self._links, *self._groups], strict=True):
            if price:
                count[size] += int(price * whole)
        return self._least_for(count, int(prices.covered * whole))

    def _least_for(self, count: Mapping[int, int], wanted: int) -> Fraction:
        """Return the least congestion at which the limits carry the wanted trees.

        ``count`` holds the number of limits of each size. Each floor(u c) loses less than one tree,
        so the search starts from the u at which the unrounded total suffices. From there, one limit
        after the other takes one more tree.
        """
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

    def trimmed_at(self, congestion: Fraction) -> npt.NDArray[np.int64] | None:
        """Return capacities with trimmed out-links, if no capacity is shared and cuts allow it.

        No cut may be violated at the congestion.
        """
        if self._topology.shared:
            return None
        problem = Problem.at(self._topology, congestion, self._trees)
        return balanced(problem, threads=self._threads)

    def raised(self, bound: Fraction, deadline: float) -> tuple[Fraction, RateBound | None]:
        """Return the least congestion that the program does not refute, and the last prices.

        If the program does not refute the bound, return the bound and no prices.
        """
        from forestcoll.core.any_network.optimum import limits_at  # here: its libraries load slowly
        from forestcoll.core.any_network.sub_capacities import (
            Roles,
            balanced_sub_capacities,
            find_symmetries,
        )

        roles = Roles.of(self._topology, self._trees.tolist())
        orbits = find_symmetries(self._topology, roles, deadline)
        known: RateBound | None = None
        while time.monotonic() < deadline:
            limits = limits_at(self._topology, bound)
            found = balanced_sub_capacities(self._topology, limits, roles, deadline, orbits)
            if found.bound >= 1:
                break
            known = found.prices
            bound = self._least_for_prices(known)
        return bound, known

    def whole_from(
        self, bound: Fraction, best: Optimum, deadline: float
    ) -> tuple[Fraction, npt.NDArray[np.int64]]:
        """Return a congestion from the bound up, with whole capacities for it that can be packed.

        Steps from the bound double until capacities are found; bisection follows. Only values at
        which some limit takes one more tree are tried. The search ends at the latest where the
        optimum's use of every link is a whole number of trees.
        """
        found = self._whole_at(bound, deadline)
        if found is not None:
            return bound, found
        failed, step = bound, Fraction(self._unit, self._sizes[-1])
        last = math.ceil(bound / best.congestion) * best.congestion
        while found is None:
            worked = min(last, max(self._after(failed), self._upto(bound + step)))
            found = (
                self._at_last(best, last) if worked == last else self._whole_at(worked, deadline)
            )
            failed, step = failed if found is not None else worked, 2 * step
        while (middle := max(self._after(failed), self._upto((failed + worked) / 2))) < worked:
            attempt = self._whole_at(middle, deadline)
            if attempt is None:
                failed = middle
            else:
                worked, found = middle, attempt
        return worked, found

    def _at_last(self, best: Optimum, congestion: Fraction) -> npt.NDArray[np.int64]:
        return Problem.of(replace(best, congestion=congestion), self._trees).capacity

    def _whole_at(self, congestion: Fraction, deadline: float) -> npt.NDArray[np.int64] | None:
        trimmed = self.trimmed_at(congestion)
        if trimmed is not None:
            return trimmed
        from forestcoll.core.any_network.optimum import limits_at
        from forestcoll.core.any_network.sub_capacities import Roles
        from forestcoll.core.any_network.whole_capacities import whole_capacities

        roles = Roles.of(self._topology, self._trees.tolist())
        limits = limits_at(self._topology, congestion)
        return whole_capacities(self._topology, limits, roles, deadline)

    def _after(self, congestion: Fraction) -> Fraction:
        """Return the next congestion at which some limit takes one more tree."""
        u = congestion / self._unit
        return min(Fraction(math.floor(u * size) + 1, size) for size in self._sizes) * self._unit

    def _upto(self, congestion: Fraction) -> Fraction:
        """Return the largest congestion up to this one at which some limit takes one more tree."""
        u = congestion / self._unit
        return max(Fraction(math.floor(u * size), size) for size in self._sizes) * self._unit
