"""Fastest forests found for each tree depth, from the least depth up.

Problem: for each depth h, the fastest forest of trees of at most h hops that a search finds.
Input:   a collective of one phase; the greatest depth.
Output:  forests, each deeper and faster than the one before it.
Cost:    for each depth some searches (:mod:`forestcoll.bounded_depth.depth_bounded_trees`), each
         with a budget.
Source:  Own; see docs/mathematics/depth-bounded-trees.md.

Depths are tried one by one up to eight hops above the least, then in steps of a fifth. The search
at each depth has three kinds of seeds: shortest-path trees, the core's trees for the same k, cut to
depth h, and the trees found for the depth before. It runs for few trees per GPU, and for as many as
the optimum has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.allreduce.collective_schedule import schedule_of
from forestcoll.bounded_depth.depth_bound import depth_bound
from forestcoll.bounded_depth.depth_bounded_trees import Seeds, depth_bounded_trees, fits, seeds
from forestcoll.bounded_depth.hop_distances import eccentricities
from forestcoll.core.optimality import optimum
from forestcoll.core.pipeline import EXPLICIT
from forestcoll.core.stopwatch import Stopwatch
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.request import Request
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology.model import Topology

__all__ = ["SHALLOW_STAGE", "Climb", "Ladder", "deepest"]

SHALLOW_STAGE = "shallow trees"
"""The stage of a depth-bounded search in reported times."""

_FEW = (1, 2, 4, 8)  # trees per unit of weight, unless they are more than two for each GPU
_LOOKS = 2**26  # visits to links in one search
_ONE_BY_ONE = 8  # depths above the least that are all tried
_ENTRIES = 2**22  # most entries of the table of parents; larger seeds are left out


def deepest(forest: Forest) -> int:
    """Return the depth of the deepest tree, in hops from GPU to GPU."""
    return int(forest.tree_depths().max(initial=0))


@dataclass(frozen=True, slots=True)
class Climb:
    """A collective of one phase on a network of two GPUs or more; made by :meth:`of`.

    Parameters
    ----------
    network : Topology
        Out-trees are packed on it; a reduction has the reversed network here.
    least : int
        The least depth of any trees: the greatest eccentricity of a root.
    """

    request: Request
    network: Topology
    best: Optimum
    least: int

    @classmethod
    def of(cls, request: Request) -> Climb:
        """Compute the least depth of trees, and the optimum of trees of any depth."""
        (reduction,) = request.reductions
        network = request.topology.reversed() if reduction else request.topology
        roots = [rank for rank, weight in enumerate(request.weights) if weight]
        best = optimum(
            request.topology,
            weights=None if set(request.weights) <= {1} else request.weights,
            reduction=reduction,
            threads=request.threads,
        )
        return cls(request, network, best, max(eccentricities(network, roots)))

    def inverse_rate(self, depth: int) -> Fraction:
        """Return a lower bound on 1/x of trees within a depth."""
        low = depth_bound(self.network, self.request.weights, depth)
        return max(self.best.inverse_rate, low)

    def at_most_gb_s(self, depth: int) -> Fraction:
        """Return an upper bound on the algorithmic bandwidth of trees within a depth, in GB/s."""
        return sum(self.request.weights) / self.inverse_rate(depth)

    def rungs(self, most: int, first: int | None = None) -> Iterator[int]:
        """Yield the depths to try in ascending order; the largest is among them."""
        depth = self.least if first is None else first
        while depth < most:
            yield depth
            depth += 1 if depth < self.least + _ONE_BY_ONE else 1 + depth // 5
        if first is None or first <= most:
            yield most


class Ladder:
    """The forests of a climb; a request for deeper ones continues the search.

    Parameters
    ----------
    deep : Forest
        The fastest forest of the request at any depth; it may be among them.
    """

    def __init__(self, climb: Climb, deep: Forest, clock: Stopwatch) -> None:
        self.climb = climb
        self._deep, self._clock = deep, clock
        self._made: dict[int, Forest] = {}
        self._before: dict[int, Forest] = {}
        self._kept: list[Forest] = []
        self._next = climb.least

    @classmethod
    def of(cls, request: Request, clock: Stopwatch) -> Ladder:
        """Make the fastest forest, as shallow as the effort allows, and start the ladder."""
        request = replace(request, thorough=True)
        forest = schedule_of(request, EXPLICIT, clock)
        assert isinstance(forest, Forest)
        return cls(Climb.of(request), forest, clock)

    def up_to(self, most: int | None) -> list[Forest]:
        """Return forests of trees within a depth, each deeper and faster than the one before.

        Parameters
        ----------
        most : int, optional
            At least ``climb.least``, and no less than before; the depth of ``deep`` if not given.
        """
        self._made = self._made or self._by_the_core()
        high = deepest(self._deep)
        for depth in self.climb.rungs(high if most is None else min(most, high), self._next):
            if self._kept and _inverse_rate(self._kept[-1]) == _inverse_rate(self._deep):
                break
            self._try(depth)
            self._next = depth + 1
        return list(self._kept)

    def _try(self, depth: int) -> None:
        kept, before = self._kept, self._before
        bound = self.climb.inverse_rate(depth)
        for forest in self._made.values():
            if deepest(forest) <= depth:
                _keep(kept, forest)
        # A shallower forest that attains the bound leaves nothing to find at this depth.
        for k, begin in self._begins(depth):
            if kept and _inverse_rate(kept[-1]) == bound:
                break
            found = self._search(begin, depth, bound)
            if k not in before or _inverse_rate(found) < _inverse_rate(before[k]):
                before[k] = found
            _keep(kept, self._finished(found))

    def _by_the_core(self) -> dict[int, Forest]:
        """Return the core's forests by k; several numbers of trees unless one was requested."""
        made = {self._deep.k: self._deep}
        if self.climb.request.options.k is None:
            for k in _FEW:
                trees = k * sum(self.climb.request.weights)
                if (
                    k not in made
                    and trees <= 2 * self.climb.network.num_compute
                    and self._is_small(trees)
                ):
                    options = replace(self.climb.request.options, k=k)
                    request = replace(self.climb.request, options=options)
                    forest = schedule_of(request, EXPLICIT, self._clock)
                    assert not isinstance(forest, Allreduce)
                    made[k] = forest
        return dict(sorted(made.items()))

    def _is_small(self, batches: int) -> bool:
        return batches * self.climb.network.num_compute <= _ENTRIES

    def _begins(self, depth: int) -> Iterator[tuple[int, Seeds]]:
        weights, made, before = self.climb.request.weights, self._made, self._before
        for k, forest in made.items():
            if not fits(self.climb.network, weights, k):
                continue
            roots = seeds(weights, k)
            first = k == min(made)
            if first or self._is_small(len(roots.root)):
                yield k, roots
            if deepest(forest) > depth and (first or self._is_small(forest.num_batches)):
                yield k, Seeds.of(forest)
            if k in before:
                yield k, Seeds.of(before[k])

    def _search(self, begin: Seeds, depth: int, bound: Fraction) -> Forest:
        return self._clock.run(
            SHALLOW_STAGE,
            lambda report: depth_bounded_trees(
                self.climb.network,
                self.climb.request.weights,
                begin,
                depth,
                bound,
                optimum=self.climb.best,
                looks=_LOOKS,
                progress=report,
            ),
        )

    def _finished(self, forest: Forest) -> Forest:
        (reduction,) = self.climb.request.reductions
        return transposed(forest, self.climb.request.topology) if reduction else forest


def _inverse_rate(forest: Forest) -> Fraction:
    return forest.congestion / forest.k


def _keep(kept: list[Forest], forest: Forest) -> None:
    """Add a forest unless one as shallow is as fast; drop the forests that it dominates."""
    depth, slow = deepest(forest), _inverse_rate(forest)
    if any(deepest(one) <= depth and _inverse_rate(one) <= slow for one in kept):
        return
    kept[:] = [one for one in kept if deepest(one) < depth or _inverse_rate(one) < slow]
    kept.append(forest)
    kept.sort(key=deepest)
