"""Expected rates of a collective on a network, in the terms of nccl-tests.

Bounds are for switches that forward and for switches that multicast and reduce
(:mod:`experiments.measures.bounds`). Rates of ForestColl's schedule and NCCL's algorithms are
pipelined, without latencies. busbw is defined in PERFORMANCE.md of nccl-tests. An allreduce that no
cut proves takes a linear program.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from baselines.interface.method import Method
from baselines.networks.planes import find_planes
from baselines.registry import METHODS
from experiments.advice.time_limit import LP_TIME_LIMIT_S, time_limit
from experiments.config.points import ROOTED
from experiments.measures.bounds import ALL, upper_bound
from experiments.measures.plane_shares import check_planes
from forestcoll.core.optimality import rate_bound
from forestcoll.errors import (
    ForestCollError,
    InvalidParameterError,
    TimeLimitError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.limits import Limits, check_seconds
from forestcoll.problem.options import Options
from forestcoll.problem.price_bound import PriceBound
from forestcoll.problem.rate_bound import RateBound
from forestcoll.problem.weights import rank_of_root, weights_for
from forestcoll.schedule import verify
from forestcoll.schedule.allreduce import Allreduce, AnySchedule
from forestcoll.schedule.factored import FactoredForest
from forestcoll.topology import Topology, group
from forestcoll.topology.numbers import Exact
from forestcoll.topology.shortest_paths import distances
from forestcoll.topology.symmetry.parallel_planes import merged_planes
from forestcoll.topology.validation import validate

if TYPE_CHECKING:
    from forestcoll.cut_over_time.time_search import LeastTimes

__all__ = ["ALL", "NCCL_METHODS", "Expected", "Rate", "busbw_factor", "expected"]

LIMIT_S = 60.0
"""Default seconds for all rows."""

CUTS_S = 2.0
"""Seconds reserved for bounds and cuts, at most a quarter of all."""

_PROGRAM_SHARE = 0.9
"""Of what is left, for programs of bounds and cuts: those that do not finish leave weaker ones."""

NCCL_METHODS = {
    "NCCL ring": "ring",
    "NCCL tree": "nccl-tree",
    "NCCL NVLS": "nccl-nvls",
    "NCCL NVLS tree": "nccl-nvls-tree",
    "NCCL send/recv": "direct",
}
"""Our methods by the names of NCCL's algorithms. The last is of all-to-alls, the others are not."""

_SEND_RECV = "NCCL send/recv"


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate in theory, or the reason why there is none."""

    what: str
    algbw_gb_s: Fraction | None  # data size over time; the size is that of nccl-tests
    busbw_gb_s: Fraction | None  # algbw times the factor of nccl-tests for this collective
    share: Fraction | None  # share of the bound of its model
    note: str  # the proof of a bound, or the reason why there is no rate
    differences: str = ""  # differences between a baseline and its source


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected rates of a collective."""

    topology: Topology
    collective: str
    # for switches that forward; and, with ``multicast`` switches, for multicast and reduction
    bounds: tuple[Rate, ...]
    # the bottleneck cut, or prices; None if the time ran out. An allreduce has those of a
    # reduce-scatter and an allgather, though its own bound may differ
    binding: tuple[RateBound | PriceBound, ...] | None
    rates: tuple[Rate, ...]  # rates of ForestColl and NCCL
    latency_us: Fraction  # least latency between the GPUs farthest apart, summed over links
    root: str | int | None = None  # of a broadcast or reduce
    # what GPUs outside the group do, "forward" or "absent"; None without a group
    idle: str | None = None

    def least_us(self, size_bytes: int) -> Fraction:
        """Return a lower bound on the time of any schedule for a size."""
        return self.least_times_us([size_bytes])[0]

    def least_times_us(self, sizes: Iterable[int], alpha_us: Exact = 0) -> list[Fraction]:
        """Return the least time of each size: the bottleneck cut over time, or by the rate.

        Parameters
        ----------
        alpha_us : int, Fraction or str
            Microseconds of a hop from GPU to GPU, beside the latencies of its links.
        """
        from forestcoll.cut_over_time.time_search import LeastTimes  # for given sizes alone

        rates = [one.algbw_gb_s for one in self.bounds if one.algbw_gb_s is not None]
        found = LeastTimes(
            self.topology,
            self.collective,
            alpha_us,
            root=self.root,
            with_rate=not rates and self.collective != "all-to-all",
        )
        return [self._least_us(found, size, max(rates, default=None)) for size in sizes]

    def _least_us(self, found: LeastTimes, size: int, rate: Fraction | None) -> Fraction:
        if size < 1:
            return self.latency_us
        by_rate = Fraction(0) if rate is None else found.delay_us + size / (rate * 1000)
        return max(by_rate, found.bound(size).time_us)


