"""Upper bounds on the rate of a collective: the optimum, or a bound where it is unknown.

Problem: to which rate should the rate of a given file be compared?
Input:   a topology, a collective, the owners of the data.
Output:  the optimum of an allgather, reduce-scatter, broadcast or reduce; for an allreduce the
         least bound by single GPUs, boxes and cuts; for an all-to-all that by hops and cuts. Each
         with a witness.
Cost:    that of an optimum or two; for an all-to-all a search from each GPU, unless the network is
         too large.
Source:  ForestColl section 5.2; :mod:`forestcoll.core.partition_bound`, which also holds without
         roots (docs/mathematics/allreduce-bounds.md); :mod:`forestcoll.problem.all_to_all_bound`.

Every bound is recomputed before it is reported: an optimum by its cut, an allreduce bound by the
code of ``verify``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from forestcoll.core.optimality import narrowest_cut, optimum, rate_bound
from forestcoll.core.partition_bound import best_known_bound, box_parts, closed
from forestcoll.errors import TimeLimitError
from forestcoll.problem.all_to_all_bound import AllToAllBound
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.rate_bound import RateBound
from forestcoll.schedule.allreduce import Allreduce, AnySchedule
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.pipelined import slowest_of_loads
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.verification.trees.allreduce import check_bound
from forestcoll.topology.describe import counted
from forestcoll.topology.model import Topology

__all__ = [
    "MOST_NODES", "FileBound", "Measurement", "bound_of", "bound_of_schedule", "measured",
    "narrowest_sets",
]  # fmt: skip


_MOST_VISITS = 5_000_000
"""Links that searches from all sets may come by together: a second or two."""

_MOST_REASONS = 4
"""Cuts, switches and shared capacities that are named where several bind together."""

_ANY = "any schedule; switches may multicast and reduce"
_FORWARDING = "any allreduce in which switches only forward"
_PAIRS = "any all-to-all; GPUs and switches may forward"


@dataclass(frozen=True, slots=True)
class FileBound:
    """An upper bound on the rate of correct files.

    Parameters
    ----------
    optimal : bool
        Whether some schedule is known to attain it, so that it is the optimum.
    by : str
        The proof, in words.
    model : str
        The model that it bounds.
    """

    algbw_gb_s: Fraction
    optimal: bool
    by: str
    model: str


def bound_of(
    topology: Topology,
    collective: str,
    weights: Sequence[int] | None = None,
    *,
    multicast: bool = False,
) -> FileBound | None:
    """Return an upper bound on the rate of a collective.

    Parameters
    ----------
    collective : str
        One of the six.
    weights : sequence of int, optional
        Of the roots: of a broadcast or reduce 1 at the root, 0 elsewhere.
    multicast : bool
        Whether switches marked ``multicast`` may multicast and reduce in an allreduce.

    Returns
    -------
    FileBound or None
        None for a single GPU.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> bound_of(load_topology("ring:nodes=4"), "allreduce").algbw_gb_s
    Fraction(4, 3)
    """
    if topology.num_compute == 1:
        return None
    if collective == "allreduce":
        return min(_of_allreduces(topology, multicast), key=lambda one: one.algbw_gb_s)
    if collective == "all-to-all":
        best = min(_of_all_to_alls(topology), key=lambda one: one.algbw_gb_s)
        return FileBound(best.algbw_gb_s, False, best.in_words(), _PAIRS)
    return _of_one_phase(topology, weights, collective in ("reduce", "reduce-scatter"))


def bound_of_schedule(schedule: AnySchedule) -> FileBound | None:
    """Return :func:`bound_of` of what a schedule does, in the model of all schedules.

    None also for a demand, of which no bound is known without a program.
    """
    collective = schedule.collective
    if getattr(schedule, "demand", None) is not None:
        return None
    if collective in ("allreduce", "all-to-all"):
        return bound_of(schedule.topology, collective, multicast=True)
    assert not isinstance(schedule, Allreduce | FlowSchedule)
    weights: Sequence[int] = schedule.weights
    if isinstance(schedule, StepSchedule) and collective in ("broadcast", "reduce"):
        root = schedule.chunks.root[0]
        weights = [int(rank == root) for rank in range(schedule.topology.num_compute)]
    return bound_of(schedule.topology, collective, weights)


def _of_one_phase(topology: Topology, weights: Sequence[int] | None, reduction: bool) -> FileBound:
    """Return the optimum; if multicast switches may do better, the least bound found."""
    bound = rate_bound(topology, weights=weights, reduction=reduction, multicast=True)
    by = "; ".join(bound.in_words()[:_MOST_REASONS])
    return FileBound(bound.algbw_gb_s, _is_attained(topology, bound), by, _ANY)


def _is_attained(topology: Topology, bound: RateBound) -> bool:
    """Whether some schedule is known to attain the bound, so that it is the optimum."""
    try:
        best = optimum(topology, weights=bound.weights, reduction=bound.reduction)
    except TimeLimitError:
        return False
    return best.inverse_rate == bound.inverse_rate


def _of_allreduces(topology: Topology, multicast: bool) -> Iterator[FileBound]:
    """Yield bounds: of parts of the network; and since all data must reach and leave GPU 0."""
    marked = multicast and any(node.multicast for node in topology.nodes)
    known = best_known_bound(topology, multicast=marked)
    assert known is not None, "there are several GPUs"
    model = known.model if marked else _FORWARDING
    yield FileBound(check_bound(known), False, _in_words(known), model)
    root = [1] + [0] * (topology.num_compute - 1)
    for reduction in (False, True):
        one = _of_one_phase(topology, root, reduction)
        yield FileBound(one.algbw_gb_s, False, one.by, _ANY)


def _in_words(bound: AllreduceBound) -> str:
    parts = len(bound.sets)
    gpus = "GPUs" if parts == bound.topology.num_compute else f"{counted(parts, 'set')} of GPUs"
    if any(one.gather != one.reduce for one in bound.sets):
        return "all data must cross the narrowest cut around a GPU or a box"
    return f"every piece must go {2 * (parts - 1)} times from one to another of {gpus}"


def _of_all_to_alls(topology: Topology) -> Iterator[AllToAllBound]:
    """Yield bounds by hops between GPUs or boxes, and by the narrowest cuts that are known."""
    singles: list[list[int]] = [[rank] for rank in range(topology.num_compute)]
    for parts in [singles, *box_parts(topology)]:
        sets = closed(topology, parts)
        yield from _narrowest(topology, sets)
        if len(sets) * len(topology.links) <= _MOST_VISITS:
            yield AllToAllBound.of_hops(topology, sets)
    for nodes in narrowest_sets(topology):
        yield AllToAllBound.of_cut(topology, nodes, into=False)
    for reduction in (False, True):
        whole = (1,) * topology.num_compute
        _, _, cut = narrowest_cut(topology, whole, reduction)
        yield AllToAllBound.of_cut(topology, np.flatnonzero(cut).tolist(), into=reduction)


def _narrowest(topology: Topology, sets: Sequence[Sequence[int]]) -> Iterator[AllToAllBound]:
    """Yield the bounds of the narrowest cuts, out of a set and into one."""
    place = {node: number for number, one in enumerate(sets) for node in one}
    gpus = [sum(not topology.nodes[v].is_switch for v in one) for one in sets]
    wide = {into: [Fraction(0)] * len(sets) for into in (False, True)}
    for link in topology.links:
        ends = {False: place.get(link.tail), True: place.get(link.head)}
        for into, number in ends.items():
            if number is not None and ends[False] != ends[True]:
                wide[into][number] += link.bandwidth_gb_s
    for into, widths in wide.items():
        rates = [
            width / (count * (topology.num_compute - count))
            for width, count in zip(widths, gpus, strict=True)
        ]
        yield AllToAllBound.of_cut(topology, sets[rates.index(min(rates))], into=into)


MOST_NODES = 18


def narrowest_sets(topology: Topology) -> list[tuple[int, ...]]:
    """Return the positions of the sets; none if the network has too many nodes.

    Examples
    --------
    Every consecutive set of a ring cuts two cables; the first of equal sets is reported.

    >>> from forestcoll.topology import load_topology
    >>> narrowest_sets(load_topology("ring:nodes=4"))
    [(0,), (0, 1), (0, 1, 2)]
    """
    count = len(topology.nodes)
    if count > MOST_NODES:
        return []
    # Each number is a node set, bit v for node v.
    sets = np.arange(1 << count, dtype=np.int64)
    out, links = np.zeros(len(sets), dtype=np.int64), topology.integer_capacities
    for tail, head, wide in zip(links.tail, links.head, links.capacity, strict=True):
        out += wide * ((sets >> tail & 1) & ~(sets >> head) & 1)
    gpus = np.zeros(len(sets), dtype=np.int64)
    for node in topology.compute:
        gpus += sets >> node & 1
    found = []
    for size in range(1, topology.num_compute):
        these = np.flatnonzero(gpus == size)
        best = int(these[np.argmin(out[these])])
        found.append(tuple(node for node in range(count) if best >> node & 1))
    return found


@dataclass(frozen=True, slots=True)
class Measurement:
    """The pipelined rate of given loads, with an upper bound.

    Parameters
    ----------
    algbw_gb_s : Fraction, optional
        None if nothing is sent.
    busiest_link : tuple of str, optional
        Tail and head of the first link with the longest time, or the name of a shared capacity.
    bound : FileBound, optional
        None for a single GPU.
    loads : tuple of Fraction
        For each link of the topology, its load as a share of the data.
    """

    algbw_gb_s: Fraction | None
    busiest_link: tuple[str, ...] | None
    bound: FileBound | None
    loads: tuple[Fraction, ...] = field(repr=False)

    @property
    def share(self) -> Fraction | None:
        """The rate over the bound: at least this share of the optimum is reached."""
        if self.algbw_gb_s is None or self.bound is None:
            return None
        return self.algbw_gb_s / self.bound.algbw_gb_s


def measured(topology: Topology, loads: Sequence[Fraction], bound: FileBound | None) -> Measurement:
    """Measure loads, given as shares of the data, in the order of the topology's links."""
    slowest, names = slowest_of_loads(topology, loads)
    if names is None:
        return Measurement(None, None, bound, tuple(loads))
    return Measurement(1 / slowest, names, bound, tuple(loads))
