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
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from baselines.networks.hamiltonian import find_paths
from baselines.networks.nic_attachment import find_nic_attachments
from baselines.networks.ports import STEEPNESS, Ports
from baselines.networks.ring_layout import Ring, hops
from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["AttachmentLayout"]

_WHOLE = 840
"""Load of a ring on a link: divisible by every number of equal-cost paths up to 8."""

_MOST_HOPS = 2**16
"""More hops than any crossing; hops break ties between equal loads."""

_Ends = tuple[int, int]


class _Way(NamedTuple):
    """A path around some boxes: its price, its last crossing, and the path before that."""

    price: int
    crossing: _Ends
    before: _Way | None


class AttachmentLayout:
    """Places one ring after another, and counts the rings on each link.

    Raises
    ------
    UnsupportedError
        In ``lay``, if there is no path around the boxes.
    """

    is_fixed = False

    def __init__(self, topology: Topology, boxes: list[list[int]]) -> None:
        self.ports = Ports(topology)
        self.boxes = boxes
        self.busy: dict[_Ends, int] = {}
        attachments = find_nic_attachments(self.ports.router, boxes)
        self.entries = attachments[0].ins
        self.crossings = [
            [(tail, head) for tail in found.outs for head in after.ins if self._hops(tail, head)]
            for found, after in pairwise((*attachments, attachments[0]))
        ]
        self.courses = cache(self._find_courses)
        self.shares = cache(self._find_shares)
        self.over: dict[_Ends, list[tuple[int, _Ends]]] = defaultdict(list)
        for box, ways in enumerate(self.crossings):
            for hop in ways:
                for link in self.shares(hop):
                    self.over[link].append((box, hop))
        # A ring changes the loads of few links, so few of all crossings need a new price.
        self.prices: list[dict[_Ends, int]] = [dict.fromkeys(ways, 0) for ways in self.crossings]
        self.stale = {*self.over}

    def lay(self, ring: int, rings: int) -> Ring:
        """Lay a ring of so many and count it."""
        crossed = self._crossed()
        tour: list[int] = []
        for box, ((_, entry), (exit_, onward)) in enumerate(pairwise((crossed[-1], *crossed))):
            courses = self.courses(box, entry)[exit_]
            tour += self._lightest(courses, onward)
        self.count(tuple(tour), 1)
        return tuple(tour)

    def count(self, tour: Ring, rings: int) -> None:
        """Add rings of this course to the loads, or remove them if negative."""
        for hop in hops(tour):
            for link, share in self.shares(hop).items():
                self.busy[link] = self.busy.get(link, 0) + rings * share
                self.stale.add(link)

    @property
    def worst(self) -> int:
        """Rings per bandwidth on the busiest link."""
        return max(load * self.ports.slowness[link] for link, load in self.busy.items())

    def _hops(self, tail: int, head: int) -> int:
        return self.ports.router.hops(tail, head) or 0

    def _find_shares(self, hop: _Ends) -> Mapping[_Ends, int]:
        """The load of a ring over a hop on each link, divided over all equal-cost paths."""
        found: dict[_Ends, int] = defaultdict(int)
        paths = self.ports.router.paths(*hop)
        for path in paths:
            for link in pairwise(path):
                found[link] += _WHOLE // len(paths)
        return found

    def _penalty(self, hop: _Ends) -> int:
        """The increase of the sum over all links by one more ring over a hop (see ``Ports``)."""
        total = 0
        for link, share in self.shares(hop).items():
            load, slowness = self.busy.get(link, 0), self.ports.slowness[link]
            total += ((load + share) ** STEEPNESS - load**STEEPNESS) * slowness**STEEPNESS
        return total

    def _lightest(self, courses: Iterable[Ring], onward: int) -> Ring:
        """The course of least penalty, with its hop to the next box."""
        penalty = cache(self._penalty)
        return min(courses, key=lambda course: sum(map(penalty, pairwise((*course, onward)))))

    def _crossed(self) -> Sequence[_Ends]:
        """The crossings of a ring from each box to the next, of least penalty.

        Ties go to the fewest hops; a box is entered and left at one GPU only if unavoidable.
        """
        self._renew_prices()
        a_round = 1 + sum(max(ways.values(), default=0) for ways in self.prices)
        way = self._cheapest(a_round)
        if way is None:
            raise UnsupportedError("unsupported: no way for rings to enter and leave every box")
        crossed: list[_Ends] = []
        while way.before is not None:
            crossed.append(way.crossing)
            way = way.before
        return crossed[::-1]

    def _renew_prices(self) -> None:
        """Price the crossings over links whose loads have changed."""
        for box, hop in {crossing for link in self.stale for crossing in self.over.get(link, ())}:
            self.prices[box][hop] = self._penalty(hop) * _MOST_HOPS + self._hops(*hop)
        self.stale.clear()

    def _cheapest(self, a_round: int) -> _Way | None:
        """The best path around all boxes and back, from the first of equally good GPUs.

        No path around from a GPU is cheaper than the best one to it from any GPU, so most GPUs
        need no search of their own.
        """
        free = self._through(
            {start: _Way(0, (start, start), None) for start in self.entries}, a_round
        )
        bounds = sorted(
            (free[start].price, place) for place, start in enumerate(self.entries) if start in free
        )
        best: tuple[int, int] | None = None
        found: _Way | None = None
        for bound in bounds:
            if best is not None and bound > best:
                break
            start = self.entries[bound[1]]
            way = self._through({start: _Way(0, (start, start), None)}, a_round).get(start)
            if way is not None and (best is None or (way.price, bound[1]) < best):
                best, found = (way.price, bound[1]), way
        return found

    def _through(self, entered: dict[int, _Way], a_round: int) -> dict[int, _Way]:
        """The best paths around all boxes, by the GPU where they enter the first box again."""
        for box, crossings in enumerate(self.prices):
            left = self._left(box, entered, a_round)
            best: dict[int, tuple[int, int]] = {}
            for (tail, head), more in crossings.items():
                if tail in left:
                    price = left[tail][0] + more
                    if head not in best or price < best[head][0]:
                        best[head] = price, tail
            entered = {
                head: _Way(price, (tail, head), left[tail][1])
                for head, (price, tail) in best.items()
            }
        return entered

    def _left(
        self, box: int, entered: Mapping[int, _Way], a_round: int
    ) -> dict[int, tuple[int, _Way]]:
        """The price and the way to each GPU where a ring can leave a box, given those into it."""
        left: dict[int, tuple[int, _Way]] = {}
        alone = len(self.boxes[box]) == 1
        for entry, way in entered.items():
            for exit_ in self.courses(box, entry):
                price = way.price + (a_round if exit_ == entry and not alone else 0)
                if exit_ not in left or price < left[exit_][0]:
                    left[exit_] = price, way
        return left

    def _find_courses(self, box: int, entry: int) -> Mapping[int, Sequence[Ring]]:
        """By exit, the courses through all GPUs of a box, the entry again at the end of a round.

        Over direct links, or else in descending order.
        """
        gpus = self.boxes[box]
        if len(gpus) == 1:
            return {entry: [(entry,)]}
        wires, start = self.ports.direct(gpus), gpus.index(entry)
        found: dict[int, list[Ring]] = defaultdict(list)
        for path in find_paths(wires, start):
            course = tuple(gpus[place] for place in path)
            found[course[-1]].append(course)
            if start in wires[path[-1]]:
                found[entry].append((*course, entry))
        if not found:
            down = [gpus[start - step] for step in range(len(gpus))]
            found[entry].append((*down, entry))
            for exit_ in down[1:]:
                found[exit_].append((*(gpu for gpu in down if gpu != exit_), exit_))
        return found