def expected(
    topology: Topology,
    collective: str = "allreduce",
    *,
    root: str | int | None = None,
    members: Iterable[str] | None = None,
    idle: Literal["forward", "absent"] = "absent",
    seconds: float = LIMIT_S,
) -> Expected:
    """Return the expected rates of a collective on a network.

    Parameters
    ----------
    collective : str
        One of :data:`ALL`.
    root : str or int, optional
        Root of a broadcast or reduce; rank 0 if not given.
    members : iterable of str, optional
        Names of the GPUs that take part; all if not given.
    idle : {"absent", "forward"}
        Role of the other GPUs, as in :func:`forestcoll.group`: no library lets them forward.
    seconds : float
        Limit for all rows, bounds and cuts together; late rows carry a note. ForestColl's schedule
        must leave :data:`CUTS_S` of it, or a quarter if that is less.

    Raises
    ------
    UnsupportedError
        For another collective.
    ForestCollError
        As of :func:`forestcoll.generation.generate`.
    """
    if collective not in ALL:
        raise UnsupportedError(f"collective is {collective!r}; it must be one of {', '.join(ALL)}")
    if members is not None:
        topology = group(topology, members, idle=idle)
    if collective not in ROOTED and root is not None:
        raise InvalidParameterError(f"{collective} takes no root here (see broadcast and reduce)")
    if collective in ROOTED and root is None:
        root = 0
    ranks = None if root is None else [rank_of_root(topology, root)]
    validate(topology, "allgather" if collective == "all-to-all" else collective, ranks)
    check_seconds(seconds)
    clock = _Clock(seconds)
    if collective == "all-to-all":
        return _expected_all_to_all(topology, clock, None if members is None else idle)
    # Rates and bounds are the same on merged planes, and a schedule there is many times smaller.
    rows = _without_planes(topology, clock)
    best, proof = _forestcoll(rows, collective, root, clock.less(min(CUTS_S, seconds / 4)))
    bounds = _bounds(rows, collective, root, best.algbw_gb_s or Fraction(0), proof, clock)
    limit = max((one.algbw_gb_s for one in bounds if one.algbw_gb_s is not None), default=None)
    binding = _binding(topology, collective, root, clock)
    nccl = (
        _method(what, name, rows, collective, root, clock)
        for what, name in NCCL_METHODS.items()
        if what != _SEND_RECV
    )
    return Expected(
        topology=topology,
        collective=collective,
        bounds=bounds,
        binding=binding,
        rates=_shared([best, *nccl], limit),
        latency_us=_farthest_us(topology, collective, root),
        root=root,
        idle=None if members is None else idle,
    )


def _shared(rates: Iterable[Rate], limit: Fraction | None) -> tuple[Rate, ...]:
    """Return the rates with their shares of a bound."""
    return tuple(
        replace(one, share=None if limit is None or not one.algbw_gb_s else one.algbw_gb_s / limit)
        for one in rates
    )


