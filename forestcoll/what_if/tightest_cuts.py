"""The tightest cuts of a network: the bottleneck and the cuts behind it.

Each later cut is the tightest that separates GPUs that no earlier cut, nor a copy of one under the
symmetries, separates. Each cut, and each set of GPUs not yet separated, takes two searches a GPU;
of symmetric sets only one is searched.

A cut that splits a set of GPUs separates any one u of them from some other: it has u inside and
some v of the set outside, or some v inside and u outside. Links of unlimited bandwidth into a GPU
force it inside. A cut that is violated at the ratio of another is tighter (ForestColl section 5.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.core.optimality import narrowest_cut
from forestcoll.core.violation import violated_cut_over
from forestcoll.errors import CapacityOverflowError, InvalidParameterError
from forestcoll.problem.cuts import Cut
from forestcoll.problem.weights import Weights, weights_for
from forestcoll.topology.in_brief import InARow
from forestcoll.topology.in_rows import InRows
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology
from forestcoll.topology.symmetry.automorphism import Ints
from forestcoll.topology.validation import validate
from forestcoll.what_if.symmetric_parts import symmetries

__all__ = ["TightCut", "TightCuts", "tightest_cuts"]

Progress = Callable[[int, int], None]
Inside = npt.NDArray[np.bool_]

_MOST_COPIES = 4096


@dataclass(frozen=True, slots=True, repr=False)
class TightCut(InARow):
    """A cut and the number of its copies under the symmetries.

    Parameters
    ----------
    copies : int or None
        Number of its images under the symmetries found, itself included; None if too many to count.
    """

    cut: Cut
    copies: int | None

    def in_a_row(self) -> dict[str, object]:
        """Return the bound, the number of copies and the cut in words."""
        return {
            "algbw_gb_s": self.cut.algbw_gb_s,
            "copies": self.copies,
            "cut": self.cut.in_words(),
        }


class TightCuts(InRows[TightCut]):
    """The tightest cuts of a network; the first is a bottleneck."""

    __slots__ = ()
    what = "cut"


def tightest_cuts(
    topology: Network,
    collective: str = "allgather",
    *,
    count: int = 3,
    root: str | int | None = None,
    weights: Weights | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> TightCuts:
    """Return the bottleneck cut and the next tightest cuts.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter", "broadcast" or "reduce".
    count : int
        The number of cuts. Fewer are returned if those separate all GPUs or, with roots, if no
        other cut holds data.
    root, weights : optional
        As for :func:`forestcoll.problem.weights.weights_for`.
    threads : int
        The largest number of threads; the cuts do not depend on it.
    progress : callable, optional
        Called with (cuts found, cuts wanted); may raise to stop.

    Raises
    ------
    ForestCollError
        As :func:`forestcoll.core.optimality.optimum`.

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
            return TightCuts(found)
        inside = following


class _Search:
    """Finds cuts, and keeps the groups of GPUs that the cuts so far do not separate."""

    def __init__(
        self, network: Topology, weights: Sequence[int], moves: Sequence[Ints], threads: int
    ) -> None:
        self._links = network.integer_capacities
        self._size, self._moves, self._threads = len(network.nodes), moves, threads
        self._gpus = np.array(network.compute, dtype=np.int64)
        self._weight = np.zeros(self._size, dtype=np.int64)
        self._weight[self._gpus] = weights
        self._group = np.zeros(
            self._size, dtype=np.int64
        )  # by node, its group of GPUs not separated
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
        """Return the cut and its images under the symmetries, up to a limit."""
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
        """Yield the groups of more than one GPU, one of each symmetry class."""
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
        """Return the groups that symmetries carry a group to, by the images of one member."""
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
        """Return the tightest cut with a GPU inside and any of others outside, with its ratio.

        Starts from one such cut; a cut violated at the current ratio is tighter.
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
        """Weight inside over the capacity that leaves, in whole numbers; 0 without any data.

        Links may leave no set without data, where all of them lead one way.
        """
        weight = int(self._weight[inside].sum())
        if weight == 0:
            return Fraction(0)
        leaving = inside[self._links.tail] & ~inside[self._links.head]
        return Fraction(weight, int(self._links.capacity[leaving].sum()))

    def _violated(
        self, ratio: Fraction, forced: int, target: npt.NDArray[np.uint8], passed: int
    ) -> tuple[int, npt.NDArray[np.uint8]]:
        """Return a tighter cut around a GPU, before one of the targets; empty if none is."""
        weight = int(self._weight.sum())
        holders = np.flatnonzero(self._weight)
        holders = holders[holders != forced]
        trees = weight * ratio.denominator  # enough that no minimum cut uses such a link
        if int(self._links.capacity.sum()) * ratio.numerator + len(holders) * trees >= 2**62:
            raise CapacityOverflowError(
                "bandwidths and weights are too large to look for further cuts in exact 64-bit "
                "arithmetic; ask for fewer cuts, or round the bandwidths"
            )
        to_forced = np.full(len(holders), forced, dtype=np.int32)
        return violated_cut_over(
            np.concatenate([self._links.tail, holders.astype(np.int32)]),
            np.concatenate([self._links.head, to_forced]),
            np.concatenate([self._links.capacity * ratio.numerator, np.full(len(holders), trees)]),
            self._weight * ratio.denominator,
            target,
            passed=passed,
            threads=self._threads,
        )
