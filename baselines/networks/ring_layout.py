"""Ring layout: the order of GPUs in each box, and the links to the next box.

Problem: place R rings over boxes of GPUs such that the busiest port has the least load.
Output:  one ring at a time, given the load of earlier rings.
Cost:    for each ring one pass over the Hamiltonian paths of a box (see ``hamiltonian``); equal
         boxes are searched once.
Source:  as in NCCL where a box has a switch; elsewhere a greedy choice of ours (see ``ring``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from baselines.networks.hamiltonian import Successors, find_cycle, find_disjoint_cycles, find_paths
from baselines.networks.ports import Ports
from baselines.networks.switch_paths import Router
from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["MOST_TOURS", "PASSES", "Layout", "Ring", "hops", "lay_all"]

PASSES = 4
"""Passes that remove and replace each ring, given all others."""

MOST_TOURS = 64
"""Candidate rings where direct links and switches are mixed."""

Ring = tuple[int, ...]
"""GPUs, by position in the topology, each sending to the next and the last to the first."""


def hops(ring: Ring) -> Iterable[tuple[int, int]]:
    """Return the hops of a ring, the one back to its start included."""
    return pairwise((*ring, ring[0]))


class Layout(Ports):
    """Places one ring after another, and counts the rings on each port.

    Each ring takes the possible course of least penalty.
    """

    def __init__(self, topology: Topology, boxes: list[list[int]]) -> None:
        super().__init__(topology)
        self.boxes = boxes
        self.last: Ring = ()
        self.tours: list[Ring] = []
        self.joined: set[tuple[int, int]] = set()
        self.ends = _ends(boxes, self.router) if len(boxes) > 1 else []
        self.exits = [self._exits(box) for box in range(len(self.ends))]
        self.is_fixed = bool(self.ends) and not any(any(self.direct(gpus)) for gpus in boxes)

    def is_settled(self, rings: int) -> bool:
        """Whether rings have no choice: switches give their course, boxes their ends."""
        return self.is_fixed

    def lay(self, ring: int, rings: int) -> Ring:
        """Lay a ring of so many and count it."""
        tour = self._across(ring, rings) if self.ends else self._cycle(self.boxes[0])
        if self.is_fixed:  # loads decide nothing, so each hop is asked once whether it has a port
            for hop in {*hops(tour)} - self.joined:
                self.port(*hop)
                self.joined.add(hop)
        else:
            self.count(tour, 1)
        self.last = tour
        return tour

    def disjoint(self) -> list[Ring]:
        """Rings over disjoint direct links within one group of GPUs, each in both directions."""
        (gpus,) = self.boxes
        wires = self.direct(gpus)
        cycles = find_disjoint_cycles(wires) if _both_ways(wires) else []
        tours = [tuple(gpus[place] for place in cycle) for cycle in cycles]
        return [way for tour in tours for way in (tour, tour[::-1])]

    def count(self, tour: Ring, rings: int) -> None:
        """Add rings of this course to the loads, or remove them if negative."""
        for hop in hops(tour):
            self.add(self.port(*hop), rings)

    def _lightest(self, tours: Iterable[Ring], onward: int | None) -> Ring:
        """The tour of least penalty, with its hop to the next box or, without one, to its start."""
        penalty: dict[tuple[int, int], int] = {}

        def added(tour: Ring) -> int:
            total = 0
            for hop in pairwise((*tour, tour[0] if onward is None else onward)):
                if hop not in penalty:
                    penalty[hop] = self.penalty(self.port(*hop))
                total += penalty[hop]
            return total

        return min(tours, key=added)

    def _cycle(self, gpus: Sequence[int]) -> Ring:
        if not self.tours:
            self.tours = self._tours(gpus)
        back = [self.last[::-1]] if self.last and _both_ways(self.direct(gpus)) else []
        return self._lightest([*back, *self.tours], onward=None)

    def _tours(self, gpus: Sequence[int]) -> list[Ring]:
        """The rings to choose from: over direct links alone, or else over any hops."""
        wires = self.direct(gpus)
        found = _cycles(wires)
        if not found and _both_ways(wires) and (rotated := find_cycle(wires)):
            found = [rotated]
        return [tuple(gpus[place] for place in path) for path in found or self.mixed(gpus)]

    def mixed(self, gpus: Sequence[int]) -> list[Ring]:
        """Rings by place over links and through switches: downwards, and others beside links."""
        ways, downwards = self.ways(gpus), (0, *range(len(gpus) - 1, 0, -1))
        everywhere = all(len(row) == len(gpus) - 1 for row in ways)
        found = _cycles(ways)[:MOST_TOURS] if any(self.direct(gpus)) or not everywhere else []
        return [*found, downwards] if everywhere else found or [downwards]

    def _across(self, ring: int, rings: int) -> Ring:
        tour: list[int] = []
        for box, gpus in enumerate(self.boxes):
            after = self.boxes[(box + 1) % len(self.boxes)]
            entry_after, _ = self.ends[(box + 1) % len(self.boxes)]
            start = _place(gpus, ring, rings, self.ends[box][0])
            onward = after[_place(after, ring, rings, entry_after)]
            tour += self._chain(gpus, start, self.exits[box][start], onward)
        return tuple(tour)

    def _chain(self, gpus: Sequence[int], start: int, end: int, onward: int) -> Ring:
        """All GPUs of a box from start to end: over direct links, or else in descending order."""
        if len(gpus) == 1:
            return (gpus[0],)
        chains = [path for path in find_paths(self.direct(gpus), start) if path[-1] == end]
        if chains:
            tours = [tuple(gpus[place] for place in path) for path in chains]
            return self._lightest(tours, onward)
        between = [*range(start, -1, -1), *range(len(gpus) - 1, start, -1)]
        between.remove(end)
        return tuple(gpus[place] for place in (*between, end))

    def _exits(self, box: int) -> list[int]:
        """The exit of each entry's ring from a box: every GPU once, over the widest chains.

        Without direct links that is the usual exit, with them any exit as near to the next box.
        """
        gpus, after = self.boxes[box], self.boxes[(box + 1) % len(self.boxes)]
        (entry, exit_), (entry_after, _) = self.ends[box], self.ends[(box + 1) % len(self.boxes)]
        size = len(gpus)
        usual = [(start + exit_ - entry) % size for start in range(size)]
        if not any(self.direct(gpus)):
            return usual
        weights: list[dict[int, int]] = []  # of the exits of each entry
        for start, end in enumerate(usual):
            weights.append({})
            onward = after[(start - entry + entry_after) % len(after)]
            near = self.router.hops(gpus[end], onward)
            for other, narrowness in self._narrowest(gpus, start).items():
                if self.router.hops(gpus[other], onward) == near:
                    moved = (other - end) % size
                    weights[start][other] = narrowness * size**2 + moved  # the usual win ties
        if not all(weights):
            return usual
        lightest = [min(exits, key=exits.__getitem__) for exits in weights]
        if _differ(lightest):
            return lightest  # exits of an entry differ in weight, so no other matching is as light
        return _matching(weights) or usual

    def _narrowest(self, gpus: Sequence[int], start: int) -> dict[int, int]:
        """The least sum of slownesses of a chain over direct links, for each end that has one."""
        least: dict[int, int] = {}
        direct = self.direct(gpus)
        steps = {self.slowness[gpus[a], gpus[b]] for a in range(len(gpus)) for b in direct[a]}
        if len(steps) == 1:  # then all chains are as narrow
            total = (len(gpus) - 1) * steps.pop()
            return dict.fromkeys((path[-1] for path in find_paths(direct, start)), total)
        for path in find_paths(direct, start):
            total = sum(self.slowness[gpus[a], gpus[b]] for a, b in pairwise(path))
            least[path[-1]] = min(total, least.get(path[-1], total))
        return least


def _differ(exits: Sequence[int]) -> bool:
    """Whether no exit is that of two entries."""
    return len(set(exits)) == len(exits)


def _matching(weights: Sequence[dict[int, int]]) -> list[int]:
    """Return an exit for each entry, at the least weight in all; nothing if there are too few."""
    from scipy.optimize import linear_sum_assignment  # the import takes longer than most layouts

    chains = np.full((len(weights), len(weights)), np.inf)
    for start, exits in enumerate(weights):
        chains[start, list(exits)] = list(exits.values())
    try:
        _, chosen = linear_sum_assignment(chains)
    except ValueError:  # some entries are left without an exit
        return []
    return [int(exit_) for exit_ in chosen]


def _cycles(successors: Successors) -> list[Ring]:
    """The Hamiltonian cycles from the first GPU, as far as the search finds them."""
    return [path for path in find_paths(successors, 0) if 0 in successors[path[-1]]]


def _both_ways(wires: Successors) -> bool:
    """Whether all GPUs have links, and all of these run both ways."""
    return all(wires) and all(v in wires[w] for v in range(len(wires)) for w in wires[v])


def _place(gpus: Sequence[int], ring: int, rings: int, shift: int) -> int:
    """The place in a box where a ring enters or leaves; few rings are spread over the GPUs."""
    first = ring if rings >= len(gpus) else ring * len(gpus) // rings
    return (first + shift) % len(gpus)


def _ends(boxes: list[list[int]], router: Router) -> list[tuple[int, int]]:
    """Choose the entry and exit of ring 0 in each box, with the fewest hops between boxes."""
    count, rings = len(boxes), max(map(len, boxes))
    straight = [[(0, shift)] * count for shift in range(1, max(rings, 2))]
    entries = [box % 2 for box in range(count)]
    if count % 2:
        entries[-1] = 2  # an odd number of boxes cannot alternate between two rails
    rails = list(pairwise([*entries, entries[0]]))
    ways = [*straight[:1], rails, *straight[1:]]
    least, best = _fewest_hops(boxes, router), None
    for way in ways:
        across = _hops_across(boxes, way, router, rings)
        if across is not None and (best is None or across < best[0]):
            best = across, way
            if across == least * rings:
                break
    if best is None:
        raise UnsupportedError("unsupported: no way for rings to enter and leave every box")
    return best[1]


def _fewest_hops(boxes: list[list[int]], router: Router) -> int:
    """Lower bound on the hops of a ring between boxes, over all entries and exits."""
    total = 0
    for gpus, after in pairwise([*boxes, boxes[0]]):
        there = sum(1 << router.bit_of[gpu] for gpu in after)
        near = (h for gpu in gpus for h, found in enumerate(router.reach[gpu]) if found & there)
        total += min(near, default=0)
    return total


def _hops_across(
    boxes: list[list[int]], ends: list[tuple[int, int]], router: Router, rings: int
) -> int | None:
    """Total hops of all crossings; None if one cannot be made or a chain would end as it began."""
    total = 0
    for i, (gpus, (entry, exit_)) in enumerate(zip(boxes, ends, strict=True)):
        after, (entry_after, _) = boxes[(i + 1) % len(boxes)], ends[(i + 1) % len(boxes)]
        if len(gpus) > 1 and (entry - exit_) % len(gpus) == 0:
            return None
        for ring in range(rings):
            tail, head = gpus[(ring + exit_) % len(gpus)], after[(ring + entry_after) % len(after)]
            across = router.hops(tail, head)
            if across is None:
                return None
            total += across
    return total


class _Lays(Protocol):
    """A layout that places one ring after another.

    ``is_settled`` says whether laying again is useless: the course of a ring does not depend on the
    others, or the busiest port has the least possible load.
    """

    def is_settled(self, rings: int) -> bool: ...

    def lay(self, ring: int, rings: int) -> Ring:
        pass

    def count(self, tour: Ring, rings: int) -> None:
        pass

    @property
    def worst(self) -> int:
        pass


def lay_all(layout: _Lays, rings: int) -> list[Ring]:
    """Place ``rings`` rings, then improve each given all others."""
    laid = [layout.lay(ring, rings) for ring in range(rings)]
    if layout.is_settled(rings):
        return laid
    best = layout.worst, list(laid)
    for _ in range(PASSES):
        before = list(laid)
        for ring, tour in enumerate(laid):
            layout.count(tour, -1)
            laid[ring] = layout.lay(ring, rings)
        if laid == before:  # a fixed point: further passes change nothing
            break
        if layout.worst < best[0]:
            best = layout.worst, list(laid)
        if layout.is_settled(rings):
            break
    return best[1]
