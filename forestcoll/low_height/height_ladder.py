"""Forests that get faster as their trees may get taller, from the least height up.

Problem: for each height h the fastest forest of trees of at most h hops; as good as is found.
Input:   a collective of one phase; how tall trees may get at most.
Output:  forests, each faster than those before it.
Cost:    for each height some searches (:mod:`forestcoll.low_height.low_trees`), each with a budget.
Source:  Own; see docs/mathematics/low-trees.md.

Heights are tried one by one up to eight hops above the least, then in steps of a fifth. At each
the search begins from shortest-path trees, from what the core makes for the same k, cut to h, and
from what was found for the height before; for few trees per GPU and for as many as the optimum has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.core.optimality import optimum
from forestcoll.core.pipeline import EXPLICIT, schedule_of
from forestcoll.core.stopwatch import Stopwatch
from forestcoll.low_height.height_bound import height_bound
from forestcoll.low_height.hop_distances import eccentricities
from forestcoll.low_height.low_trees import Seeds, fits, low_trees, seeds
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.request import Request
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.reverse import turned
from forestcoll.topology.model import Topology

__all__ = ["LOW_STAGE", "Climb", "Ladder", "tallest"]

LOW_STAGE = "low trees"
"""Of the time of a schedule within a height."""

_FEW = (1, 2, 4, 8)  # trees per unit of weight, unless they are more than two for each GPU
_LOOKS = 2**26  # of one search
_ONE_BY_ONE = 8  # heights above the least that are all tried
_ENTRIES = 2**22  # of the parents of all trees, beyond which fewer are begun with


def tallest(forest: Forest) -> int:
    """Return the height of the tallest tree, in hops from GPU to GPU."""
    return int(forest.heights().max(initial=0))


@dataclass(frozen=True, slots=True)
class Climb:
    """A collective of one phase on a network of two GPUs or more; made by :meth:`of`.

    Parameters
    ----------
    request : Request
    network : Topology
        On which out-trees are packed: of a reduction the network turned round.
    best : Optimum
    least : int
        The height that no trees are below: the greatest eccentricity of a root.
    """

    request: Request
    network: Topology
    best: Optimum
    least: int

    @classmethod
    def of(cls, request: Request) -> Climb:
        """Find out how low trees may be, and how fast any."""
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

    def inverse_rate(self, height: int) -> Fraction:
        """Return what 1/x of trees up to a height is not below."""
        low = height_bound(self.network, self.request.weights, height)
        return max(self.best.inverse_rate, low)

    def at_most_gb_s(self, height: int) -> Fraction:
        """Return the algorithmic bandwidth that no trees up to a height exceed, in GB/s."""
        return sum(self.request.weights) / self.inverse_rate(height)

    def rungs(self, most: int, first: int | None = None) -> Iterator[int]:
        """Yield the heights to try, from the first, or else the least, up; the most among them."""
        height = self.least if first is None else first
        while height < most:
            yield height
            height += 1 if height < self.least + _ONE_BY_ONE else 1 + height // 5
        if first is None or first <= most:
            yield most


class Ladder:
    """The forests of a climb; asked for taller ones it goes on from where it is.

    Parameters
    ----------
    climb : Climb
    tall : Forest
        The fastest there is for its request, which may be among them.
    clock : Stopwatch
    """

    def __init__(self, climb: Climb, tall: Forest, clock: Stopwatch) -> None:
        self.climb = climb
        self._tall, self._clock = tall, clock
        self._made: dict[int, Forest] = {}
        self._before: dict[int, Forest] = {}
        self._kept: list[Forest] = []
        self._next = climb.least

    @classmethod
    def of(cls, request: Request, clock: Stopwatch) -> Ladder:
        """Make the fastest forest, with which it begins, as low as patience makes it."""
        request = replace(request, patient=True)
        forest = schedule_of(request, EXPLICIT, clock)
        assert isinstance(forest, Forest)
        return cls(Climb.of(request), forest, clock)

    def up_to(self, most: int | None) -> list[Forest]:
        """Return forests of trees up to a height, each taller and faster than the one before.

        Parameters
        ----------
        most : int, optional
            At least ``climb.least``, and no less than before; the height of ``tall`` if not given.
        """
        self._made = self._made or self._by_the_core()
        high = tallest(self._tall)
        for height in self.climb.rungs(high if most is None else min(most, high), self._next):
            if self._kept and _inverse_rate(self._kept[-1]) == _inverse_rate(self._tall):
                break
            self._try(height)
            self._next = height + 1
        return list(self._kept)

    def _try(self, height: int) -> None:
        """Keep what is found within a height."""
        kept, before = self._kept, self._before
        bound = self.climb.inverse_rate(height)
        for forest in self._made.values():
            if tallest(forest) <= height:
                _keep(kept, forest)
        for k, begin in self._begins(height):
            if kept and _inverse_rate(kept[-1]) == bound:
                break
            found = self._search(begin, height, bound)
            if k not in before or _inverse_rate(found) < _inverse_rate(before[k]):
                before[k] = found
            _keep(kept, self._finished(found))

    def _by_the_core(self) -> dict[int, Forest]:
        """Return what the core makes, by k; other numbers of trees unless one was asked for."""
        made = {self._tall.k: self._tall}
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

    def _begins(self, height: int) -> Iterator[tuple[int, Seeds]]:
        """Yield what to begin the search with, by k."""
        weights, made, before = self.climb.request.weights, self._made, self._before
        for k, forest in made.items():
            if not fits(self.climb.network, weights, k):
                continue
            roots = seeds(weights, k)
            first = k == min(made)
            if first or self._is_small(len(roots.root)):
                yield k, roots
            if tallest(forest) > height and (first or self._is_small(forest.num_batches)):
                yield k, Seeds.of(forest)
            if k in before:
                yield k, Seeds.of(before[k])

    def _search(self, begin: Seeds, height: int, bound: Fraction) -> Forest:
        return self._clock.run(
            LOW_STAGE,
            lambda report: low_trees(
                self.climb.network,
                self.climb.request.weights,
                begin,
                height,
                bound,
                optimum=self.climb.best,
                looks=_LOOKS,
                progress=report,
            ),
        )

    def _finished(self, forest: Forest) -> Forest:
        (reduction,) = self.climb.request.reductions
        return turned(forest, self.climb.request.topology) if reduction else forest


def _inverse_rate(forest: Forest) -> Fraction:
    return forest.congestion / forest.k


def _keep(kept: list[Forest], forest: Forest) -> None:
    """Add a forest unless it is no faster than one as low; drop those that it makes needless."""
    height, slow = tallest(forest), _inverse_rate(forest)
    if any(tallest(one) <= height and _inverse_rate(one) <= slow for one in kept):
        return
    kept[:] = [one for one in kept if tallest(one) < height or _inverse_rate(one) < slow]
    kept.append(forest)
    kept.sort(key=tallest)