def _expected_all_to_all(topology: Topology, clock: _Clock, idle: str | None) -> Expected:
    """Return the rates of an all-to-all: the best paths known, and NCCL's."""
    from forestcoll.all_to_all.best_flow import best_flow

    what = "bound, switches forward"
    binding: tuple[PriceBound, ...] | None = None
    try:
        with time_limit(clock.left()):
            made = best_flow(topology, seconds=_PROGRAM_SHARE * clock.left())
            verdict = verify(made)
            binding = (PriceBound.of(topology, None, made.price),)
        bound = _rate(what, topology, "all-to-all", verdict.bound_gb_s, "by prices of the links")
        best = _rate("best paths", topology, "all-to-all", verdict.algbw_gb_s)
    except TimeLimitError:
        bound = clock.late(what, topology, "all-to-all")
        best = clock.late("best paths", topology, "all-to-all")
    rows = _without_planes(topology, clock)
    nccl = _method(_SEND_RECV, NCCL_METHODS[_SEND_RECV], rows, "all-to-all", None, clock)
    return Expected(
        topology=topology,
        collective="all-to-all",
        bounds=(bound,),
        binding=binding,
        rates=_shared([best, nccl], bound.algbw_gb_s),
        latency_us=_farthest_us(topology, "all-to-all", None),
        idle=idle,
    )


def busbw_factor(collective: str, gpus: int) -> Fraction:
    """Return the busbw factor of nccl-tests: the share of the data that crosses a GPU's links.

    Examples
    --------
    >>> busbw_factor("allreduce", 8), busbw_factor("allgather", 8), busbw_factor("broadcast", 8)
    (Fraction(7, 4), Fraction(7, 8), Fraction(1, 1))
    """
    if collective in ROOTED:
        return Fraction(1)
    return Fraction((2 if collective == "allreduce" else 1) * (gpus - 1), gpus)


def _rate(
    what: str, topology: Topology, collective: str, algbw: Fraction | None, note: str = ""
) -> Rate:
    factor = busbw_factor(collective, topology.num_compute)
    return Rate(what, algbw, None if algbw is None else algbw * factor, None, note)


def _bounds(
    topology: Topology,
    collective: str,
    root: str | int | None,
    reached: Fraction,
    proof: AllreduceBound | None,
    clock: _Clock,
) -> tuple[Rate, ...]:
    """Bound the collective in both switch models, or once where they agree."""
    try:
        with time_limit(clock.left()):
            topology = merged_planes(topology).merged
    except TimeLimitError:
        pass  # the clock has run out, so no bound starts below
    plain = tuple(replace(n, multicast=False) if n.multicast else n for n in topology.nodes)
    if plain == topology.nodes:
        models = [("bound, switches forward", topology, reached, proof)]
    else:
        forwarding = topology.like(topology.name, plain, topology.columns, shared=topology.shared)
        models = [
            ("bound, switches forward", forwarding, Fraction(0), None),
            ("bound, multicast + reduction", topology, reached, proof),
        ]
    rank = None
    if root is not None and collective in ROOTED:
        rank = weights_for(topology, collective, root=root).index(1)
    found = []
    for what, network, known, own in models:
        left = clock.left()
        try:
            with time_limit(left):
                limit = _PROGRAM_SHARE * left
                bound = upper_bound(network, collective, known, rank, proof=own, seconds=limit)
        except TimeLimitError:
            found.append(clock.late(what, topology, collective))
            continue
        assert bound is not None  # only an all-to-all may have none
        found.append(_rate(what, topology, collective, bound.algbw_gb_s, f"by {bound.by}"))
    return tuple(found)


class _Clock:
    """A countdown of the seconds for all rows together."""

    def __init__(self, seconds: float, end: float | None = None) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds if end is None else end

    def less(self, seconds: float) -> _Clock:
        """Return a clock for part of the work that ends ``seconds`` earlier."""
        return _Clock(self.seconds, self._end - seconds)

    def left(self) -> float:
        """Return the remaining seconds, 0 at the end."""
        return max(0.0, self._end - time.monotonic())

    def late(self, what: str, topology: Topology, collective: str) -> Rate:
        """Return the row of a rate that ran out of time."""
        note = f"not finished in {self.seconds:g} s; allow more time"
        return _rate(what, topology, collective, None, note)


