"""Approximate max concurrent flow within 1 + eps, by link prices, for very large networks.

Problem: the largest f at which every rank s sends f D(s, t) to every t at once, with an answer
         between bounds: lower <= f* <= upper <= (1 + eps) lower.
Output:  the two bounds with their proofs, a flow of each source and prices of the links.
Cost:    O(N |E| h) an evaluation in sparse products, with h the hops of the longest paths in use.
         Arrays of N |V| floats.
Source:  the linear program's dual: f* is the least over prices l >= 0 of
         sum_e b_e l_e / sum_(s,t) D(s, t) d_l(s, t), with d_l the price of the cheapest path. Any
         prices prove an upper bound; any routing, scaled down by its fullest link, a lower one
         (Shahrokhi and Matula 1990; Garg and Koenemann 1998; Fleischer 2000).

Deviation: the cheapest tree is softened (:mod:`forestcoll.all_to_all.dial_routing`), which makes
the dual function smooth for a quasi-Newton method (L-BFGS with bounds, on the spending for each
link). Then tau is lowered until the two bounds meet. No number of steps is proved for this. If it
ends first,
phases of Garg and Koenemann (:mod:`forestcoll.all_to_all.garg_koenemann`), whose convergence is
proved, continue from its prices until the bounds meet or time is up.

The bounds do not depend on the search: the lower one is a routing, and Dijkstra's algorithm
computes the upper one, both in floats. If they are not within 1 + eps, an error is raised.
Alternatives and times: docs/mathematics/all-to-all.md.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field

import numpy as np

from forestcoll.all_to_all.dial_routing import LateError, route
from forestcoll.all_to_all.flow_problem import FlowProblem
from forestcoll.all_to_all.garg_koenemann import phases
from forestcoll.errors import InvalidParameterError, TimeLimitError
from forestcoll.solver.linear_program import Vector
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import Orbits
from forestcoll.topology.validation import refuse_shared

__all__ = ["ApproximateFlow", "approximate_flow"]

COLDNESS = (8.0, 24.0, 64.0, 192.0, 256.0, 384.0, 512.0)
"""The price of the dearest demand in units of tau, stage by stage."""

_LEAST_SPENDING = 1e-9
"""On a link, relative to the mean where a stage starts: were all 0, there would be no prices."""

_STAGE_STEPS = 60
"""Quasi-Newton steps in a stage at most."""

_EVEN = 0.25
"""A stage ends when the unevenness of the links' loads makes up this share of the gap."""

_PROOFS = (1, 4, 10, 20, 30, 40, 50)
"""Steps of a stage after which the bound of the prices is computed: most of it comes at once."""


@dataclass(frozen=True, slots=True)
class ApproximateFlow:
    """Two bounds on the largest rate, with their proofs.

    Parameters
    ----------
    rate_gb_s : float
        Lower bound, attained by the flow: each pair gets its demand times this.
    bound_gb_s : float
        Upper bound, which the prices prove.
    flow_gb_s : float array of shape (N, E)
        At that rate, of each source on each link.
    price : float array, one entry a link
    evaluations : int
        Of the softened routing of all pairs.
    phases : int
        Of Garg and Koenemann after that.
    """

    demands: FlowProblem = field(repr=False)
    rate_gb_s: float
    bound_gb_s: float
    flow_gb_s: Vector = field(repr=False)
    price: Vector = field(repr=False)
    evaluations: int
    phases: int
    # whose images are the flows of all sources, if the problem has one source of each orbit
    orbits: Orbits | None = field(default=None, repr=False)

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.demands.topology

    @property
    def method(self) -> str:
        """The method name of a schedule made from it."""
        return "concurrent-flow"

    @property
    def gap(self) -> float:
        """The gap between rate and bound, relative to the bound."""
        return 1 - self.rate_gb_s / self.bound_gb_s


def approximate_flow(
    demands: FlowProblem, *, eps: float = 0.01, seconds: float = 600
) -> ApproximateFlow:
    """Bring the bounds on the largest rate to within 1 + eps of each other.

    Raises
    ------
    InvalidParameterError
        If eps is not between 0.001 and 1, or the time limit not positive.
    UnsupportedError
        If the network has shared capacities;
        :func:`forestcoll.all_to_all.linear_optimum.all_to_all_rate` takes them.
    TimeLimitError
        If they are further apart at the end of the time: with the flow and prices so far as the
        incumbent, if there is a flow, and the upper bound.
    """
    if not (0.001 <= eps <= 1 and seconds > 0):
        raise InvalidParameterError(
            f"eps is {eps} and seconds {seconds}; they must be from 0.001 to 1, positive"
        )
    refuse_shared(demands.topology, "the approximation of an all-to-all's flow")
    search = _Search(demands, eps, time.perf_counter() + seconds)
    for coldness in COLDNESS:
        if search.done or search.late or not search.cool(coldness):
            break
    search.finish()
    found = search.found()
    if search.done and found is not None:
        return found
    reached = "nothing" if found is None else f"{found.rate_gb_s:.6g} GB/s per unit of demand"
    raise TimeLimitError(
        f"{demands.topology.name}: after {search.evaluations} evaluations and {search.phases} "
        f"phases {reached} is attained and at most {search.bound_gb_s:.6g} possible, which is "
        f"not within {eps:.2%}; allow more time or a larger eps",
        incumbent=found,
        bound=search.bound_gb_s,
    )


