"""TACCL stage 1, routing: the links of each chunk, and the exact value of a routing.

Problem: routes of all chunks with a short busiest link, busiest port and longest path.
Output:  the links that each chunk may take; time and objective of given routes, exactly.
Source:  Shah et al., TACCL (NSDI 2023), section 4.1 and appendix B, and the rules of its public
         code. The time is the maximum of the longest route, the busiest link and port, and the
         copies of one chunk that a GPU sends through a switch one after another. Transfers on a
         link have no order yet. ``routing_rows`` states the program.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from baselines.building.ticks import common_part
from baselines.synthesizers.taccl.exchange import Exchange
from baselines.synthesizers.taccl.least_time import least_time
from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from baselines.synthesizers.taccl.sketch import Sketch
from baselines.synthesizers.taccl.sketch_symmetry import Classes, classes_of
from forestcoll.errors import InfeasibleError

__all__ = ["LOAD_WEIGHT", "ChunkRoutes", "Routing"]

ChunkRoutes = tuple[frozenset[int], ...]
"""The links of each chunk, by number."""

LOAD_WEIGHT = Fraction(1, 100)
"""Weight of the busiest (or idlest) link's load in the objective, relative to the time."""

_LINK_WEIGHT_US = Fraction(1, 100)
"""Weight of a used link in the objective."""

_LEAST_WEIGHT = Fraction(1, 10**6)
"""Least weight of a used link, relative to the cost of the cheapest link."""

_LOCAL_FIELD, _REMOTE_FIELD = "intranode_sketch", "internode_sketch"


