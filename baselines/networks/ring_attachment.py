"""Rings through boxes with unequal NIC attachment, as with dead or missing NICs.

Problem: lay R rings that enter and leave each box where it has NICs, such that no link is busier
         than it must be.
Input:   a topology, its GPUs by box.
Output:  one ring at a time, given the load of those laid before.
Cost:    for each ring a shortest way around the boxes over all pairs of attachments, 64 a box of 8
         NICs, from each of the first box's 8; and the Hamiltonian paths of a box with direct links.
Source:  NCCL lays no more channels than the machine with the fewest NICs allows, and reaches a NIC
         that is not a GPU's own over NVLink, through the GPU beside it (PXN). Which gate a ring
         takes is a greedy choice of ours, as in ``ring_layout``.

GPUs without a NIC are inside the chain of their box. Where a box has a single gate, the ring goes
round the box, back to the gate and out: it visits that GPU twice, which passes each shard on when
it first has it. So it does where a ring would have to leave its rail else.
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
"""A ring on a link; so that it can be shared by up to 8 equal-cost paths."""

_MOST_HOPS = 2**16
"""More than any crossing has; hops decide where loads are equal."""

_Ends = tuple[int, int]


class _Way(NamedTuple):
    """A way around some boxes: its price, its last crossing, and the way up to there."""

    price: int
    crossing: _Ends
    before: _Way | None


class AttachmentLayout:
    """Lays one ring after another and remembers how many use each link of their paths.

    Raises
    ------
    UnsupportedError
        When a ring is laid, if there is no way around the boxes.
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
        """Add rings of this course to the loads, or take them away."""
        for hop in hops(tour):
            for link, share in self.shares(hop).items():
                self.busy[link] = self.busy.get(link, 0) + rings * share

    @property
    def worst(self) -> int:
        """Rings per bandwidth on the busiest link."""
        return max(load * self.ports.slowness[link] for link, load in self.busy.items())

    def _hops(self, tail: int, head: int) -> int:
        return self.ports.router.hops(tail, head) or 0

    def _find_shares(self, hop: _Ends) -> Mapping[_Ends, int]:
        """What a ring over a hop puts on each link, over all equal-cost paths."""
        found: dict[_Ends, int] = defaultdict(int)
        paths = self.ports.router.paths(*hop)
        for path in paths:
            for link in pairwise(path):
                found[link] += _WHOLE // len(paths)
        return found

    def _penalty(self, hop: _Ends) -> int:
        """What one more ring over a hop adds to the sum over all links (see ``Ports``)."""
        total = 0
        for link, share in self.shares(hop).items():
            load, slowness = self.busy.get(link, 0), self.ports.slowness[link]
            total += ((load + share) ** STEEPNESS - load**STEEPNESS) * slowness**STEEPNESS
        return total

    def _lightest(self, courses: Iterable[Ring], onward: int) -> Ring:
        """The course that adds least, with its hop to the next box."""
        penalty = cache(self._penalty)
        return min(courses, key=lambda course: sum(map(penalty, pairwise((*course, onward)))))

    def _crossed(self) -> Sequence[_Ends]:
        """Where a ring leaves each box and enters the next one, such that it adds least.

        At equal loads the way with the fewest hops, and only rounds that cannot be avoided.
        """
        prices = [
            {hop: self._penalty(hop) * _MOST_HOPS + self._hops(*hop) for hop in ways}
            for ways in self.crossings
        ]
        a_round = 1 + sum(max(ways.values(), default=0) for ways in prices)
        around = (self._around(entry, prices, a_round) for entry in self.entries)
        ways = [way for way in around if way is not None]
        if not ways:
            raise UnsupportedError("unsupported: no way for rings to enter and leave every box")
        crossed: list[_Ends] = []
        way = min(ways, key=lambda way: way.price)
        while way.before is not None:
            crossed.append(way.crossing)
            way = way.before
        return crossed[::-1]

    def _around(
        self, start: int, prices: Sequence[Mapping[_Ends, int]], a_round: int
    ) -> _Way | None:
        """The best way from a GPU of the first box around all boxes and back to it."""
        entered = {start: _Way(0, (start, start), None)}
        for box, crossings in enumerate(prices):
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
        return entered.get(start)

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
