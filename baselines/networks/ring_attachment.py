"""Rings through boxes with unequal NIC attachment, as with dead or missing NICs.

Problem: place R rings that enter and leave each box at its NICs, such that the busiest link has the
         least load.
Output:  one ring at a time, given the load of earlier rings.
Cost:    for each ring a few shortest paths around the boxes over all pairs of entry and exit (64
         for a box of 8 NICs); the Hamiltonian paths of a box with direct links.
Source:  the machine with the fewest NICs limits the channels of NCCL. A GPU reaches a NIC of
         another GPU over NVLink, through that GPU (PXN). The choice of NICs is greedy and ours, as
         in ``ring_layout``.

GPUs without a NIC are inside the chain of their box. If a single GPU of a box has a NIC, the ring
enters and leaves there: it visits that GPU twice, which forwards each shard on first arrival. A
ring does the same where it would otherwise have to leave its rail.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from heapq import nsmallest
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from baselines.networks.hamiltonian import find_paths
from baselines.networks.nic_attachment import find_nic_attachments
from baselines.networks.ports import STEEPNESS, Ports
from baselines.networks.ring_crossings import MOST_HOPS, Crossings, Part
from baselines.networks.ring_layout import Ring, hops
from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["AttachmentLayout"]

_WHOLE = 840
"""Load of a ring on a link: divisible by every number of equal-cost paths up to 8."""

_Ends = tuple[int, int]


_Way: TypeAlias = "tuple[int, _Ends, _Way | None]"
"""A path around some boxes: its price, its last crossing, and the path before that."""


class _Loads(NamedTuple):
    """Loads of a ring on links, by number, and those links that crossings may take.

    A link may come several times.
    """

    link: npt.NDArray[np.int64]
    load: npt.NDArray[np.int64]
    crossed: frozenset[int]


class AttachmentLayout:
    """Places one ring after another, and counts the rings on each link.

    Raises
    ------
    UnsupportedError
        In ``lay``, if there is no path around the boxes.
    """

    def __init__(self, topology: Topology, boxes: list[list[int]]) -> None:
        self.ports = Ports(topology)
        self.boxes = boxes
        self.number = {link: place for place, link in enumerate(self.ports.slowness)}
        self.busy = np.zeros(len(self.number), dtype=np.int64)
        self.is_exact = not topology.shared  # whether the loads alone give the time of the rings
        router = self.ports.router
        attachments = find_nic_attachments(router, boxes)
        self.entries = attachments[0].ins
        self.everywhere = [frozenset(gpus) for gpus in boxes]
        # Through switches alone, a ring can leave a box at every GPU, wherever it enters.
        self.has_equal_exits = [
            len(gpus) > 1 and not any(self.ports.direct(gpus)) for gpus in boxes
        ]
        self.courses = cache(self._find_courses)
        self.exits = cache(self._find_exits)
        self.shares = cache(self._find_shares)
        self.numbered = cache(self._find_numbered)
        self.loads = cache(self._find_loads)
        self.crossings = [
            Crossings(found.outs, after.ins, self._hops, self.shares, self._onward, router.kind)
            for found, after in pairwise((*attachments, attachments[0]))
        ]
        self.narrowed: list[Crossings] = []
        self.highest = 0  # of all prices of parts so far
        self.over = self._find_parts_over_links()
        self.narrowest = min(topology.ingress_gb_s[gpu] for gpu in topology.compute)
        # A ring changes the loads of few links, so few of all crossings need a new price.
        self.stale = {*self.over}

    def _find_parts_over_links(self) -> dict[int, list[Part]]:
        over: dict[int, list[Part]] = defaultdict(list)
        for crossings in self.crossings:
            for part in crossings.parts:
                for link in part.shares:
                    over[self.number[link]].append(part)
        return over

    def is_settled(self, rings: int) -> bool:
        """Whether some GPU is entered at its full bandwidth, at all times.

        Each ring enters each GPU, so no number of rings, and no course of theirs, takes less time.
        """
        least = rings * _WHOLE * self.ports.scale
        return self.is_exact and self.worst * self.narrowest <= least

    def clear(self) -> None:
        """Remove all rings."""
        self.busy[:] = 0
        self.stale = {*self.over}

    def lay(self, ring: int, rings: int) -> Ring:
        """Lay a ring of so many and count it."""
        crossed = self._crossed()
        tour: list[int] = []
        for box, ((_, entry), (exit_, onward)) in enumerate(pairwise((crossed[-1], *crossed))):
            courses = self.courses(box, entry)
            ways = courses[exit_] if courses else [self._descending(box, entry, exit_)]
            tour += self._lightest(ways, onward)
        self.count(tuple(tour), 1)
        return tuple(tour)

    def count(self, tour: Ring, rings: int) -> None:
        """Add rings of this course to the loads, or remove them if negative."""
        loads = self.loads(tour)
        np.add.at(self.busy, loads.link, rings * loads.load)
        self.stale |= loads.crossed

    def _find_loads(self, tour: Ring) -> _Loads:
        found = [self.numbered(hop) for hop in hops(tour)]
        links = [link for numbers, _ in found for link in numbers]
        loads = [load for _, loads in found for load in loads]
        crossed = frozenset(self.over.keys() & links)
        return _Loads(np.array(links, dtype=np.int64), np.array(loads, dtype=np.int64), crossed)

    def _find_numbered(self, hop: _Ends) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers of the links of a hop, and the load of a ring on each."""
        shares = self.shares(hop)
        return tuple(self.number[link] for link in shares), tuple(shares.values())

    @property
    def worst(self) -> int:
        """Rings per bandwidth on the busiest link."""
        pairs = zip(self.busy.tolist(), self.ports.slowness.values(), strict=True)
        return max(load * slowness for load, slowness in pairs)

    def _hops(self, tail: int, head: int) -> int:
        return self.ports.router.hops(tail, head) or 0

    def _onward(self, tail: int, head: int) -> int | None:
        ways = self.ports.router.next_hops(tail, head)
        return ways[0][1] if len(ways) == 1 else None

    def _find_shares(self, hop: _Ends) -> Mapping[_Ends, int]:
        """The load of a ring over a hop on each link, divided over all equal-cost paths."""
        paths = self.ports.router.paths(*hop)
        if len(paths) == 1:
            return dict.fromkeys(pairwise(paths[0]), _WHOLE)
        self.is_exact &= _WHOLE % len(paths) == 0
        found: dict[_Ends, int] = defaultdict(int)
        for path in paths:
            for link in pairwise(path):
                found[link] += _WHOLE // len(paths)
        return found

    def _penalty(self, hop: _Ends) -> int:
        """The increase of the sum over all links by one more ring over a hop (see ``Ports``)."""
        return sum(self._added(link, share) for link, share in self.shares(hop).items())

    def _added(self, link: _Ends, share: int) -> int:
        load, slowness = int(self.busy[self.number[link]]), self.ports.slowness[link]
        more: int = ((load + share) ** STEEPNESS - load**STEEPNESS) * slowness**STEEPNESS
        return more

    def _lightest(self, courses: Sequence[Ring], onward: int) -> Ring:
        """The course of least penalty, with its hop to the next box."""
        if len(courses) == 1:
            return courses[0]
        penalty = cache(self._penalty)
        return min(courses, key=lambda course: sum(map(penalty, pairwise((*course, onward)))))

    def _crossed(self) -> Sequence[_Ends]:
        """The crossings of a ring from each box to the next, of least penalty.

        Ties go to the fewest hops; a box is entered and left at one GPU only if unavoidable.
        """
        self._renew_prices()
        equal = [*self.has_equal_exits, False]  # the way around may end at any entry
        self.narrowed = [
            crossings.narrowed(heads=equal[box + 1]) if equal[box] else crossings
            for box, crossings in enumerate(self.crossings)
        ]
        # Above the price of any path around: going round a box twice is the last resort.
        a_round = 1 + 2 * len(self.boxes) * self.highest
        way = self._cheapest(a_round)
        if way is None:
            raise UnsupportedError("unsupported: no way for rings to enter and leave every box")
        crossed: list[_Ends] = []
        _, crossing, before = way
        while before is not None:
            crossed.append(crossing)
            _, crossing, before = before
        return crossed[::-1]

    def _renew_prices(self) -> None:
        """Price the crossings over links whose loads have changed."""
        for part in {part for link in self.stale for part in self.over[link]}:
            penalty = sum(self._added(link, share) for link, share in part.shares.items())
            part.reprice(penalty * MOST_HOPS + part.hops)
            self.highest = max(self.highest, part.price)
        self.stale.clear()

    def _cheapest(self, a_round: int) -> _Way | None:
        """The best path around all boxes and back, from the first of equally good GPUs.

        No path around from a GPU is cheaper than the best one to it from any GPU, so most GPUs
        need no search of their own.
        """
        # All are free, so two are enough where all entries have the same exits (see ``_left``).
        starts = self.entries[:2] if self.has_equal_exits[0] else self.entries
        free = self._through({start: (0, (start, start), None) for start in starts}, a_round)
        bounds = sorted(
            (free[start][0], place) for place, start in enumerate(self.entries) if start in free
        )
        best: tuple[int, int] | None = None
        found: _Way | None = None
        for bound in bounds:
            if best is not None and bound > best:
                break
            start = self.entries[bound[1]]
            if self._can_begin(start, free[start]):
                return free[start]
            way = self._through({start: (0, (start, start), None)}, a_round).get(start)
            if way is not None and (best is None or (way[0], bound[1]) < best):
                best, found = (way[0], bound[1]), way
        return found

    def _can_begin(self, start: int, way: _Way) -> bool:
        """Whether a path around to a GPU, from any, can begin at that GPU for the same price.

        It can if it leaves the first box elsewhere, and entries do not differ in their exits. The
        search from that GPU alone then returns it too: it only raises prices of other paths.
        """
        _, crossing, before = way
        while before is not None and before[2] is not None:
            _, crossing, before = before
        return crossing[0] != start and crossing[0] in self.common_exits

    def _through(self, entered: dict[int, _Way], a_round: int) -> dict[int, _Way]:
        """The best paths around all boxes, by the GPU where they enter the first box again."""
        for box, crossings in enumerate(self.narrowed):
            left = self._left(box, entered, a_round)
            reached = crossings.cheapest(left)
            if box + 1 < len(self.boxes) and self.has_equal_exits[box + 1]:
                reached = _two_cheapest(reached)
            entered = {head: (price, (tail, head), left[tail][1]) for price, tail, head in reached}
        return entered

    def _left(
        self, box: int, entered: Mapping[int, _Way], a_round: int
    ) -> dict[int, tuple[int, _Way]]:
        """The price and the way to each GPU where a ring can leave a box, given those into it.

        Of equal ones the first. Entries with the same exits are looked at together: the cheapest
        is best for every exit but itself, which takes the second, or the entry again at the price
        of a round.
        """
        ways = list(entered.values())
        again = 0 if len(self.boxes[box]) == 1 else a_round
        left: dict[int, tuple[int, int]] = {}
        for exits, entries in self._alike(box, entered).items():
            (price, place, entry), *others = nsmallest(2, entries)
            best = dict.fromkeys(exits, (price, place))
            if entry in exits:
                own = price + again, place
                best[entry] = min([own, *(other[:2] for other in others)])
            for exit_ in best.keys() & left.keys():
                best[exit_] = min(best[exit_], left[exit_])
            left |= best
        return {exit_: (price, ways[place]) for exit_, (price, place) in left.items()}

    def _alike(
        self, box: int, entered: Mapping[int, _Way]
    ) -> Mapping[frozenset[int], list[tuple[int, int, int]]]:
        """Return the price, the place and the GPU of entries, by their exits."""
        priced = [(way[0], place, entry) for place, (entry, way) in enumerate(entered.items())]
        if self.has_equal_exits[box] and priced:
            return {self.narrowed[box].tails: priced}
        alike: dict[frozenset[int], list[tuple[int, int, int]]] = {}
        for one in priced:
            alike.setdefault(self.exits(box, one[2]), []).append(one)
        return alike

    def _find_exits(self, box: int, entry: int) -> frozenset[int]:
        return frozenset(self.courses(box, entry)) or self.everywhere[box]

    @cached_property
    def common_exits(self) -> frozenset[int]:
        """Where a ring can leave the first box, wherever it enters; none if entries differ."""
        first, *others = {self.exits(0, entry) for entry in self.entries}
        return frozenset() if others else first

    def _find_courses(self, box: int, entry: int) -> Mapping[int, Sequence[Ring]]:
        """By exit, the courses over direct links through all GPUs of a box; empty without any.

        A course that goes round has the entry again at its end.
        """
        gpus = self.boxes[box]
        if len(gpus) == 1:
            return {entry: [(entry,)]}
        wires, start = self.ports.direct(gpus), gpus.index(entry)
        ends = {end for end, onward in enumerate(wires) if start in onward}
        found: dict[int, list[Ring]] = defaultdict(list)
        for path in find_paths(wires, start):
            course = tuple(map(gpus.__getitem__, path))  # thousands, so in half the time of a loop
            found[course[-1]].append(course)
            if path[-1] in ends:
                found[entry].append((*course, entry))
        return found

    def _descending(self, box: int, entry: int, exit_: int) -> Ring:
        """The course through a box in descending order, with the exit at the end."""
        gpus = self.boxes[box]
        start = gpus.index(entry)
        down = [gpus[start - step] for step in range(len(gpus))]
        if exit_ == entry:
            return (*down, entry)
        down.remove(exit_)
        return (*down, exit_)


def _two_cheapest(reached: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return the two ways of least price, in order; of equal ones the first.

    More are not needed where all entries have the same exits (see ``_left``).
    """
    if len(reached) < 3:
        return reached
    prices = [way[0] for way in reached]
    least = nsmallest(2, range(len(prices)), key=prices.__getitem__)
    return [reached[place] for place in sorted(least)]