@dataclass(frozen=True)
class Routing:
    """A routing problem.

    Parameters
    ----------
    whole_us : bool
        Whether times are rounded down to whole microseconds as in the public code, unless to 0.
    """

    network: LogicalNetwork
    exchange: Exchange
    sketch: Sketch
    whole_us: bool = False

    @cached_property
    def classes(self) -> Classes:
        """The variables that the sketch's symmetry makes equal."""
        return classes_of(self.network, self.exchange, self.sketch)

    @cached_property
    def cost(self) -> tuple[Fraction, ...]:
        """Time of a chunk on each link, in microseconds."""
        costs = (link.cost_us for link in self.network.links)
        return tuple(Fraction(math.floor(c)) or c if self.whole_us else c for c in costs)

    @cached_property
    def ticks(self) -> tuple[int, ...]:
        """The costs as whole numbers of a common unit, for exact comparisons of sums."""
        tick = common_part(self.cost)
        return tuple(int(cost / tick) for cost in self.cost)

    @cached_property
    def unit_us(self) -> Fraction:
        """Cost of the cheapest link."""
        return min(self.cost)

    @cached_property
    def weight_us(self) -> Fraction:
        """Weight of a used link: at most a hundredth of the cheapest link's cost.

        It stays above a millionth of that cost, below which solvers would ignore it.
        """
        return max(min(_LINK_WEIGHT_US, self.unit_us / 100), self.unit_us * _LEAST_WEIGHT)

    @cached_property
    def least_us(self) -> Fraction:
        """Lower bound on the time of any routes.

        Raises
        ------
        InfeasibleError
            If no link leads into some GPU or box.
        """
        self._check_ways_in()
        found = least_time(self.network, self.exchange, self.cost)
        assert found is not None, "there are ways in"
        return found

    def _check_ways_in(self) -> None:
        network = self.network
        entered = {network.box(link.head) for link in network.links if link.remote}
        local = _LOCAL_FIELD if network.size > 1 else _REMOTE_FIELD
        closed = [(network.name(v), local) for v, links in enumerate(network.into) if not links]
        if network.boxes > 1:
            boxes = (box for box in range(network.boxes) if box not in entered)
            closed += [(f"box {box}", _REMOTE_FIELD) for box in boxes]
        for where, field in closed:
            raise InfeasibleError(
                f"{self.sketch.source}: no link of the sketch leads into {where} of "
                f"{network.topology.name}; allow more in {field}"
            )

    def check(self) -> None:
        """Check that every chunk can reach all of its destinations.

        Raises
        ------
        InfeasibleError
            If one cannot, with the GPUs between which a path is missing.
        """
        self._check_ways_in()
        exchange, network = self.exchange, self.network
        for chunk in range(0, len(exchange), exchange.parts):
            source, soonest = exchange.source[chunk], self.soonest[chunk // exchange.parts]
            lost = [v for v in exchange.destinations(chunk) if soonest[v] == math.inf]
            if not lost:
                continue
            place = min(lost, key=lambda v: network.box(v) != network.box(source))
            box = [v for v in range(network.gpus) if network.box(v) == network.box(place)]
            field = _LOCAL_FIELD if (soonest[box] < math.inf).any() else _REMOTE_FIELD
            less = ", or less in symmetry_offsets" if self.sketch.symmetry else ""
            raise InfeasibleError(
                f"{self.sketch.source}: {network.topology.name}: the sketch does not let what "
                f"{network.name(source)} has get to {network.name(place)}; allow more links in "
                f"{field}{less}"
            )

    @cached_property
    def allowed(self) -> npt.NDArray[np.bool_]:
        """By chunk and link: whether the chunk and all of its symmetric images may take the link.

        A chunk never returns to its box, and leaves it only from a sender for its source. In an
        all-to-all it uses links between GPUs on a shortest path.
        """
        fine = self._leads_on() & self._by_its_sender()
        if self.exchange.collective == "all-to-all":
            fine &= self._on_shortest_paths(fine)
        classes = self.classes.sent
        # Symmetric parts share one variable: a link that is barred for one is barred for all.
        barred = np.zeros(classes.max() + 1, dtype=np.bool_)
        barred[classes[~fine]] = True
        return np.asarray(~barred[classes])

    @cached_property
    def _ends(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        links = self.network.links
        return np.array([link.tail for link in links]), np.array([link.head for link in links])

    @cached_property
    def _remote(self) -> npt.NDArray[np.bool_]:
        return np.array([link.remote for link in self.network.links])

    def _leads_on(self) -> npt.NDArray[np.bool_]:
        (_, heads), size = self._ends, self.network.size
        source, target = (
            np.array(e)[:, None] for e in (self.exchange.source, self.exchange.target)
        )
        home = source // size
        back = heads // size == home
        needless = (target >= 0) & (target // size == home)
        return np.asarray((heads != source) & ~(self._remote & (back | needless)))

    def _by_its_sender(self) -> npt.NDArray[np.bool_]:
        (tails, _), size = self._ends, self.network.size
        source = np.array(self.exchange.source)[:, None]
        takes = np.full((size, size), not self.sketch.sources)
        for sender, sources in self.sketch.sources.items():
            takes[list(sources), sender] = True
        leaves = self._remote & (tails // size == source // size)
        return np.asarray(~leaves | takes[source % size, tails % size])

    def _on_shortest_paths(self, fine: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        tails, heads = self._ends
        hop = np.ones(len(tails))
        there, back = (self._distances(hop, fine, backwards=each) for each in (False, True))
        pairs = np.arange(len(there))
        length = there[pairs, self._of_pairs(self.exchange.target)][:, None]
        between = there + back == length
        return np.repeat(between[:, tails] & between[:, heads], self.exchange.parts, axis=0)

    @cached_property
    def soonest(self) -> npt.NDArray[np.float64]:
        """Earliest arrival of a chunk by pair and GPU, in units; infinite without a path.

        A pair is the source and the target that ``parts`` consecutive chunks share.
        """
        lengths = np.array([float(cost / self.unit_us) for cost in self.cost])
        return self._distances(lengths, self.allowed)

    def _of_pairs(self, ends: tuple[int, ...]) -> npt.NDArray[np.int64]:
        return np.array(ends[:: self.exchange.parts])

    def _distances(
        self,
        lengths: npt.NDArray[np.float64],
        allowed: npt.NDArray[np.bool_],
        *,
        backwards: bool = False,
    ) -> npt.NDArray[np.float64]:
        """Return the distance of each GPU from the source, or backwards from the target, by pair.

        Bellman-Ford on all pairs and links at once: as many passes as the longest path has links.
        """
        tails, heads = self._ends[::-1] if backwards else self._ends
        first = self._of_pairs(self.exchange.target if backwards else self.exchange.source)
        order = np.argsort(heads, kind="stable")
        places, begin = np.unique(heads[order], return_index=True)
        # Parts of one chunk have the same links, so the first part stands for all.
        ways = np.where(allowed[:: self.exchange.parts, order], lengths[order], np.inf)
        found = np.full((len(first), self.network.gpus), np.inf)
        found[np.arange(len(first)), first] = 0.0
        while True:
            nearer = np.minimum.reduceat(found[:, tails[order]] + ways, begin, axis=1)
            if (nearer >= found[:, places]).all():
                return found
            found[:, places] = np.minimum(found[:, places], nearer)

    def routes(self, taken: npt.NDArray[np.bool_]) -> ChunkRoutes | None:
        """Return the routes of a selection of links by chunk, without links that lead nowhere.

        None if a destination is not reached, or symmetric chunks would wait for each other. Solvers
        compute in floats: if one link costs 1e8 times as much as another, a chunk may go round in a
        cycle.
        """
        found = []
        for chunk, row in enumerate(taken & self.allowed):
            needed = self._needed(chunk, np.flatnonzero(row).tolist())
            if needed is None:
                return None
            found.append(needed)
        # Symmetric chunks share one start, which can close a cycle that no single route has.
        return None if self._alike(found) is None else tuple(found)

    def _needed(self, chunk: int, links: list[int]) -> frozenset[int] | None:
        # A chunk enters a GPU once (appendix B), so routes are traced back from destinations.
        into = {self.network.links[i].head: i for i in links}
        kept: set[int] = set()
        reached = {self.exchange.source[chunk]}
        for place in self.exchange.destinations(chunk):
            way = []
            while place not in reached:
                if place not in into or into[place] in way:
                    return None
                way.append(into[place])
                place = self.network.links[into[place]].tail
            kept.update(way)
            reached.update(self.network.links[i].head for i in way)
        return frozenset(kept)

    def starts(self, chunk: int, links: Iterable[int]) -> dict[int, int]:
        """Return the arrival of a chunk at each GPU on its route, in ticks, without waiting."""
        after: dict[int, list[int]] = {}
        for i in links:
            after.setdefault(self.network.links[i].tail, []).append(i)
        todo = [self.exchange.source[chunk]]
        start = {todo[0]: 0}
        for place in todo:  # grows on the way
            for i in after.get(place, []):
                head = self.network.links[i].head
                start[head] = start[place] + self.ticks[i]
                todo.append(head)
        return start

    def _alike(self, routes: Sequence[Iterable[int]]) -> dict[int, int] | None:
        """Return arrival times in ticks by class of starts; None if starts form a cycle.

        Equal starts are those of the last arrival. On links of `_held` a chunk leaves after another
        one.
        """
        held = self._held(routes)
        hops = set()
        for chunk, links in enumerate(routes):
            place_of = self.classes.start[chunk].tolist()
            for i in links:
                link, late = self.network.links[i], (chunk, i) in held
                hops.add((place_of[link.tail], place_of[link.head], self.ticks[i], late))
        after: dict[int, list[tuple[int, int, bool]]] = {}
        waits: dict[int, int] = {}
        for tail, head, ticks, late in hops:
            after.setdefault(tail, []).append((head, ticks, late))
            waits[head] = waits.get(head, 0) + 1
        todo = [each for each in after if each not in waits]
        start = dict.fromkeys(todo, 0)
        for each in todo:  # grows on the way
            for head, ticks, late in after.get(each, []):
                begin = max(start[each], ticks) if late else start[each]
                start[head] = max(start.get(head, 0), begin + ticks)
                waits[head] -= 1
                if not waits[head]:
                    todo.append(head)
        return None if any(waits.values()) else start

    def time_us(self, routes: ChunkRoutes) -> Fraction:
        """Return the time of routes that have the sketch's symmetry."""
        alike = self._alike(routes)
        assert alike is not None, "routes come from `routes`"
        ports = self.network.ports
        out = {i: n for n, port in enumerate(ports) if port.out for i in port.links}
        latest = max(alike.values())
        for chunk, links in enumerate(routes):
            sent: dict[int, int] = {}
            for i in links:
                if i in out:
                    place = self.network.links[i].tail
                    begun = sent.get(out[i], alike[int(self.classes.start[chunk, place])])
                    sent[out[i]] = begun + self.ticks[i]
            latest = max(latest, *sent.values(), 0)
        return max(latest, *self._loads(routes)) * (self.cost[0] / self.ticks[0])

    def _held(self, routes: Sequence[Iterable[int]]) -> frozenset[tuple[int, int]]:
        """Return the chunks that leave their box after one of the sender's own, and the links."""
        if not self.sketch.own_first:
            return frozenset()
        network, source = self.network, self.exchange.source
        links = network.links
        own = {
            i for chunk, some in enumerate(routes) for i in some if links[i].tail == source[chunk]
        }
        return frozenset(
            (chunk, i)
            for chunk, some in enumerate(routes)
            for i in some
            if i in own and links[i].remote
            if links[i].tail != source[chunk]
            if network.box(links[i].tail) == network.box(source[chunk])
        )

    def _loads(self, routes: ChunkRoutes) -> list[int]:
        """Return the busy ticks of each usable link and of each port with one."""
        load = [0] * len(self.network.links)
        for links in routes:
            for i in links:
                load[i] += self.ticks[i]
        usable = {*np.flatnonzero(self.allowed.any(axis=0)).tolist()}
        ports = [port.links for port in self.network.ports if not usable.isdisjoint(port.links)]
        return [load[i] for i in usable] + [sum(load[i] for i in links) for links in ports]

    def objective_us(self, routes: ChunkRoutes) -> Fraction:
        """Return the time plus the weight of used links in the first box, or of the loads."""
        local, time = self.sketch.local, self.time_us(routes)
        if local == "none":
            return time
        if local == "switch":
            size = self.network.size
            used = {i for links in routes for i in links}
            ends = [max(self.network.links[i].tail, self.network.links[i].head) for i in used]
            count = sum(end < size for end in ends)
            return time + (-1 if self.sketch.unique == "uc-max" else 1) * self.weight_us * count
        loads = self._loads(routes)
        load = (max(loads) if local == "minmax" else -min(loads)) * (self.cost[0] / self.ticks[0])
        return time + LOAD_WEIGHT * load
