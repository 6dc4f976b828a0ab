"""The proved least time of a collective at a size.

Problem: T* = max over sources A and sinks v of the least T at which a flow over time brings the
         data of A to v; and delta + M / rate for a bound on the rate. In an allreduce, broadcast
         or reduce also the T of gossip between sets of GPUs; in an allreduce without switches that
         reduce and multicast in one pass, the T of passes between sets.
Input:   a topology, a collective, sizes, alpha.
Output:  the time, exactly, with labels of a cut over time or a delayed rate as proof.
Cost:    one flow over time for each pair of sources and sinks, on classes of symmetric nodes; all
         sizes share them.
Source:  Ford and Fulkerson 1958; see docs/mathematics/time-bound.md. Checked by
         :mod:`forestcoll.schedule.verification.time_bounds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property

import numpy as np

from forestcoll.all_to_all.best_flow import best_flow
from forestcoll.core.optimality import SECONDS, narrowest_cut, rate_bound
from forestcoll.core.partition_bound import best_known_bound
from forestcoll.cut_over_time.delay import delay_us
from forestcoll.cut_over_time.flow_over_time import FlowOverTime
from forestcoll.cut_over_time.gossip_from_root import RootedSets, RootedTimes
from forestcoll.cut_over_time.gossip_over_time import GossipTimes, GpuDistances, gossip_sets
from forestcoll.cut_over_time.passes_over_time import PassSets, PassTimes, pass_sets
from forestcoll.cut_over_time.refinement import Classes, merged
from forestcoll.cut_over_time.separations import Separation, separations
from forestcoll.errors import (
    InvalidParameterError,
    SolverError,
    TimeLimitError,
    UnsupportedError,
)
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.over_time.time_bound import (
    GOSSIPS,
    DelayedRate,
    TimeBound,
    TimeCut,
    TimeProof,
)
from forestcoll.problem.over_time.timed_links import REDUCTIONS, TimedLinks, read_alpha
from forestcoll.problem.price_bound import PriceBound
from forestcoll.problem.rate_bound import RateBound
from forestcoll.problem.sizes import read_size
from forestcoll.problem.weights import Weights, rank_of_root, weights_for
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import Exact
from forestcoll.topology.spec import Network, as_topology
from forestcoll.topology.validation import COLLECTIVES, check_collective, validate

__all__ = ["LeastTimes", "time_bound", "time_bounds"]

_ALL_TO_ALL = "all-to-all"
_MOST_LINKS = 400_000  # of all flows together, which limits the work on networks without symmetry
_MOST_CUTS = 4
_MOST_CLASSES = 16
_ROUNDS = 4
_LEAST_SECONDS = 0.001


def time_bound(
    topology: Network,
    collective: str = "allgather",
    size: int | str = "1MB",
    alpha_us: Exact = 10,
    *,
    root: str | int | None = None,
    weights: Weights | None = None,
    seconds: float = SECONDS,
    one_pass: bool = True,
) -> TimeBound:
    """Find a proved least time of a collective at a size, latencies included.

    The model is that of simulations, without their further costs: data are fluid, a link carries
    its bandwidth, and what starts on it arrives after its latency, plus alpha if a GPU sends.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    collective : str
        "allgather", "reduce-scatter", "broadcast", "reduce", "allreduce" or "all-to-all".
    size : int or str
        As nccl-tests counts it, in bytes or as "4MB" (1 MB is 2^20): all shards together; what one
        GPU sends in an all-to-all.
    alpha_us : int, Fraction or str
        Microseconds of a hop from GPU to GPU; "800ns" is understood, too.
    root : str or int, optional
        Root of a broadcast or reduce, by name or rank.
    weights : mapping or sequence, optional
        How much of the data each GPU has, in an allgather or reduce-scatter.
    seconds : float
        Time limit of the program for the rate of networks that need one.
    one_pass : bool
        Whether the bound holds for allreduces in which a switch reduces data and multicasts the sum
        in one pass, too. No schedule of this package does that.

    Returns
    -------
    TimeBound

    Raises
    ------
    UnsupportedError
        For a single GPU, and for an unknown collective.
    InvalidParameterError
        For a wrong size, alpha, root or weights.
    InvalidTopologyError, CapacityOverflowError
        As :func:`forestcoll.optimum`.

    Examples
    --------
    >>> bound = time_bound("dgx_a100:boxes=2", size=4_000_000)
    >>> bound.time_us, float(bound.share_of_rate)
    (Fraction(115, 4), 0.4013377926421405)
    """
    return time_bounds(
        topology,
        collective,
        [size],
        alpha_us,
        root=root,
        weights=weights,
        seconds=seconds,
        one_pass=one_pass,
    )[0]


def time_bounds(
    topology: Network,
    collective: str,
    sizes: Iterable[int | str],
    alpha_us: Exact = 10,
    *,
    root: str | int | None = None,
    weights: Weights | None = None,
    seconds: float = SECONDS,
    one_pass: bool = True,
) -> list[TimeBound]:
    """Find the least times of several sizes, which share their work.

    Parameters and errors are those of :func:`time_bound`.
    """
    if isinstance(sizes, str | int):
        raise InvalidParameterError(f"the sizes are {sizes!r}; give a list, or take time_bound")
    found = LeastTimes(
        as_topology(topology), collective, alpha_us, root=root, weights=weights, seconds=seconds
    )
    return [found.bound(size, one_pass=one_pass) for size in sizes]


def _size_of(size: int | str) -> int:
    try:
        return read_size(size)
    except ValueError as error:
        raise InvalidParameterError(f"the size {error}") from None


def _weights_of(
    topology: Topology, collective: str, root: str | int | None, weights: Weights | None
) -> tuple[tuple[int, ...], int | None]:
    if collective in (_ALL_TO_ALL, "allreduce"):
        if root is not None or weights is not None:
            raise InvalidParameterError(
                f"the bound of {collective} holds for all roots and weights; leave them out"
            )
        return (1,) * topology.num_compute, None
    whole = weights_for(topology, collective, root=root, weights=weights)
    return whole, None if root is None else rank_of_root(topology, root)


class LeastTimes:
    """The least times of one collective; flows are kept for the next size.

    Parameters and errors are those of :func:`time_bound`, but for

    Parameters
    ----------
    with_rate : bool
        Whether to bound the rate, too; False where a bound is known and its search takes long.
    """

    def __init__(
        self,
        topology: Topology,
        collective: str,
        alpha_us: Exact = 10,
        *,
        root: str | int | None = None,
        weights: Weights | None = None,
        seconds: float = SECONDS,
        with_rate: bool = True,
    ) -> None:
        check_collective(collective, (*COLLECTIVES, _ALL_TO_ALL))
        if topology.num_compute == 1:
            raise UnsupportedError(
                f"{topology.name} has a single GPU: nothing moves, so no time passes"
            )
        self._topology, self._collective = topology, collective
        self._weights, self._root = _weights_of(topology, collective, root, weights)
        self._alpha_us = read_alpha(alpha_us)
        self._rate = None
        if with_rate:
            self._rate = _rate_bound(topology, collective, self._weights, seconds)
        reduction = collective in REDUCTIONS
        self._links = TimedLinks.of(topology, self._alpha_us, reduction=reduction)
        self._flows: dict[Separation, tuple[Classes, FlowOverTime]] = {}
        self._work = 0
        cuts = _cuts(topology, self._rate, self._weights, reduction)
        self._first = list(separations(topology, collective, self._links, self._weights, cuts))
        self._gossips = list(self._gossip_times(cuts)) if collective in GOSSIPS else []

    @cached_property
    def delay_us(self) -> Fraction:
        """The time in which links carry nothing of use, whatever the rate."""
        return delay_us(self._topology, self._alpha_us)

    def bound(self, size: int | str, *, one_pass: bool = True) -> TimeBound:
        """Return the largest bound found for a size.

        ``one_pass`` is as in :func:`time_bound`.

        Raises InvalidParameterError if the size is not one.
        """
        size_bytes = _size_of(size)
        time, labels = self._cut(size_bytes)
        proof: TimeProof = TimeCut(labels)
        by_rate = None
        if self._rate is not None:
            delayed = DelayedRate(self._rate, self.delay_us)
            by_rate = size_bytes / (1000 * delayed.algbw_gb_s)
            if by_rate + self.delay_us > time:
                time, proof = by_rate + self.delay_us, delayed
        for gossip in self._gossips if one_pass else (*self._gossips, *self._passes):
            later = gossip.least_time(self._links.amount(Fraction(size_bytes)))
            if later / self._links.ticks_per_us > time:
                time, proof = later / self._links.ticks_per_us, gossip.proof
        return TimeBound(
            topology=self._topology,
            collective=self._collective,
            root=self._root,
            weights=self._weights,
            size_bytes=size_bytes,
            alpha_us=self._alpha_us,
            time_us=time,
            proof=proof,
            by_rate_us=by_rate,
        )

    @cached_property
    def _passes(self) -> list[PassTimes]:
        """Times of an allreduce in which no switch reduces and multicasts in one pass."""
        topology, links = self._topology, self._links
        if self._collective != "allreduce" or not GpuDistances(topology, links).are_exact:
            return []
        choices = (PassSets(topology, links, sets) for sets in pass_sets(topology))
        return [one for sets in choices for one in sets.times()]

    def _gossip_times(self, priced: list[tuple[int, ...]]) -> Iterator[GossipTimes | RootedTimes]:
        """Yield the times of gossip between boxes, and between one set and all else."""
        reduction = self._collective in REDUCTIONS
        network = self._topology.reversed() if reduction else self._topology
        distances = GpuDistances(network, self._links)
        if not distances.are_exact:
            return
        if isinstance(self._rate, AllreduceBound):
            priced = [one.nodes for one in self._rate.sets[:_MOST_CUTS]]
        root = None
        if self._collective != "allreduce":
            root = network.compute[self._weights.index(1)]
        sinks = dict.fromkeys(sink for one in self._first for sink in one.sinks)
        for sets in gossip_sets(network, priced, sinks, rooted=root is not None):
            if root is not None:
                yield from RootedSets(distances, sets, root).times()
                continue
            alone = GossipTimes(distances, sets)
            yield alone
            if binding := alone.binding():
                yield GossipTimes(distances, sets, binding)

    def _cut(self, size: int) -> tuple[Fraction, tuple[Fraction, ...]]:
        best, time = self._first[0], Fraction(-1)
        for one in self._first:
            found = self._time(one, size)
            if found is not None and found > time:
                best, time = one, found
        for _ in range(_ROUNDS):
            for one in self._near(best, size):
                found = self._time(one, size)
                if found is not None and found > time:
                    best, time = one, found
                    break
            else:
                break
        return self._solved(best, size)

    def _near(self, one: Separation, size: int) -> Iterator[Separation]:
        """Yield sources and sinks near those given: by their own labels, and a class more or less.

        What the labels already put on a side costs nothing there, and adds data.
        """
        if self._collective == "allreduce":
            return
        time, labels = self._solved(one, size)
        gpus = self._topology.compute
        sources = one.sources.union(v for v in gpus if labels[v] == 0)
        sinks = one.sinks
        if self._collective == _ALL_TO_ALL:
            sinks = sinks.union(v for v in gpus if labels[v] == time)
        sources -= sinks
        if (sources, sinks) != (one.sources, one.sinks):
            yield Separation(sources, sinks)
        of_node = self._flow(one)[0].of_node.tolist()
        classes: dict[int, set[int]] = {}
        for gpu in gpus:
            if gpu not in sinks:
                classes.setdefault(of_node[gpu], set()).add(gpu)
        for alike in list(classes.values())[:_MOST_CLASSES]:
            changed = sources - alike if alike <= sources else sources | alike
            if any(self._weights[self._topology.rank_of[v]] for v in changed):
                yield Separation(changed, sinks)

    def _time(self, one: Separation, size: int) -> Fraction | None:
        """Return the time of a separation; None if too much work was done to try another."""
        if one not in self._flows and self._flows and self._work > _MOST_LINKS:
            return None
        found = self._flow(one)[1].least_time(self._amount(one, size))
        return None if found is None else found[0]

    def _solved(self, one: Separation, size: int) -> tuple[Fraction, tuple[Fraction, ...]]:
        classes, flow = self._flow(one)
        found = flow.least_time(self._amount(one, size))
        assert found is not None  # a valid network leads from every GPU to every other
        time, labels = found
        unit = self._links.ticks_per_us
        of_class = [label / unit for label in labels]
        return time / unit, tuple(of_class[c] for c in classes.of_node.tolist())

    def _flow(self, one: Separation) -> tuple[Classes, FlowOverTime]:
        if one not in self._flows:
            colours = np.zeros(self._links.nodes, dtype=np.int64)
            # GPUs of different weight, and all switches, stay apart, so that classes have one kind.
            for gpu, weight in zip(self._topology.compute, self._weights, strict=True):
                colours[gpu] = 3 + weight
            colours[list(one.sources)] = 1
            colours[list(one.sinks)] = 2
            classes = merged(self._links, colours)
            ends = [{int(classes.of_node[v]) for v in side} for side in (one.sources, one.sinks)]
            self._flows[one] = classes, FlowOverTime(classes.links, *ends)
            self._work += len(classes.links.tail)
        return self._flows[one]

    def _amount(self, one: Separation, size: int) -> Fraction:
        """Return how much must cross, in units of capacity times ticks."""
        gpus = self._topology.num_compute
        part = Fraction(1)
        if self._collective == _ALL_TO_ALL:
            part = Fraction(len(one.sources) * len(one.sinks), gpus)
        elif self._collective != "allreduce":
            weight = sum(self._weights[self._topology.rank_of[v]] for v in one.sources)
            part = Fraction(weight, sum(self._weights))
        return self._links.amount(size * part)


def _rate_bound(
    topology: Topology, collective: str, weights: tuple[int, ...], seconds: float
) -> RateBound | AllreduceBound | PriceBound | None:
    """Return a bound on the rate that holds for switches as they are marked."""
    multicast = any(node.multicast for node in topology.nodes)
    if collective == _ALL_TO_ALL:
        validate(topology, "allgather")
        return _pair_bound(topology, seconds)
    if collective == "allreduce":
        validate(topology, "allreduce")
        return best_known_bound(topology, multicast=multicast)
    return rate_bound(
        topology,
        weights=weights,
        reduction=collective in REDUCTIONS,
        multicast=multicast,
        seconds=seconds,
    )


def _pair_bound(topology: Topology, seconds: float) -> PriceBound | None:
    """Return the bound of the best paths of all pairs; None if they are not found in time."""
    if seconds < _LEAST_SECONDS:
        return None
    try:
        made = best_flow(topology, seconds=seconds)
    except (SolverError, TimeLimitError):
        return None
    return PriceBound.of(topology, None, made.price)


def _cuts(
    topology: Topology,
    found: RateBound | AllreduceBound | PriceBound | None,
    weights: tuple[int, ...],
    reduction: bool,
) -> list[tuple[int, ...]]:
    """Return node sets that bound the rate, those of the highest prices first."""
    if isinstance(found, RateBound):
        ordered = sorted(found.cuts, key=lambda one: (-one.price, one.nodes))
        return [one.nodes for one in ordered[:_MOST_CUTS]]
    if isinstance(found, AllreduceBound):
        return []
    _, _, cut = narrowest_cut(topology, weights, reduction)
    return [tuple(np.flatnonzero(cut).tolist())]
