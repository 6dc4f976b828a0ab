"""TACCL's three stages in sequence, for several routings of equal value.

Problem: a schedule of small makespan: first routes, then an order, then messages.
Source:  Shah et al., TACCL (NSDI 2023), section 4. Many routings have the least time, and their
         makespans differ. The public code takes the one that its solver returns first.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from baselines.interface.search import Report, Search
from baselines.synthesizers.taccl.contiguity import Contiguity, best_messages
from baselines.synthesizers.taccl.exact_times import Timetable
from baselines.synthesizers.taccl.least_time import least_time
from baselines.synthesizers.taccl.ordering import ordered
from baselines.synthesizers.taccl.routing import ChunkRoutes, Routing
from baselines.synthesizers.taccl.routing_rows import RoutingRows
from forestcoll.errors import (
    ForestCollError,
    InfeasibleError,
    InvalidParameterError,
    SolverError,
    TimeLimitError,
)
from forestcoll.problem.limits import MOST_SECONDS, Limits
from forestcoll.solver.linear_program import Program, Settings, Solution
from forestcoll.solver.solve import solve

__all__ = ["Effort", "best_times"]

_FOR_ROUTING = 0.6
"""Share of the time for the first routing; the other routings divide the rest."""

_GAP_OF_OTHERS = 0.05
"""Relative gap for further routings, whose random objective has no meaning of its own."""

_TOLERANCE = 1e-7
"""Relative tolerance on the time of further routings: solvers compute in floats."""

_LOOSE = 1e-6
"""Row tolerance for a second attempt, after a solver gave up."""

_EQUAL = 1e-9
"""Relative difference below which a bound and a value count as equal."""

_HORIZONS = tuple(2.0**n for n in range(1, 13))
"""Factors on the lower bound of the time, tried one after another."""

_FARTHER = 16.0
"""Factor between further horizons, up to one that no routes exceed."""

_NARROW = (1.02, 1.1, 1.3)
"""Factors tried first under a time limit: the first routes found take nearly all of the horizon."""

_LAST = 4.0
"""Factor on the first horizon for a last attempt."""

_SHARE_OF_A_HORIZON = 0.3
"""Share of the remaining time for each horizon."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Limits and settings of the search.

    Parameters
    ----------
    heuristics : tuple of str
        Orders to try for each routing.
    optima : int
        Number of further routings.
    gap : float
        Relative gap of the first routing's objective.
    """

    heuristics: tuple[str, ...]
    optima: int
    gap: float
    solver: str
    limits: Limits


def best_times(routing: Routing, effort: Effort, phase: str, report: Report) -> Timetable:
    """Run the stages.

    Raises
    ------
    InfeasibleError
        If the sketch does not let all chunks reach their destinations.
    TimeLimitError
        If time is up before there is a routing.
    SolverError
        If the solver finds neither routes nor a proof that there are none.
    """
    return _Stages(routing, effort, phase, report).run()


@dataclass(slots=True)
class _Known:
    """State of the search for a first routing, in units.

    Parameters
    ----------
    routes : ChunkRoutes, optional
        The best routes found.
    objective : float
        Their objective.
    bound : float
        Lower bound on the objective of any routes.
    beyond : float
        Lower bound on the objective of routes that exceed the last horizon.
    empty : float
        Largest horizon that is proved to contain no routes.
    unproved : ForestCollError, optional
        The reason why a search ended with neither routes nor a proof.
    """

    routes: ChunkRoutes | None = None
    objective: float = math.inf
    bound: float = 0.0
    beyond: float = 0.0
    empty: float = 0.0
    unproved: ForestCollError | None = None

    def within(self, gap: float) -> bool:
        """Whether the objective is within a relative gap of the bound."""
        return abs(self.objective - self.bound) <= max(gap, _EQUAL) * abs(self.objective)


class _Stages:
    def __init__(self, routing: Routing, effort: Effort, phase: str, report: Report) -> None:
        self.routing, self.effort, self.phase, self.report = routing, effort, phase, report
        self.deadline = effort.limits.deadline

    def run(self) -> Timetable:
        """Order and schedule one routing after another, the first one in any case."""
        self.routing.check()
        network = self.routing.network
        best: Timetable | None = None
        # Chunks of one message share its latency, so only their bytes are certain to take time.
        busy = [link.busy_us for link in network.links]
        bound = least_time(network, self.routing.exchange, busy)
        assert bound is not None
        longest = 0.0
        for routes in self._routings():
            for heuristic in self.effort.heuristics:
                began = time.monotonic()
                if best is not None and began + longest > self.deadline:
                    return best
                order = ordered(self.routing, routes, heuristic)
                found = best_messages(network, order, self._settings(self.deadline))
                longest = max(longest, time.monotonic() - began)
                if best is None or found.times.finish_us < best.finish_us:
                    best = found.times
                    self._tell_finish(found, bound)
                if best.finish_us == bound:
                    return best
        assert best is not None, "a first routing, or an error"
        return best

    def _tell_finish(self, found: Contiguity, bound: Fraction) -> None:
        finish = float(found.times.finish_us)
        proved = finish <= found.bound_us * (1 + _EQUAL)
        status = "optimal" if proved else "feasible"
        self._tell("messages (routes and order given)", status, finish, found.bound_us)
        status = "optimal" if found.times.finish_us == bound else "feasible"
        self._tell("finish (within the sketch)", status, finish, float(bound))

    def _routings(self) -> Iterator[ChunkRoutes]:
        """Yield routes of the least objective, then other routes of the same time."""
        try:
            rows = RoutingRows(self.routing, self.deadline)
        except TimeLimitError as error:
            raise self._nothing_found(error) from None
        first = self._first(rows)
        yield first
        seen = {first}
        most = float(self.routing.time_us(first) / self.routing.unit_us) * (1 + _TOLERANCE)
        for seed in range(self.effort.optima):
            now = time.monotonic()
            if now > self.deadline:
                return
            share = (self.deadline - now) / (self.effort.optima - seed)
            settings = self._settings(now + share / 2, _GAP_OF_OTHERS)  # the rest is for messages
            try:
                solution = solve(rows.by_lot(most, seed), settings)
            except TimeLimitError as error:
                if not isinstance(error.incumbent, Solution):
                    continue
                solution = error.incumbent
            except (InfeasibleError, SolverError, InvalidParameterError):
                continue  # in floats; the first is as good
            routes = rows.routes(solution.x)
            if routes is not None and routes not in seen:
                seen.add(routes)
                yield routes

    def _first(self, rows: RoutingRows) -> ChunkRoutes:
        """Search within growing horizons, then within that of the best objective."""
        known, until, now = _Known(), self.deadline, time.monotonic()
        if until < math.inf:
            until = now + _FOR_ROUTING * (until - now)
        horizons = self._horizons(rows)
        for horizon in horizons:
            now = time.monotonic()
            if now > until:
                break
            # Small horizons have small slacks and solve fast; growing ones find the range of the
            # optimum.
            seconds = until - now if until == math.inf else _SHARE_OF_A_HORIZON * (until - now)
            self._look(rows, known, horizon, now + seconds)
            # No routes beyond this horizon can be better.
            if known.routes is not None and known.objective <= known.beyond:
                break
        if known.routes is None:
            self._look_again(rows, known, horizons)
        elif not known.within(self.effort.gap):
            horizon = rows.horizon_of(known.objective)
            self._look(rows, known, horizon * (1 + _TOLERANCE), until)
        if known.routes is None:
            raise self._nothing_found(None if known.empty >= horizons[-1] else known.unproved)
        unit = float(self.routing.unit_us)
        status = "optimal" if known.within(_EQUAL) else "feasible"
        self._tell("routing", status, known.objective * unit, known.bound * unit)
        return known.routes

    def _look_again(self, rows: RoutingRows, known: _Known, horizons: list[float]) -> None:
        """Search with all remaining time, as long as larger horizons are proved empty."""
        empty = -1.0
        while known.routes is None and empty < known.empty < horizons[-1]:
            empty = known.empty
            horizon = min(max(_LAST * horizons[0], 2 * empty), horizons[-1])
            self._look(rows, known, horizon, self.deadline)

    def _horizons(self, rows: RoutingRows) -> list[float]:
        """Return growing horizons in units, from the lower bound to one that no routes exceed."""
        routing = self.routing
        parts = routing.exchange.parts
        ways = (
            routing.soonest[chunk // parts, place]
            for chunk in range(0, len(routing.exchange), parts)
            for place in routing.exchange.destinations(chunk)
        )
        least = max(float(routing.least_us / routing.unit_us), *ways)
        longest = rows.longest * (1 + _TOLERANCE)
        factors = [*(_NARROW if self.deadline < math.inf else ()), *_HORIZONS]
        while least * factors[-1] < longest:
            factors.append(factors[-1] * _FARTHER)
        return [*(each for f in factors if (each := least * f) < longest), longest]

    def _look(self, rows: RoutingRows, known: _Known, horizon: float, until: float) -> None:
        """Search within a horizon, and update the known bounds."""
        # Routes beyond the horizon take longer than it, which bounds their objective from below.
        beyond = horizon - rows.most_gained(horizon)
        try:
            found = self._solved(rows.least(horizon), until)
        except InfeasibleError:
            known.bound, known.empty = max(known.bound, beyond), max(known.empty, horizon)
            return
        except TimeLimitError as error:
            if not isinstance(error.incumbent, Solution):
                known.unproved = error
                return
            found = error.incumbent
        except (SolverError, InvalidParameterError) as error:  # in floats, of costs far apart
            known.unproved = error
            return
        routes = rows.routes(found.x)
        if routes is None:
            known.unproved = SolverError("a chunk goes round in a cycle")
            return
        objective = float(self.routing.objective_us(routes) / self.routing.unit_us)
        known.beyond = beyond
        if objective < known.objective:
            known.routes, known.objective = routes, objective
        # The solver's bound holds within the horizon only; `beyond` bounds all other routes.
        known.bound = max(known.bound, min(found.bound, beyond))
        if known.bound <= known.objective * (1 + _TOLERANCE):
            known.bound = min(known.bound, known.objective)

    def _solved(self, program: Program, until: float) -> Solution:
        """Solve a program, with a looser tolerance if the solver gives up: routes are checked."""
        try:
            return solve(program, self._settings(until))
        except SolverError:
            return solve(program, replace(self._settings(until), tolerance=_LOOSE))

    def _nothing_found(self, why: ForestCollError | None) -> ForestCollError:
        """Return the error: no routes exist, or why neither routes nor a proof were found."""
        routing, name = self.routing, self.routing.network.topology.name
        if why is None:
            return InfeasibleError(
                f"{routing.sketch.source}: {name}: the sketch lets every chunk get to where it is "
                f"wanted, but not all of them as it asks for; allow more links, or less symmetry"
            )
        if isinstance(why, TimeLimitError):
            self._tell("routing", "open", None, float(routing.least_us))
            return TimeLimitError(
                f"taccl: no routing of {name} in the time that is given; allow more, or take fewer "
                f"chunks or a sketch with more symmetry",
                bound=float(routing.least_us),
            )
        ratio = float(max(routing.cost) / min(routing.cost))
        return SolverError(
            f"taccl: no routing of {name}: {why}; one link takes {ratio:.3g} times as long as "
            f"another for a chunk: with latencies nearer to each other, or more bytes, solvers do "
            f"better"
        )

    def _tell(self, stage: str, status: str, incumbent: float | None, bound: float) -> None:
        name = f"{stage} of the {self.phase}"
        self.report(Search(name, status, incumbent, bound, "us", self.effort.solver))

    def _settings(self, until: float, gap: float | None = None) -> Settings:
        return Settings(
            seconds=max(min(MOST_SECONDS, until - time.monotonic()), 1e-3),
            method=self.effort.solver,
            threads=self.effort.limits.threads,
            gap=max(self.effort.gap if gap is None else gap, 1e-9),
        )
