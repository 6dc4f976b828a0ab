"""Schedules in which switches copy and add, for every collective.

Problem: a collective in the least time where switches marked ``multicast`` copy data and add sums.
Input:   a topology and a collective, as of :func:`forestcoll.generate.generate`.
Output:  physical trees; of an allreduce with a bound on all whose switches do so.
Cost:    that of the schedule without, and a pass over its trees; of an allreduce that its cuts do
         not prove optimal that of two or three linear programs
         (:mod:`forestcoll.core.best_allreduce`), too.
Source:  ForestColl section 5.6. Data that goes one way gains no time, as it must cross the
         bottleneck cut, whoever copies: only traffic falls. An allreduce does gain time: in a box
         the switch adds up what the GPUs send and copies the sum to all, so each sends and gets
         the data once, not nearly twice.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from forestcoll.core.best_allreduce import PROGRAM_STAGE, best_allreduce
from forestcoll.core.optimality import rate_bound
from forestcoll.core.pipeline import EXPLICIT, schedule_of
from forestcoll.core.stopwatch import Progress, Stopwatch
from forestcoll.errors import DisconnectedError
from forestcoll.multicast.copying import as_gpus, from_spanning
from forestcoll.multicast.pruning import Traffic, multicast, traffic
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.request import Request
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest

__all__ = ["InNetwork", "in_network"]

MULTICAST_STAGE = "multicast"


class InNetwork(NamedTuple):
    """What came of letting switches copy and add.

    Parameters
    ----------
    schedule : MulticastForest or Allreduce of two
    seconds : dict
        Of each stage.
    saved : dict
        "traffic" of one phase, "traffic_of_reduce" and "traffic_of_gather" of two: what runs over
        each class of links without and with; empty where other trees were made.
    """

    schedule: MulticastForest | Allreduce[MulticastForest]
    seconds: dict[str, float]
    saved: dict[str, tuple[Traffic, ...]]


def in_network(request: Request, progress: Progress | None = None) -> InNetwork:
    """Make what is asked; of an allreduce, where switches copy, the fastest that is found.

    Raises
    ------
    ForestCollError
        As of :func:`forestcoll.generate.generate`.
    """
    copying = any(node.multicast for node in request.topology.nodes)
    forwarding = replace(request, multicast=False)
    alone = replace(forwarding, program_s=0.0) if copying else forwarding
    clock = Stopwatch(progress)
    plain = schedule_of(alone, EXPLICIT, clock, routed=True)
    seconds = clock.seconds
    began = time.perf_counter()
    if isinstance(plain, Forest):
        pruned = multicast(plain)
        single = _fastest_one_way(pruned, request, progress) if copying else pruned
        seconds[MULTICAST_STAGE] = time.perf_counter() - began
        saved = {"traffic": traffic(plain, pruned)} if single is pruned else {}
        return InNetwork(single, seconds, saved)
    both = multicast(plain)
    seconds[MULTICAST_STAGE] = time.perf_counter() - began
    began = time.perf_counter()
    best = _best(_spread(both, forwarding, progress), forwarding, progress) if copying else both
    if copying:
        seconds[PROGRAM_STAGE] = time.perf_counter() - began
    saved = {
        "traffic_of_reduce": traffic(plain.reduce, both.reduce),
        "traffic_of_gather": traffic(plain.gather, both.gather),
    }
    kept = best.gather is both.gather
    return InNetwork(best, seconds, saved if kept else {})


def _fastest_one_way(
    pruned: MulticastForest, request: Request, progress: Progress | None
) -> MulticastForest:
    """Return trees with an optimum that holds though switches copy, or as good as are found.

    Where a cut proves the optimum of switches that forward, copying gains no time. Where a switch
    sends more than it receives, it may; then trees that span the switches that copy compete.
    """
    claim = pruned.optimum
    if claim is not None and claim.bound.copying:
        return pruned
    network = as_gpus(request.topology)
    weight = dict(zip(request.topology.compute, request.weights, strict=True))
    spanning = replace(
        request,
        topology=network,
        weights=tuple(weight.get(node, 0) for node in network.compute),
        root=None
        if request.root is None
        else network.rank_of[request.topology.compute[request.root]],
        multicast=False,
    )
    plain = replace(pruned, optimum=None)
    try:
        made = schedule_of(spanning, EXPLICIT, Stopwatch(progress))
    except DisconnectedError:  # some switch that copies is not reached by all roots
        return plain
    assert isinstance(made, Forest)
    best = min(plain, from_spanning(made, request.topology), key=lambda one: one.time_s_per_gb)
    return _claimed(best)


def _claimed(forest: MulticastForest) -> MulticastForest:
    """Add the optimum, if the bound for switches that copy is attained."""
    bound = rate_bound(
        forest.topology, weights=forest.weights, reduction=forest.reduction, copying=True
    )
    if forest.congestion != forest.k * bound.inverse_rate:
        return forest
    claim = Optimum(
        topology=forest.topology,
        inverse_rate=bound.inverse_rate,
        cut=tuple(bound.widest.nodes),
        k=forest.k,
        congestion=forest.congestion,
        weights=forest.weights,
        reduction=forest.reduction,
        prices=bound,
    )
    return replace(forest, optimum=claim)


def _spread(
    both: Allreduce[MulticastForest], request: Request, progress: Progress | None
) -> Allreduce[MulticastForest]:
    """Return the same, or with a tree of each GPU for each switch beside it that copies, if faster.

    Of many such switches, each should copy an equal share, whatever the number of GPUs.
    """
    nodes = request.topology.nodes
    beside = Counter(e.tail for e in request.topology.links if nodes[e.head].multicast)
    most = max((beside[gpu] for gpu in request.topology.compute), default=0)
    if not request.is_free or most < 2 or both.optimal:
        return both
    finer = _copied(replace(request, k=most, program_s=0.0), progress, both.remark)
    return min(both, finer, key=lambda one: one.time_s_per_gb)


def _best(
    both: Allreduce[MulticastForest], forwarding: Request, progress: Progress | None
) -> Allreduce[MulticastForest]:
    """Return the fastest of this, of what programs make, and of sums at a single GPU.

    The program for switches that copy makes trees that reach all of them, which those for switches
    that forward need not; nor do trees of a single root.
    """
    allowed = forwarding.program_s if forwarding.is_free else 0.0
    began = time.perf_counter()
    best = best_allreduce(
        both,
        weights=None if forwarding.anywhere else forwarding.weights,
        copying=True,
        seconds=allowed,
    )
    others = _others(forwarding, progress)
    while allowed > 0 and not best.optimal and time.perf_counter() < began + 3 * allowed:
        other = next(others, None)
        if other is None:
            break
        if other.time_s_per_gb < best.time_s_per_gb:
            best = replace(other, bound=best.bound)
    return best


def _others(request: Request, progress: Progress | None) -> Iterator[Allreduce[MulticastForest]]:
    """Yield allreduces of switches that forward, which then copy: the best, and of single roots."""
    yield _copied(request, progress, "best for switches that forward; then they copy")
    for rank in range(request.topology.num_compute) if request.anywhere else ():
        at = replace(request.over(rank), program_s=0.0)
        name = request.topology.nodes[request.topology.compute[rank]].name
        yield _copied(at, progress, f"sums at {name}, over switches that forward; then they copy")


def _copied(request: Request, progress: Progress | None, remark: str) -> Allreduce[MulticastForest]:
    made = schedule_of(request, EXPLICIT, Stopwatch(progress))
    assert isinstance(made, Allreduce)
    return replace(multicast(made), remark=remark)
