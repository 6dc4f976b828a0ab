"""Stage 1: which links each chunk takes; what routes are worth, exactly.

Problem: routes of all chunks, such that neither a link or port is busy for long, nor a route is.
Input:   a logical network, an exchange, a sketch.
Output:  which links each chunk may take; the time and the objective of routes.
Cost:    linear in chunks times links.
Source:  Shah et al., TACCL (NSDI 2023), section 4.1 and appendix B, and the rules of its public
         code: the time is that of the longest route, of the busiest link and port, and of what a
         GPU sends of a chunk by a switch after it has come, one after the other. What is sent over
         one link is in no order yet. The program is in ``routing_rows``.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable
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
"""Of each chunk the links that it takes, by number."""

LOAD_WEIGHT = Fraction(1, 100)
"""Of how long the busiest link or port is busy, or the idlest, beside the time."""

_LINK_WEIGHT_US = Fraction(1, 100)
"""What a link used counts for."""


@dataclass(frozen=True)
class Routing:
    """What is to be routed.

    Parameters
    ----------
    network : LogicalNetwork
    exchange : Exchange
    sketch : Sketch
    whole_us : bool
        Whether times are rounded down to whole microseconds, as in the public code, where that
        leaves anything of them.
    """

    network: LogicalNetwork
    exchange: Exchange
    sketch: Sketch
    whole_us: bool = False

    @cached_property
    def classes(self) -> Classes:
        """What the sketch's symmetry makes equal."""
        return classes_of(self.network, self.exchange, self.sketch)

    @cached_property
    def cost(self) -> tuple[Fraction, ...]:
        """What each link takes for a chunk, in microseconds."""
        costs = (link.cost_us for link in self.network.links)
        return tuple(Fraction(math.floor(c)) or c if self.whole_us else c for c in costs)

    @cached_property
    def ticks(self) -> tuple[int, ...]:
        """The same in whole numbers of a unit of their own, for what only compares sums."""
        tick = common_part(self.cost)
        return tuple(int(cost / tick) for cost in self.cost)

    @cached_property
    def unit_us(self) -> Fraction:
        """What the cheapest link takes."""
        return min(self.cost)

    @cached_property
    def weight_us(self) -> Fraction:
        """What a link used counts for, at most a hundredth of what the cheapest takes."""
        return min(_LINK_WEIGHT_US, self.unit_us / 100)

    @cached_property
    def least_us(self) -> Fraction:
        """The time that any routes take.

        Raises
        ------
        InfeasibleError
            If no link leads into some GPU or box.
        """
        found = least_time(self.network, self.exchange, self.cost) if self.cost else None
        if found is None:
            raise InfeasibleError(
                f"{self.sketch.source}: no link of the sketch leads into some GPU or box of "
                f"{self.network.topology.name}; allow more"
            )
        return found

    @cached_property
    def allowed(self) -> npt.NDArray[np.bool_]:
        """By chunk and link: whether the chunk may take it, and all that is alike may.

        Not back into its box, out of it only by a sender for its source; in an all-to-all only
        between GPUs on a shortest path.
        """
        fine = self._leads_on() & self._by_its_sender()
        if self.exchange.collective == "all-to-all":
            fine &= self._on_shortest_paths(fine)
        classes = self.classes.sent
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
        """Not to the source, not back into its box, out of it only to one who is elsewhere."""
        (_, heads), size = self._ends, self.network.size
        source, target = (
            np.array(e)[:, None] for e in (self.exchange.source, self.exchange.target)
        )
        home = source // size
        back = heads // size == home
        needless = (target >= 0) & (target // size == home)
        return np.asarray((heads != source) & ~(self._remote & (back | needless)))

    def _by_its_sender(self) -> npt.NDArray[np.bool_]:
        """Out of its box by one of those who send for its source, where the sketch says who."""
        (tails, _), size = self._ends, self.network.size
        source = np.array(self.exchange.source)[:, None]
        takes = np.full((size, size), not self.sketch.sources)
        for sender, sources in self.sketch.sources.items():
            takes[list(sources), sender] = True
        leaves = self._remote & (tails // size == source // size)
        return np.asarray(~leaves | takes[source % size, tails % size])

    def _on_shortest_paths(self, fine: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Between GPUs on some shortest path of the links that a chunk may take."""
        (tails, heads), size = self._ends, self.network.size
        source, target = (np.array(e) for e in (self.exchange.source, self.exchange.target))
        kind = 2 * source + (target // size == source // size)  # what it may take is that of these
        found = np.zeros_like(fine)
        for each in np.unique(kind):
            some = np.flatnonzero(kind == each)
            may = fine[some[0]]
            hops = self._distances(np.ones(int(may.sum())), may)
            length = hops[source[some], target[some]][:, None]
            between = hops[source[some]] + hops.T[target[some]] == length
            found[some] = between[:, tails] & between[:, heads]
        return found

    @cached_property
    def soonest(self) -> npt.NDArray[np.float64]:
        """After what time a chunk is there at the soonest, in units, by GPU and GPU.

        Infinite if there is no way.
        """
        return self._distances(np.array([float(c / self.unit_us) for c in self.cost]))

    def _distances(
        self, lengths: npt.NDArray[np.float64], which: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.float64]:
        import scipy.sparse as sp
        from scipy.sparse.csgraph import shortest_path

        tails, heads = self._ends if which is None else (end[which] for end in self._ends)
        least: dict[tuple[int, int], float] = {}
        for ends, length in zip(
            zip(tails.tolist(), heads.tolist(), strict=True), lengths.tolist(), strict=True
        ):
            least[ends] = min(least.get(ends, length), length)
        rows, columns = np.array([*least]).T
        gpus = self.network.gpus
        graph = sp.csr_array(([*least.values()], (rows, columns)), shape=(gpus, gpus))
        return np.asarray(shortest_path(graph))

    def routes(self, taken: npt.NDArray[np.bool_]) -> ChunkRoutes | None:
        """Return routes from which chunk takes which link: what leads to one who wants it.

        None if somebody is not reached: solvers compute in floats, and where one link takes a
        hundred million times as long as another, they let a chunk go round in a circle.
        """
        found = []
        for chunk, row in enumerate(taken & self.allowed):
            needed = self._needed(chunk, np.flatnonzero(row).tolist())
            if needed is None:
                return None
            found.append(needed)
        return tuple(found)

    def _needed(self, chunk: int, links: list[int]) -> frozenset[int] | None:
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

    def starts(
        self, chunk: int, links: Iterable[int], held: Container[tuple[int, int]] = ()
    ) -> dict[int, int]:
        """When a chunk is at each GPU on its way, in ticks, if it waits for nothing.

        Over links on which it is ``held`` it goes after another has gone.
        """
        after: dict[int, list[int]] = {}
        for i in links:
            after.setdefault(self.network.links[i].tail, []).append(i)
        todo = [self.exchange.source[chunk]]
        start = {todo[0]: 0}
        for place in todo:  # grows on the way
            for i in after.get(place, []):
                head = self.network.links[i].head
                begin = max(start[place], self.ticks[i]) if (chunk, i) in held else start[place]
                start[head] = begin + self.ticks[i]
                todo.append(head)
        return start

    def time_us(self, routes: ChunkRoutes) -> Fraction:
        """Return the time of routes."""
        ports = self.network.ports
        out = {i: n for n, port in enumerate(ports) if port.out for i in port.links}
        latest, held = 0, self._held(routes)
        for chunk, links in enumerate(routes):
            start = self.starts(chunk, links, held)
            sent: dict[int, int] = {}
            for i in links:
                if i in out:
                    begun = sent.get(out[i], start[self.network.links[i].tail])
                    sent[out[i]] = begun + self.ticks[i]
            latest = max(latest, *start.values(), *sent.values())
        return max(latest, *self._loads(routes)) * (self.cost[0] / self.ticks[0])

    def _held(self, routes: ChunkRoutes) -> frozenset[tuple[int, int]]:
        """Which chunks go out of their box after one of the sender's own, and over which link."""
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
        """For how many ticks each link that some chunk may take is busy, and each port."""
        load = [0] * len(self.network.links)
        for links in routes:
            for i in links:
                load[i] += self.ticks[i]
        found = [load[i] for i in np.flatnonzero(self.allowed.any(axis=0)).tolist()]
        return found + [sum(load[i] for i in port.links) for port in self.network.ports]

    def objective_us(self, routes: ChunkRoutes) -> Fraction:
        """Return the time, and the weight of links used inside the first box or of their loads."""
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
