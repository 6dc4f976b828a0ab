"""Exact optima after single failures and single upgrades of a network.

Each class of symmetric parts takes one search for the optimum (ForestColl section 5.2); for
upgrades, one more for the whole class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from forestcoll.core.bottleneck_cut import narrowest_cut_over
from forestcoll.core.optimality import optimum, optimum_of
from forestcoll.core.problem import is_target
from forestcoll.errors import (
    CapacityOverflowError,
    DisconnectedError,
    InvalidParameterError,
    InvalidTopologyError,
    UnsupportedError,
)
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.weights import Weights, weights_for
from forestcoll.topology.changes.named_parts import parts_named
from forestcoll.topology.in_brief import InARow
from forestcoll.topology.in_rows import InRows
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import Exact, exact, exact_text
from forestcoll.topology.spec import Network, as_topology
from forestcoll.topology.validation import validate
from forestcoll.what_if.symmetric_parts import PartKind, SymmetricParts, symmetric_parts, symmetries

__all__ = ["Outcome", "Outcomes", "failures", "upgrades"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True, repr=False)
class Outcome(InARow):
    """A network after one change, and the best a collective can then do.

    Parameters
    ----------
    before : Optimum
        The optimum of the unchanged network.
    factor : Fraction
        The factor of the bandwidths; 0 for a failure.
    every : bool
        Whether all of these parts change at once, not one of them.
    inverse_rate : Fraction or None
        1/x* afterwards, in s/GB; None if the collective cannot run.
    inside : tuple of int
        The bottleneck cut, by positions in the unchanged network.
    by_program : Optimum, optional
        The optimum of the changed network, where one cut does not prove it.
    """

    before: Optimum
    parts: SymmetricParts
    factor: Fraction
    every: bool
    inverse_rate: Fraction | None
    inside: tuple[int, ...]
    by_program: Optimum | None = None

    def in_a_row(self) -> dict[str, object]:
        """Return the changed part, the rate afterwards, and the change of the rate."""
        what = self.parts.in_words(every=self.every)
        return {
            "part": f"{what}, {exact_text(self.factor)} times" if self.factor else what,
            "algbw_gb_s": self.algbw_gb_s,
            "change_percent": 100 * self.gain,
            "cannot_run": self.reason or None,
        }

    @property
    def algbw_gb_s(self) -> Fraction | None:
        """Algorithmic bandwidth afterwards, for the data of the GPUs that are left."""
        return None if self.inverse_rate is None else sum(self.weights) / self.inverse_rate

    @property
    def gain(self) -> Fraction:
        """Relative change of the algorithmic bandwidth; -1 if the collective cannot run."""
        after = self.algbw_gb_s
        return Fraction(-1) if after is None else after / self.before.algbw_gb_s - 1

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Weights of the GPUs that are left."""
        topology = self.before.topology
        failed = self._failed_nodes
        kept = [
            weight
            for gpu, weight in zip(topology.compute, self.before.weights, strict=True)
            if gpu not in failed
        ]
        return tuple(weight // (math.gcd(*kept) or 1) for weight in kept)

    @cached_property
    def changed(self) -> Topology:
        """The changed network."""
        topology = self.before.topology
        names = self.parts.names if self.every else self.parts.names[:1]
        return topology.scaled(names, self.factor) if self.factor else topology.without(*names)

    @property
    def optimum(self) -> Optimum | None:
        """The optimum afterwards, with its proof; None if the collective cannot run."""
        if self.inverse_rate is None or self.by_program is not None:
            return self.by_program
        changed, topology = self.changed, self.before.topology
        cut = np.zeros(len(changed.nodes), dtype=np.uint8)
        names = {topology.nodes[v].name for v in self.inside}
        cut[[v for v, node in enumerate(changed.nodes) if node.name in names]] = 1
        whole = self.inverse_rate / changed.integer_capacities.denominator
        p, q = whole.as_integer_ratio()
        return optimum_of(changed, p, q, cut, self.weights, self.before.reduction)

    @property
    def reason(self) -> str:
        """Why the collective cannot run; "" if it can."""
        if self.inverse_rate is not None:
            return ""
        if self.weights and not any(self.weights):
            return "no GPU that is left has any data"
        roots = [rank for rank, weight in enumerate(self.weights) if weight]
        try:
            validate(self.changed, self.before.collective, roots)
        except InvalidTopologyError as error:
            return str(error).removeprefix(f"{self.changed.name}: ")
        raise AssertionError("a collective that runs on a network that was held to be too poor")

    @cached_property
    def _failed_nodes(self) -> frozenset[int]:
        if self.factor or self.parts.kind not in (PartKind.GPU, PartKind.SWITCH):
            return frozenset()
        return frozenset(self.before.topology.position_of[name] for name in self.parts.names[:1])


class Outcomes(InRows[Outcome]):
    """Outcomes of the failures, or upgrades, of one network."""

    __slots__ = ()
    what = "outcome"


def failures(
    topology: Network,
    collective: str = "allgather",
    *,
    root: str | int | None = None,
    weights: Weights | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Outcomes:
    """Return the optimum after each single failure, the worst first.

    Links fail in both directions; the data of a failed GPU is lost. Parts that the symmetries found
    exchange give one outcome.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter", "broadcast" or "reduce".
    root, weights : optional
        As for :func:`forestcoll.problem.weights.weights_for`.
    threads : int
        The largest number of threads; the outcomes do not depend on it.
    progress : callable, optional
        Called with (outcomes known, outcomes in all); may raise to stop.

    Raises
    ------
    ForestCollError
        As :func:`forestcoll.core.optimality.optimum`; UnsupportedError for an allreduce.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> for one in failures(load_topology("dgx_a100:boxes=4"))[:3]:
    ...     print(one.parts.in_words(), one.algbw_gb_s)
    switch ib None
    any of 32 links, b*.gpu* - b*.nvswitch 800/31
    any of 4 switches, b*.nvswitch 800/31
    """
    numbers = _Numbers(as_topology(topology), collective, root, weights, threads)
    failing = (one for one in numbers.classes if one.kind is not PartKind.SHARED)
    asked = [(parts, Fraction(0), False) for parts in failing]
    outcomes = numbers.outcomes(asked, progress)
    return Outcomes(sorted(outcomes, key=lambda outcome: outcome.gain))


def upgrades(
    topology: Network,
    collective: str = "allgather",
    *,
    factor: Exact = 2,
    root: str | int | None = None,
    weights: Weights | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Outcomes:
    """Return the optimum with faster links, the best first: each alone, and each class at once.

    Shared capacities count as links here; faster links leave shared capacities unchanged.

    Parameters
    ----------
    factor : int, Fraction or str
        The factor of the bandwidths in both directions; more than 1.
    topology, collective, root, weights, threads, progress
        As for :func:`failures`.

    Raises
    ------
    ForestCollError
        As :func:`failures`; InvalidParameterError if the factor is not more than 1.
    """
    by = exact(factor, "the factor")
    if by <= 1:
        raise InvalidParameterError(f"the factor is {by}; an upgrade has one above 1")
    numbers = _Numbers(as_topology(topology), collective, root, weights, threads)
    faster = (PartKind.NIC, PartKind.LINK, PartKind.SHARED)
    asked = [
        (parts, by, every)
        for parts in (one for one in numbers.classes if one.kind in faster)
        for every in (False, True)
        if not every or len(parts.names) > 1
    ]
    outcomes = numbers.outcomes(asked, progress)
    return Outcomes(sorted(outcomes, key=lambda outcome: (-outcome.gain, outcome.every)))


class _Numbers:
    """A network as whole numbers, a few of which change at a time."""

    def __init__(
        self,
        topology: Topology,
        collective: str,
        root: str | int | None,
        weights: Weights | None,
        threads: int,
    ) -> None:
        if collective == "allreduce":
            raise UnsupportedError(
                "the cost of a failure is computed from cuts, which only bound an allreduce; take "
                "reduce-scatter or allgather, its two phases, or ask for one failure of an "
                "allreduce with forestcoll expected --without PART"
            )
        whole = weights_for(topology, collective, root=root, weights=weights)
        reduction = collective in ("reduce-scatter", "reduce")
        self.before = optimum(topology, weights=whole, reduction=reduction, threads=threads)
        self.classes = symmetric_parts(topology, symmetries(topology, whole))
        self._threads = threads
        self._network = topology.reversed() if reduction else topology
        self._number = {(e.tail, e.head): i for i, e in enumerate(self._network.links)}
        self._links = self._network.integer_capacities
        self._is_switch = is_target(topology) == 0

    def outcomes(
        self, asked: Iterable[tuple[SymmetricParts, Fraction, bool]], progress: Progress | None
    ) -> list[Outcome]:
        """Find the optimum after each of these changes."""
        every, found = list(asked), []
        for number, (parts, factor, all_) in enumerate(every, start=1):
            found.append(self._outcome(parts, factor, all_))
            if progress is not None:
                progress(number, len(every))
        return found

    def _outcome(self, parts: SymmetricParts, factor: Fraction, every: bool) -> Outcome:
        blank = Outcome(self.before, parts, factor, every, None, ())
        if len(blank.weights) < 2 or not any(blank.weights):
            return blank
        try:
            return self._after(blank)
        except DisconnectedError:
            return blank

    def _after(self, asked: Outcome) -> Outcome:
        """Return 1/x* and its proof after a change, from whole numbers where a cut proves it."""
        if self._network.shared:  # the search below knows limits of single links only
            return self._by_program(asked)
        largest = max(asked.factor.as_integer_ratio())
        if int(self._links.capacity.sum()) * largest * sum(asked.weights) >= 2**62:
            raise CapacityOverflowError(
                f"{self.before.topology.name}: in whole numbers its bandwidths times "
                f"{exact_text(asked.factor)} are beyond exact 64-bit arithmetic; take a smaller "
                f"factor of fewer digits"
            )
        capacity = self._capacity(asked)
        # Trees need not attain the tightest cut if a switch sends more than it receives.
        if self._overdrawn(capacity):
            return self._by_program(asked)
        weights, target = self._nodes(asked)
        p, q, cut = narrowest_cut_over(
            self._links.tail, self._links.head, capacity, weights, target, threads=self._threads
        )
        unit = self._links.denominator * asked.factor.denominator
        inside = tuple(np.flatnonzero(cut).tolist())
        return replace(asked, inverse_rate=Fraction(p, q) * unit, inside=inside)

    def _by_program(self, asked: Outcome) -> Outcome:
        best = optimum(asked.changed, weights=asked.weights, reduction=self.before.reduction)
        names = (asked.changed.nodes[v].name for v in best.cut)
        inside = tuple(self._network.position_of[name] for name in names)
        return replace(asked, inverse_rate=best.inverse_rate, inside=inside, by_program=best)

    def _capacity(self, asked: Outcome) -> npt.NDArray[np.int64]:
        """Return the capacities after a change, times the denominator of its factor."""
        names = asked.parts.names if asked.every else asked.parts.names[:1]
        chosen = [
            self._number[ends if not self.before.reduction else ends[::-1]]
            for name in names
            for ends in parts_named(self.before.topology, name).links
        ]
        capacity = self._links.capacity * asked.factor.denominator
        capacity[chosen] = self._links.capacity[chosen] * asked.factor.numerator
        return capacity

    def _overdrawn(self, capacity: npt.NDArray[np.int64]) -> bool:
        """Whether some switch would send more than it receives."""
        size = len(self._network.nodes)
        excess = np.zeros(size, dtype=np.int64)
        np.add.at(excess, self._links.tail, capacity)
        np.subtract.at(excess, self._links.head, capacity)
        return bool((excess[self._is_switch] > 0).any())

    def _nodes(self, asked: Outcome) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Return the weights and the targets, by node, of the GPUs that are left."""
        topology = self.before.topology
        gone = asked._failed_nodes
        target = is_target(topology)
        target[list(gone)] = 0
        left = [gpu for gpu in topology.compute if gpu not in gone]
        weights = np.zeros(len(topology.nodes), dtype=np.int64)
        weights[left] = asked.weights
        return weights, target