def _forestcoll(
    topology: Topology, collective: str, root: str | int | None, clock: _Clock
) -> tuple[Rate, AllreduceBound | None]:
    """Return the rate of ForestColl's schedule and the bound of an allreduce, both verified.

    In-network multicast speeds up one-way collectives only where a switch sends more than it
    receives.
    """
    asked = Options(
        collective=collective,
        root=root if collective in ROOTED else None,
        lp_time_limit_s=min(LP_TIME_LIMIT_S, clock.left()),
        factored=True,
    )
    try:
        with time_limit(clock.left()):
            made = _made(topology, asked)
            rate = verify(made).algbw_gb_s
    except TimeLimitError:
        return clock.late("ForestColl", topology, collective), None
    proof = made.bound if isinstance(made, Allreduce) else None
    return _rate("ForestColl", topology, collective, rate), proof


def _made(topology: Topology, asked: Options) -> AnySchedule:
    from forestcoll.generation import generate  # all-to-alls need none of it

    if not any(node.multicast for node in topology.nodes):
        return generate(topology, asked).schedule
    if asked.collective != "allreduce":
        made = generate(topology, asked).schedule
        claim = made.optimum if isinstance(made, FactoredForest) else None
        if claim is not None and claim.bound.multicast:
            return made
    return generate(topology, replace(asked, factored=False, multicast=True)).schedule


def _method(
    what: str, name: str, topology: Topology, collective: str, root: str | int | None, clock: _Clock
) -> Rate:
    """Return the rate of a baseline's verified schedule, or the reason why there is none."""
    method: Method = METHODS[name]
    if collective not in method.collectives:
        return _rate(what, topology, collective, None, f"has no {collective}")
    try:
        with time_limit(clock.left()):
            asked = {} if root is None else {"root": root}
            made = method.run(topology, collective, asked, Limits(seconds=clock.left()))
            rate = verify(made).algbw_gb_s
    except TimeLimitError:
        return clock.late(what, topology, collective)
    except ForestCollError as error:
        return _rate(what, topology, collective, None, str(error))
    return replace(_rate(what, topology, collective, rate), differences=method.notes_on(topology))


def _without_planes(topology: Topology, clock: _Clock) -> Topology:
    """Return the network with merged parallel planes, if all its rates equal those of the real one.

    Schedules on the merged network are spread over the planes. Conversely, merging adds links up,
    so a bound of the merged network holds for the real one.
    """
    try:
        with time_limit(clock.left()):
            planes = find_planes(topology)
            check_planes(planes)
            return planes.merged
    except (TimeLimitError, VerificationError):
        return topology


def _binding(
    topology: Topology, collective: str, root: str | int | None, clock: _Clock
) -> tuple[RateBound, ...] | None:
    """Return the bottleneck of each phase of the collective, for switches that forward."""
    phases = {"allreduce": ("reduce-scatter", "allgather")}.get(collective, (collective,))
    found = []
    try:
        with time_limit(clock.left()):
            for phase in phases:
                weights = weights_for(topology, phase, root=root if phase in ROOTED else None)
                reduction = phase in ("reduce-scatter", "reduce")
                limit = _PROGRAM_SHARE * clock.left()
                bound = rate_bound(topology, weights=weights, reduction=reduction, seconds=limit)
                found.append(bound)
    except TimeLimitError:
        return None
    return tuple(found)


def _farthest_us(topology: Topology, collective: str, root: str | int | None) -> Fraction:
    """Return the largest latency of a shortest path that data must take: overall or at the root."""
    columns = topology.columns
    latency = [late for _, late in columns.kinds]
    if not any(latency):
        return Fraction(0)
    whole = math.lcm(*(late.denominator for late in latency))
    ticks = np.array([int(late * whole) for late in latency], dtype=float)[columns.kind]
    nodes, (tail, head) = len(topology.nodes), topology.link_ends
    gpus = list(topology.compute)
    at = gpus if root is None else [gpus[rank_of_root(topology, root)]]
    starts, ends = (gpus, at) if collective == "reduce" else (at, gpus)
    away = distances(nodes, tail, head, ticks, np.array(starts))[:, ends]
    return Fraction(int(away.max()), whole)
