"""TACCL stage 1 as rows of a mixed-integer program.

Problem: the routing of ``routing`` within a horizon, the largest time that routes may take.
Output:  the program of the least objective, or of random routes within a time; routes of solutions.
Cost:    a variable for each class of (chunk, link) and of (chunk, GPU), a few rows for each.
Source:  Shah et al., TACCL (NSDI 2023), appendix B, and the rules of its public code: a chunk
         enters a GPU once, and is there after it has arrived; some sender takes it to every other
         box that needs it; a sender takes its own chunks first. Among links of equal value fewer or
         more are used (uc-min, uc-max), or loads are balanced.

Symmetric rows are written once. Times are in units of the cheapest link. One big-M row states that
a chunk arrives at the head of a link later than at its tail. Its slack follows from the horizon
(the public code uses 10 s): a small slack makes the linear relaxation tight, and the solver fast.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from baselines.synthesizers.taccl.routing import LOAD_WEIGHT, ChunkRoutes, Routing
from forestcoll.errors import TimeLimitError
from forestcoll.solver.linear_program import Program

__all__ = ["RoutingRows"]

_Floats = npt.NDArray[np.float64]


class _Hops(NamedTuple):
    """Classes of transfers and of the starts at their ends, and their durations in units."""

    sent: npt.NDArray[np.int64]
    tail: npt.NDArray[np.int64]
    head: npt.NDArray[np.int64]
    length: _Floats


class RoutingRows:
    """The rows. Variables: classes of transfers and of starts, used links or a load, and the time.

    Parameters
    ----------
    until : float
        Deadline for writing the rows, by the monotonic clock.

    Raises
    ------
    TimeLimitError
        If the deadline passes first.
    """

    def __init__(self, routing: Routing, until: float = math.inf) -> None:
        self.routing, self._until = routing, until
        self._sent, self._start = routing.classes.sent, routing.classes.start
        self._sends, starts = int(self._sent.max()) + 1, int(self._start.max()) + 1
        self._first_other = self._sends + starts
        links, size = routing.network.links, routing.network.size
        self._inside = [i for i, link in enumerate(links) if max(link.tail, link.head) < size]
        local = routing.sketch.local
        others = len(self._inside) if local == "switch" else int(local in ("minmax", "maxmin"))
        self._time = self._first_other + others
        self._cost = [float(cost / routing.unit_us) for cost in routing.cost]
        self._rows: dict[bytes, tuple[npt.NDArray[Any], _Floats, float, float]] = {}
        self._write()

    @property
    def size(self) -> int:
        """Number of variables."""
        return self._time + 1

    def most_gained(self, horizon: float) -> float:
        """Return how far the objective can be below a time up to the horizon, in units."""
        sketch = self.routing.sketch
        if sketch.local == "maxmin":
            return float(LOAD_WEIGHT) * horizon
        if sketch.local == "switch" and sketch.unique == "uc-max":
            return float(self.routing.weight_us / self.routing.unit_us) * len(self._inside)
        return 0.0

    def horizon_of(self, objective: float) -> float:
        """Return the largest time of routes with a smaller objective, in units."""
        if self.routing.sketch.local == "maxmin":
            return objective / (1 - float(LOAD_WEIGHT))
        return objective + self.most_gained(objective)

    @property
    def longest(self) -> float:
        """Upper bound on the time of any routes, in units.

        Each start follows one other start over its longest link, twice if own chunks go first. No
        link or port carries more than all chunks that may take it.
        """
        routing = self.routing
        last = np.zeros(self._first_other - self._sends)
        np.maximum.at(last, self._hops.head, self._hops.length)
        load = routing.allowed.sum(axis=0) * np.array(self._cost)
        loads = [load, *(load[list(port.links)].sum() for port in routing.network.ports)]
        most = max(float(np.max(each)) for each in loads)
        return float(last.sum()) * (2 if routing.sketch.own_first else 1) + most

    def least(self, horizon: float) -> Program:
        """Return the program of the least objective over routes within a horizon."""
        routing = self.routing
        cost = np.zeros(self.size)
        cost[self._time] = 1.0
        weight = float(LOAD_WEIGHT)
        if routing.sketch.local == "switch":
            weight = float(routing.weight_us / routing.unit_us)
        local, unique = routing.sketch.local, routing.sketch.unique
        least = local == "maxmin" or (local == "switch" and unique == "uc-max")
        cost[self._first_other : self._time] = -weight if least else weight
        return self._program(cost, horizon)

    def by_lot(self, horizon: float, seed: int) -> Program:
        """Return a program whose optimum is a random choice among the routes within a horizon.

        Each class of transfers has a random price from 0 to 1; the sum of prices is minimised.
        """
        cost = np.zeros(self.size)
        np.add.at(cost, self._sent.ravel(), 1.0)
        cost[: self._sends] *= np.random.default_rng(seed).uniform(0.0, 1.0, self._sends)
        return self._program(cost, horizon)

    def routes(self, values: _Floats) -> ChunkRoutes | None:
        """Return the routes of a solution; None if rounding has left a destination out."""
        return self.routing.routes(values[self._sent] > 0.5)

    def _program(self, cost: _Floats, horizon: float) -> Program:
        rows = list(self._rows.values())
        count = len(rows)
        # start[head] >= start[tail] + length - slack (1 - sent). This slack is the least for which
        # the row never binds if the link is unused: start[tail] is at most the horizon.
        slack = horizon + self._hops.length - self._soonest[self._hops.head]
        hops = len(slack)
        number = np.repeat(np.arange(count), [len(row[0]) for row in rows])
        each, one = np.arange(count, count + hops), np.ones(hops)
        head, tail = self._sends + self._hops.head, self._sends + self._hops.tail
        matrix = sp.coo_array(
            (
                np.concatenate([*(row[1] for row in rows), one, -one, -slack]),
                (
                    np.concatenate([number, each, each, each]),
                    np.concatenate([*(row[0] for row in rows), head, tail, self._hops.sent]),
                ),
            ),
            shape=(count + hops, self.size),
        )
        lower, upper = self._bounds(horizon)
        whole = np.zeros(self.size, dtype=np.bool_)
        whole[: self._sends] = True
        return Program(
            cost=cost,
            matrix=matrix,
            row_lower=np.concatenate([[row[2] for row in rows], self._hops.length - slack]),
            row_upper=np.concatenate([[row[3] for row in rows], np.full(hops, np.inf)]),
            lower=lower,
            upper=upper,
            whole=whole,
        )

    def _bounds(self, horizon: float) -> tuple[_Floats, _Floats]:
        """Return the bounds of the columns within a horizon."""
        lower, upper = np.zeros(self.size), np.ones(self.size)
        upper[: self._sends] = 0.0
        upper[self._sent[self.routing.allowed]] = 1.0
        starts = slice(self._sends, self._first_other)
        lower[starts], upper[starts] = np.minimum(self._soonest, horizon), horizon
        for chunk, source in enumerate(self.routing.exchange.source):
            upper[self._column(chunk, source)] = 0.0
        if self.routing.sketch.local in ("minmax", "maxmin"):
            upper[self._first_other] = horizon
        least = float(self.routing.least_us / self.routing.unit_us)
        lower[self._time], upper[self._time] = min(least, horizon), horizon
        return lower, upper

    def _write(self) -> None:
        self._write_receipts()
        self._write_loads()
        self._write_copies()
        self._write_crossings()
        if self.routing.sketch.own_first:
            self._write_own_first()
        if self.routing.sketch.local == "switch":
            self._write_links_used()

    def _column(self, chunk: int, place: int) -> int:
        """Return the column of a chunk's start at a GPU."""
        return self._sends + int(self._start[chunk, place])

    def _row(
        self, columns: Sequence[int], values: Sequence[float], low: float, high: float
    ) -> None:
        if time.monotonic() > self._until:
            raise TimeLimitError("the time is up before all rows of the routing are written")
        total: dict[int, float] = {}
        for column, value in zip(columns, values, strict=True):
            total[column] = total.get(column, 0.0) + value
        # Symmetry makes many rows equal; the key keeps each of them once.
        kept = sorted(column for column, value in total.items() if value)
        where, what = np.array(kept, dtype=np.int64), np.array([total[column] for column in kept])
        key = where.tobytes() + what.tobytes() + np.array([low, high]).tobytes()
        self._rows.setdefault(key, (where, what, low, high))

    def _write_receipts(self) -> None:
        exchange, network = self.routing.exchange, self.routing.network
        allowed, sent = self.routing.allowed, self._sent
        into, out = network.into, network.out
        for chunk in range(len(exchange)):
            for place in range(network.gpus):
                if place == exchange.source[chunk]:
                    continue
                # Appendix B: a chunk enters each destination once, and any other GPU at most once.
                came = [int(sent[chunk, i]) for i in into[place] if allowed[chunk, i]]
                wanted = exchange.wanted(chunk, place)
                if came or wanted:
                    self._row(came, [1.0] * len(came), float(wanted), 1.0)
                if wanted:
                    continue
                # A GPU sends only what entered it. What enters without need leaves again (ours):
                # otherwise the solver counts links that `Routing.routes` drops.
                left = [int(sent[chunk, i]) for i in out[place] if allowed[chunk, i]]
                for each in left:
                    self._row([*came, each], [1.0] * len(came) + [-1.0], 0.0, np.inf)
                if came:
                    signs = [1.0] * len(left) + [-1.0] * len(came)
                    self._row([*left, *came], signs, 0.0, np.inf)

    @cached_property
    def _soonest(self) -> _Floats:
        """Earliest arrival by class of starts."""
        found = np.zeros(self._first_other - self._sends)
        distances = np.repeat(self.routing.soonest, self.routing.exchange.parts, axis=0)
        np.maximum.at(found, self._start, np.where(np.isinf(distances), 0.0, distances))
        return found

    @cached_property
    def _hops(self) -> _Hops:
        """The distinct rows "later at the head than at the tail"."""
        links = self.routing.network.links
        chunk, link = np.nonzero(self.routing.allowed)
        tails, heads = (
            self._start[chunk, np.array([getattr(each, end) for each in links])[link]]
            for end in ("tail", "head")
        )
        bits = np.array(self._cost)[link].view(np.int64)
        rows = np.unique(np.stack([self._sent[chunk, link], tails, heads, bits]), axis=1)
        sent, tail, head, length = rows
        return _Hops(sent, tail, head, length.view(np.float64))

    def _write_loads(self) -> None:
        network, allowed, local = (
            self.routing.network,
            self.routing.allowed,
            self.routing.sketch.local,
        )
        for links in [[i] for i in range(len(network.links))] + [
            list(p.links) for p in network.ports
        ]:
            columns: list[int] = []
            values: list[float] = []
            for i in links:
                chunks = self._sent[allowed[:, i], i].tolist()
                columns += chunks
                values += [-self._cost[i]] * len(chunks)
            if not columns:
                continue
            # The time is at least the load of each link and each port.
            self._row([*columns, self._time], [*values, 1.0], 0.0, np.inf)
            if local == "minmax":
                self._row([*columns, self._first_other], [*values, 1.0], 0.0, np.inf)
            if local == "maxmin":
                self._row([*columns, self._first_other], [*values, 1.0], -np.inf, 0.0)

    def _write_copies(self) -> None:
        network, allowed = self.routing.network, self.routing.allowed
        ports = [port for port in network.ports if port.out]
        # The time is at least every arrival.
        for start in range(self._sends, self._first_other):
            self._row([self._time, start], [1.0, -1.0], 0.0, np.inf)
        for chunk in range(len(self.routing.exchange)):
            for port in ports:
                sent = [i for i in port.links if allowed[chunk, i]]
                if sent:
                    # Copies of a chunk leave a port one after another once it has arrived.
                    columns = [self._time, self._column(chunk, port.place)]
                    columns += [int(self._sent[chunk, i]) for i in sent]
                    values = [1.0, -1.0, *(-self._cost[i] for i in sent)]
                    self._row(columns, values, 0.0, np.inf)

    def _write_crossings(self) -> None:
        network, allowed = self.routing.network, self.routing.allowed
        between: dict[tuple[int, int], list[int]] = {}
        for i, link in enumerate(network.links):
            if link.remote:
                between.setdefault((network.box(link.tail), network.box(link.head)), []).append(i)
        for chunk, source in enumerate(self.routing.exchange.source):
            home = network.box(source)
            boxes = {network.box(v) for v in self.routing.exchange.destinations(chunk)}
            for box in sorted(boxes - {home}):
                # At least one sender of the home box takes the chunk to each box that needs it.
                links = [i for i in between.get((home, box), []) if allowed[chunk, i]]
                columns = [int(self._sent[chunk, i]) for i in links]
                self._row(columns, [1.0] * len(columns), 1.0, np.inf)

    def _write_own_first(self) -> None:
        network, allowed = self.routing.network, self.routing.allowed
        exchange, sketch = self.routing.exchange, self.routing.sketch
        own: dict[int, list[int]] = {}
        for chunk, source in enumerate(exchange.source):
            own.setdefault(source, []).append(chunk)
        for i, link in enumerate(network.links):
            if not link.remote:
                continue
            home = network.box(link.tail) * network.size
            mine = [chunk for chunk in own[link.tail] if allowed[chunk, i]]
            for number in sketch.sources.get(link.tail - home, ()):
                for chunk in own[home + number] if home + number != link.tail else ():
                    for other in mine if allowed[chunk, i] else ():
                        # If the link carries both chunks, the other arrives after two transfers:
                        # start[head] >= 2 cost (sent + sent of the own chunk - 1).
                        twice = 2 * self._cost[i]
                        columns = [self._column(chunk, link.head)]
                        columns += [int(self._sent[chunk, i]), int(self._sent[other, i])]
                        self._row(columns, [1.0, -twice, -twice], -twice, np.inf)

    def _write_links_used(self) -> None:
        for number, i in enumerate(self._inside):
            used = self._first_other + number
            # uc-max rewards used links: used is at most the sum of transfers. uc-min penalises
            # them: used is at least each transfer.
            chunks = np.unique(self._sent[self.routing.allowed[:, i], i]).tolist()
            if self.routing.sketch.unique == "uc-max":
                self._row([used, *chunks], [1.0, *[-1.0] * len(chunks)], -np.inf, 0.0)
                continue
            for chunk in chunks:
                self._row([used, chunk], [1.0, -1.0], 0.0, np.inf)
