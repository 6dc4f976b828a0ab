"""The tightest cuts of a network, one after the other.

Problem: which cut binds, and which ones stand behind it.
Input:   a topology and a collective.
Output:  a list of cuts. The first is a bottleneck; each other is the tightest of those that tell
         apart GPUs that no cut before, nor any copy of one under the symmetries, tells apart.
Cost:    for each cut, and each set of GPUs not yet told apart, two searches a GPU; of sets that
         symmetries carry into one another only one is searched.
Source:  own. A cut that splits a set of GPUs splits off, or leaves behind, any one u of them: it
         has u inside and some v of the others outside, or some v inside and u outside. Links of
         endless bandwidth into a GPU force it inside; a cut that is violated at the ratio of
         another is tighter (ForestColl section 5.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.core.optimality import narrowest_cut
from forestcoll.errors import CapacityOverflowError, InvalidParameterError
from forestcoll.native import _core
from forestcoll.problem.cuts import Cut
from forestcoll.problem.weights import Weights, weights_for
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology
from forestcoll.topology.symmetry.automorphism import Ints
from forestcoll.topology.validation import validate
from forestcoll.what_if.symmetric_parts import symmetries

__all__ = ["TightCut", "tightest_cuts"]

Progress = Callable[[int, int], None]
Inside = npt.NDArray[np.bool_]

_MOST_COPIES = 4096


@dataclass(frozen=True, slots=True)
class TightCut:
    """A cut, and how many there are of it.

    Parameters
    ----------
    cut : Cut
    copies : int or None
        Cuts that the symmetries found carry it to, with itself; None if they are too many to count.
    """

    cut: Cut
    copies: int | None


def tightest_cuts(
    topology: Network,
    collective: str = "allgather",
    *,
    count: int = 3,
    root: str | int | None = None,
    weights: Weights | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[TightCut, ...]:
    """Return the bottleneck cut and those that stand behind it.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    collective : str
        "allgather", "reduce-scatter", "broadcast" or "reduce".
    count : int
        How many; fewer are returned if all GPUs are told apart before, or, with roots, no cut of
        the others holds any data.
    root, weights : optional
        As of :func:`forestcoll.problem.weights.weights_for`.
    threads : int
        At most so many; the cuts do not depend on their number.
    progress : callable, optional
        Told (cuts found, cuts wanted); may raise to stop.

    Raises
    ------
    ForestCollError
        As of :func:`forestcoll.core.optimality.optimum`.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> for one in tightest_cuts(load_topology("dgx_a100:boxes=4")):
    ...     print(one.copies, float(one.cut.algbw_gb_s), one.cut.in_words()[:27])
    4 266.6666666666667 everything but box 0 (8 GPU
    32 335.48387096774195 everything but GPU 1 of box
    """
    if not isinstance(count, int) or count < 1:
        raise InvalidParameterError(f"count is {count!r}; it must be a whole number from 1 up")
    topology = as_topology(topology)
    whole = weights_for(topology, collective, root=root, weights=weights)
    reduction = collective in ("reduce-scatter", "reduce")
    roots = [rank for rank, weight in enumerate(whole) if weight]
    validate(topology, collective, roots)
    _, _, narrowest = narrowest_cut(topology, whole, reduction, threads)
    orbits = symmetries(topology, whole, of_links=False)
    network = topology.reversed() if reduction else topology
    search = _Search(network, whole, orbits.generators, threads)
    inside = narrowest.astype(np.bool_)
    found: list[TightCut] = []
    while True:
        copies = search.tell_apart(inside)
        cut = Cut(topology, tuple(np.flatnonzero(inside).tolist()), whole, reduction)
        found.append(TightCut(cut, copies))
        if progress is not None:
            progress(len(found), count)
        following = search.next() if len(found) < count else None
        if following is None:
            return tuple(found)
        inside = following


class _Search:
    """Finds cuts, and keeps which GPUs those found so far do not tell apart."""

    def __init__(
        self, network: Topology, weights: Sequence[int], moves: Sequence[Ints], threads: int
    ) -> None:
        self._links = network.integer_capacities
        self._size, self._moves, self._threads = len(network.nodes), moves, threads
        self._gpus = np.array(network.compute, dtype=np.int64)
        self._weight = np.zeros(self._size, dtype=np.int64)
        self._weight[self._gpus] = weights
        self._group = np.zeros(self._size, dtype=np.int64)  # of GPUs not told apart, by node
        self._symmetric = True  # whether symmetries carry groups to groups

    def tell_apart(self, inside: Inside) -> int | None:
        """Split the groups by a cut and by its copies; return how many there are."""
        copies = self._copies(inside)
        for copy in copies:
            self._group = np.unique(2 * self._group + copy, return_inverse=True)[1]
        if len(copies) < _MOST_COPIES:
            return len(copies)
        self._symmetric = False
        return None

    def _copies(self, inside: Inside) -> list[Inside]:
        """Return the cut and what symmetries carry it to, as far as they are not too many."""
        known, found = {inside.tobytes()}, [inside]
        for copy in found:
            for move in self._moves:
                image = np.zeros_like(copy)
                image[move] = copy
                if image.tobytes() not in known and len(found) < _MOST_COPIES:
                    known.add(image.tobytes())
                    found.append(image)
        return found

    def next(self) -> Inside | None:
        """Return the tightest cut that splits a group; None if there is none."""
        best: tuple[Fraction, Inside] | None = None
        for group in self._unlike_groups():
            for ratio, inside in self._splitting(group):
                if ratio and (best is None or ratio > best[0]):
                    best = ratio, inside
        return None if best is None else best[1]

    def _unlike_groups(self) -> Iterator[list[int]]:
        """Yield the groups of more than one GPU; of those that are alike only one."""
        members: dict[int, list[int]] = {}
        for gpu in self._gpus.tolist():
            members.setdefault(int(self._group[gpu]), []).append(gpu)
        done: set[int] = set()
        for group, gpus in members.items():
            if group in done or len(gpus) == 1:
                continue
            yield gpus
            done |= self._alike(group, gpus[0]) if self._symmetric else {group}

    def _alike(self, group: int, member: int) -> set[int]:
        """Return the groups that symmetries carry a group to; they carry one member there."""
        seen, waiting, groups = {member}, [member], {group}
        while waiting:
            node = waiting.pop()
            for move in self._moves:
                image = int(move[node])
                if image not in seen:
                    seen.add(image)
                    waiting.append(image)
                    groups.add(int(self._group[image]))
        return groups

    def _splitting(self, group: Sequence[int]) -> Iterator[tuple[Fraction, Inside]]:
        """Yield the tightest cuts with the first GPU in and another out, and the reverse."""
        first, *others = group
        yield self._tightest(first, others)
        for other in others:
            yield self._tightest(other, [first])

    def _tightest(self, forced: int, outside: Sequence[int]) -> tuple[Fraction, Inside]:
        """Return the ratio of the tightest cut with a GPU inside and any of others out, and it.

        From one such cut on; whichever is violated at its ratio is tighter.
        """
        target = np.zeros(self._size, dtype=np.uint8)
        target[list(outside)] = 1
        inside = np.ones(self._size, dtype=np.bool_)
        inside[outside[0]] = False
        passed = 0
        while True:
            ratio = self._ratio(inside)
            passed, cut = self._violated(ratio, forced, target, passed)
            if not len(cut):
                return ratio, inside
            inside = cut.astype(np.bool_)

    def _ratio(self, inside: Inside) -> Fraction:
        """Weight inside over what leaves, in whole capacities."""
        leaving = inside[self._links.tail] & ~inside[self._links.head]
        return Fraction(int(self._weight[inside].sum()), int(self._links.capacity[leaving].sum()))

    def _violated(
        self, ratio: Fraction, forced: int, target: npt.NDArray[np.uint8], passed: int
    ) -> tuple[int, npt.NDArray[np.uint8]]:
        """Return a tighter cut around a GPU, before one of the targets; empty if none is."""
        weight = int(self._weight.sum())
        holders = np.flatnonzero(self._weight)
        holders = holders[holders != forced]
        trees = weight * ratio.denominator  # all of them fit a link that no cut may use
        if int(self._links.capacity.sum()) * ratio.numerator + len(holders) * trees >= 2**62:
            raise CapacityOverflowError(
                "bandwidths and weights are too large to look for further cuts in exact 64-bit "
                "arithmetic; ask for fewer cuts, or round the bandwidths"
            )
        to_forced = np.full(len(holders), forced, dtype=np.int32)
        return _core.violated_cut(
            self._size,
            np.concatenate([self._links.tail, holders.astype(np.int32)]),
            np.concatenate([self._links.head, to_forced]),
            np.concatenate([self._links.capacity * ratio.numerator, np.full(len(holders), trees)]),
            self._weight * ratio.denominator,
            target,
            passed,
            self._threads,
            None,
        )