class _Search:
    """Prices so far, and the best of both bounds."""

    def __init__(self, demands: FlowProblem, eps: float, deadline: float) -> None:
        self._demands, self._eps, self._deadline = demands, eps, deadline
        self._spending = np.ones(len(demands.bandwidth))
        self._rate, self.bound_gb_s = 0.0, np.inf
        self._best: tuple[Vector, float] | None = None  # prices and tau of the best rate
        self._mixed: Vector | None = None  # the best flow, of demands as they are, if from phases
        self._price = self._proof = self._normal(self._spending)
        self.evaluations = self.phases = 0
        self._even, self._gap = np.inf, 1.0
        self._prove()

    @property
    def done(self) -> bool:
        return self.bound_gb_s <= (1 + self._eps) * self._rate

    @property
    def late(self) -> bool:
        return time.perf_counter() > self._deadline

    def cool(self, coldness: float) -> bool:
        """Solve the softened dual at a lower tau, starting from the prices so far.

        Returns False if floats cannot represent paths that are too unlikely.
        """
        start = self._spending = self._spending / self._spending.mean()
        distances = self._demands.distances(self._normal(start))
        tau = float(distances[self._demands.amount > 0].max()) / coldness
        try:
            if route(self._demands, self._normal(start), tau, self._deadline) is None:
                return False
            self._descend(start, tau, self._demands.priced(distances))
        except LateError:
            pass  # what was found so far stands
        self._prove()
        return True

    def _descend(self, start: Vector, tau: float, scale: float) -> None:
        from scipy.optimize import minimize  # here: programs need none of it, and it loads slowly

        def negative(spending: Vector) -> tuple[float, Vector]:
            value, gradient = self._evaluate(spending, tau)
            return -value / scale, -gradient / scale

        steps = itertools.count(1)

        def look(spending: Vector) -> None:
            self._spending = spending.copy()
            self._price = self._normal(spending)
            if next(steps) in _PROOFS:
                self._prove()
            if self.done or self.late or self._even < _EVEN * self._gap:
                raise StopIteration

        minimize(
            negative,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(_LEAST_SPENDING, None)] * len(start),
            callback=look,
            options={"maxiter": _STAGE_STEPS, "maxcor": 20, "ftol": 0.0, "gtol": 0.0},
        )

    def finish(self) -> None:
        """Run phases of Garg and Koenemann until the bounds meet or time is up.

        They go from source to source, so they are not for one source of each orbit.
        """
        if self.done or self.late or self._demands.rows is not None:
            return
        self._mixed = self._spelt_out()
        rate = self._rate or self.bound_gb_s
        for phase in phases(self._demands, lambda: self._proof, rate, self._deadline):
            self.phases += 1
            self._price = phase.price
            self._prove()
            self._mix(phase.flow)
            if self.done:
                return

    def _mix(self, flow: Vector) -> None:
        """Mix a flow into the best one, in the proportion of the least load of the fullest link."""
        mixed, part = self._mixed, 1.0
        load = flow.sum(axis=0) / self._demands.bandwidth
        if mixed is not None:
            before = mixed.sum(axis=0) / self._demands.bandwidth
            part = _least_fullest(before, load)
            load = (1 - part) * before + part * load
        rate = 1 / float(load.max())
        if rate > self._rate:
            self._rate = rate
            self._mixed = flow.copy() if mixed is None else (1 - part) * mixed + part * flow

    def found(self) -> ApproximateFlow | None:
        """Return the best routing as a flow, with the best bound; None without a routing."""
        flow = self._spelt_out() if self._mixed is None else self._mixed
        if flow is None:
            return None
        return ApproximateFlow(
            demands=self._demands,
            rate_gb_s=self._rate,
            bound_gb_s=self.bound_gb_s,
            flow_gb_s=flow * self._rate,
            price=self._proof,
            evaluations=self.evaluations,
            phases=self.phases,
        )

    def _spelt_out(self) -> Vector | None:
        """Return the best softened routing as a flow for demands as they are."""
        if self._best is None:
            return None
        made = route(self._demands, *self._best)
        assert made is not None  # it was made before
        reach, onward = made.reach[:, self._demands.tail], made.onward[:, self._demands.head]
        return np.asarray(reach * onward * made.weight)

    def _normal(self, spending: Vector) -> Vector:
        """Return prices from the spending on each link, normalised to a total of 1."""
        return np.asarray(spending / spending.sum() / self._demands.bandwidth)

    def _evaluate(self, spending: Vector, tau: float) -> tuple[float, Vector]:
        """Return the softened price of all demands, and its gradient by the spending."""
        price = self._normal(spending)
        routing = route(self._demands, price, tau, self._deadline)
        self.evaluations += 1
        if routing is None:
            return 0.0, np.zeros_like(price)  # worse than any other
        fullness = routing.load / self._demands.bandwidth
        fullest = float(fullness.max())
        spent = float(price @ routing.load)
        self._even = fullest / spent - 1
        if 1 / fullest > self._rate:
            self._rate, self._best = 1 / fullest, (price, tau)
        return routing.value, (fullness - spent) / spending.sum()

    def _prove(self) -> None:
        """Keep the bound that the prices prove, if it is better."""
        bound = self._demands.bound_gb_s(self._price)
        if bound < self.bound_gb_s:
            self.bound_gb_s, self._proof = bound, self._price
        self._gap = max(1 - self._rate / self.bound_gb_s, self._eps)


def _least_fullest(first: Vector, second: Vector) -> float:
    """Return the share of the second load in the mixture of least maximum."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda part: float(((1 - part) * first + part * second).max()),
        bounds=(0.0, 1.0),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(found.x)
