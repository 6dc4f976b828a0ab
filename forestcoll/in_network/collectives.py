"""Collectives with in-network multicast and reduction.

Problem: a collective in the least time where switches marked ``multicast`` multicast and reduce.
Input:   a topology and a collective, as for :func:`forestcoll.generation.generate`.
Output:  physical trees; for an allreduce, with a bound on all schedules of this model.
Cost:    that of the schedule without multicast, and a pass over its trees. An allreduce that no cut
         proves optimal adds two or three linear programs
         (:mod:`forestcoll.in_network.multicast_program`). Parallel planes are merged first.
Source:  ForestColl section 5.6. A collective of one phase gains no time, because all data must
         cross the bottleneck cut, whichever node copies it; only traffic falls. An allreduce gains
         time: the switch of a box adds up the data of the GPUs and copies the sum to all. So each
         GPU sends and receives the data once, not nearly twice.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import NamedTuple

from forestcoll.allreduce.best_allreduce import PROGRAM_STAGE, Improved, best_allreduce
from forestcoll.allreduce.collective_schedule import schedule_of
from forestcoll.core.optimality import rate_bound
from forestcoll.core.partition_bound import best_known_bound
from forestcoll.core.pipeline import EXPLICIT
from forestcoll.core.stopwatch import Progress, Stopwatch
from forestcoll.errors import DisconnectedError
from forestcoll.in_network.mixing import mirrored, with_used_walks
from forestcoll.in_network.multicast_nodes import as_gpus, from_spanning
from forestcoll.in_network.plane_trees import over_planes
from forestcoll.in_network.pruning import Traffic, multicast, traffic
from forestcoll.in_network.star_trees import star_trees
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.request import Request
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.topology.symmetry.automorphism import find_orbits
from forestcoll.topology.symmetry.parallel_planes import Planes, merged_planes, unmerged

__all__ = ["InNetwork", "in_network"]

MULTICAST_STAGE = "multicast"


class InNetwork(NamedTuple):
    """A schedule with in-network multicast and reduction, with stage times and saved traffic.

    Parameters
    ----------
    seconds : dict
        Time of each stage.
    saved : dict
        "traffic" of one phase, "traffic_of_reduce" and "traffic_of_gather" of two: the traffic over
        each class of links without and with multicast; empty where other trees were made.
    """

    schedule: MulticastForest | Allreduce[MulticastForest]
    seconds: dict[str, float]
    saved: dict[str, tuple[Traffic, ...]]


def in_network(request: Request, progress: Progress | None = None) -> InNetwork:
    """Make the requested schedule; for an allreduce with multicast switches, the fastest found.

    Raises ForestCollError as :func:`forestcoll.generation.generate` does.
    """
    routed = replace(request, options=replace(request.options, routed=True))
    if request.collective == "allreduce" and any(n.multicast for n in request.topology.nodes):
        return _allreduce(routed, progress)
    clock = Stopwatch(progress)
    plain = schedule_of(routed, EXPLICIT, clock)
    began = time.perf_counter()
    made = multicast(plain)
    seconds = {**clock.seconds, MULTICAST_STAGE: time.perf_counter() - began}
    if isinstance(plain, Forest):
        assert isinstance(made, MulticastForest)
        marked = any(node.multicast for node in request.topology.nodes)
        single = _fastest_one_way(made, request, progress) if marked else made
        if request.root is not None and request.is_free:
            single = _in_one_hop(single, request.root)
        seconds[MULTICAST_STAGE] = time.perf_counter() - began
        return InNetwork(
            single, seconds, {"traffic": traffic(plain, made)} if single is made else {}
        )
    assert isinstance(made, Allreduce)
    return InNetwork(made, seconds, _saved(plain, made, None))


def _saved(
    plain: Allreduce[Forest], made: Allreduce[MulticastForest], planes: Planes | None
) -> dict[str, tuple[Traffic, ...]]:
    return {
        "traffic_of_reduce": traffic(plain.reduce, made.reduce, planes),
        "traffic_of_gather": traffic(plain.gather, made.gather, planes),
    }


def _allreduce(request: Request, progress: Progress | None) -> InNetwork:
    """Make an allreduce with multicast on merged planes, and distribute it over the real ones.

    With a given k the planes are not merged: the real links hold other whole numbers of trees.
    """
    # The programs see one switch for all parallel planes.
    planes = (merged_planes if request.is_free else unmerged)(request.topology)
    small = replace(request, topology=planes.merged)
    began = time.perf_counter()
    program = cache(partial(_improved, small, _allowed_s(small)))
    alone = _by_program_alone(small, program)
    spent = time.perf_counter() - began
    if alone is not None:
        return InNetwork(_over_planes(alone, planes), {PROGRAM_STAGE: spent}, {})
    clock = Stopwatch(progress)
    plain = schedule_of(_without_program(small), EXPLICIT, clock)
    assert isinstance(plain, Allreduce)
    seconds = clock.seconds
    began = time.perf_counter()
    both = multicast(plain)
    seconds[MULTICAST_STAGE] = time.perf_counter() - began
    began = time.perf_counter()
    best = _best(_spread(both, small, progress), small, program, spent, progress)
    seconds[PROGRAM_STAGE] = spent + time.perf_counter() - began
    began = time.perf_counter()
    laid = _over_planes(best, planes)
    seconds[MULTICAST_STAGE] += time.perf_counter() - began
    kept = best.gather is both.gather
    return InNetwork(laid, seconds, _saved(plain, both, planes) if kept else {})


def _over_planes(best: Allreduce[MulticastForest], planes: Planes) -> Allreduce[MulticastForest]:
    if planes.is_trivial:
        return best
    bound = None if best.bound is None else best.bound.over_planes(planes)
    return replace(over_planes(best, planes), bound=bound)


def _allowed_s(request: Request) -> float:
    """Return the time limit of all programs together; with a given k there are none."""
    return request.options.lp_time_limit_s if request.is_free else 0.0


def _by_program_alone(
    request: Request, program: Callable[[], Improved]
) -> Allreduce[MulticastForest] | None:
    """Return the program's schedule where a combination mostly is slower, if it attains its bound.

    That is where links pass by the multicast switches, and the two phases are not optimal in
    sequence. Pruning saves no traffic on these links, and the trees of each phase fill them.
    """
    network, nodes = request.topology, request.topology.nodes
    beside = any(not (nodes[e.tail].multicast or nodes[e.head].multicast) for e in network.links)
    if not beside or _allowed_s(request) <= 0:
        return None
    phases = (
        rate_bound(network, weights=request.weights, reduction=reduction).inverse_rate
        for reduction in (True, False)
    )
    rate = sum(request.weights) / sum(phases, Fraction(0))
    known = best_known_bound(network, multicast=True, least=rate)
    if known is None or known.algbw_gb_s <= rate:
        return None
    found = program()
    if found.schedule is None:
        return None
    bound = min(filter(None, (known, found.bound)), key=lambda one: one.algbw_gb_s)
    made = replace(found.schedule, bound=bound, remark="allreduce program")
    return made if made.optimal else None


def _fastest_one_way(
    pruned: MulticastForest, request: Request, progress: Progress | None
) -> MulticastForest:
    """Return trees with an optimum that also holds with multicast, or the best trees found.

    Where a cut proves the optimum of forwarding switches, multicast gains no time. Where a switch
    sends more than it receives, it may; then trees that span the multicast switches compete.
    """
    claim = pruned.optimum
    if claim is not None and claim.bound.multicast:
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
    )
    plain = replace(pruned, optimum=None)
    try:
        made = schedule_of(spanning, EXPLICIT, Stopwatch(progress))
    except DisconnectedError:  # some root does not reach every multicast switch
        return plain
    assert isinstance(made, Forest)
    branched = with_used_walks(from_spanning(made, request.topology)).measured()
    best = min(plain, branched, key=lambda one: one.time_s_per_gb)
    return _claimed(best)


def _in_one_hop(made: MulticastForest, root: int) -> MulticastForest:
    """Return trees of one hop from a root, or to it, if they take no longer."""
    network = made.topology.reversed() if made.reduction else made.topology
    star = star_trees(network, root)
    if star is None:
        return made
    if made.reduction:
        star = replace(mirrored(star), topology=made.topology).measured()
    if star.time_s_per_gb > made.time_s_per_gb:
        return made
    claim = made.optimum
    if claim is None or star.time_s_per_gb < made.time_s_per_gb:
        return _claimed(star)
    return replace(star, optimum=replace(claim, k=star.k, congestion=star.congestion))


def _claimed(forest: MulticastForest) -> MulticastForest:
    """Add the optimum, if the forest attains the bound for multicast switches."""
    bound = rate_bound(
        forest.topology, weights=forest.weights, reduction=forest.reduction, multicast=True
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
    """Return the same, or trees from each GPU through each adjacent multicast switch, if faster.

    With many such switches, each should copy an equal share, whatever the number of GPUs.
    """
    nodes = request.topology.nodes
    beside = Counter(e.tail for e in request.topology.links if nodes[e.head].multicast)
    most = max((beside[gpu] for gpu in request.topology.compute), default=0)
    if not request.is_free or most < 2:
        return both
    finer = _copied(_without_program(request, k=most), progress, both.remark)
    return min(both, finer, key=lambda one: one.time_s_per_gb)


def _best(
    both: Allreduce[MulticastForest],
    request: Request,
    program: Callable[[], Improved],
    spent: float,
    progress: Progress | None,
) -> Allreduce[MulticastForest]:
    """Return the fastest of this schedule, those of programs, and sums at a single GPU.

    The time limit covers all programs together, with the seconds spent; none starts after it.
    """
    allowed = _allowed_s(request)
    deadline = time.monotonic() + allowed - spent
    best = best_allreduce(both, multicast=True, program=program if allowed > 0 else None)
    others = _others(request, deadline, progress)
    while not best.optimal and time.monotonic() < deadline:
        other = next(others, None)
        if other is None:
            break
        if other.time_s_per_gb < best.time_s_per_gb:
            best = replace(other, bound=best.bound)
    return best


def _improved(request: Request, seconds: float) -> Improved:
    from forestcoll.in_network.multicast_program import improved_by_multicast  # loads HiGHS

    weights = None if request.free_root else request.weights
    return improved_by_multicast(request.topology, weights, seconds=seconds)


def _others(
    request: Request, deadline: float, progress: Progress | None
) -> Iterator[Allreduce[MulticastForest]]:
    """Yield allreduces made for forwarding switches, then pruned: the best, and of single roots.

    One root of each orbit of GPUs is enough.
    """
    seconds = max(0.0, deadline - time.monotonic())
    left = replace(request, options=replace(request.options, lp_time_limit_s=seconds))
    yield _copied(left, progress, "best for switches that forward; then they copy")
    if not request.free_root:
        return
    left_s = max(0.0, deadline - time.monotonic())
    orbit = find_orbits(request.topology, left_s, of_links=False).node
    known: set[int] = set()
    for rank, node in enumerate(request.topology.compute):
        if int(orbit[node]) in known:
            continue
        known.add(int(orbit[node]))
        at = _without_program(request.over(rank))
        name = request.topology.nodes[node].name
        yield _copied(at, progress, f"sums at {name}, over switches that forward; then they copy")


def _without_program(request: Request, *, k: int | None = None) -> Request:
    """Return the same request without programs, and with a number of trees if given."""
    asked = request.options
    options = replace(asked, lp_time_limit_s=0.0, k=asked.k if k is None else k)
    return replace(request, options=options)


def _copied(request: Request, progress: Progress | None, remark: str) -> Allreduce[MulticastForest]:
    made = schedule_of(request, EXPLICIT, Stopwatch(progress))
    assert isinstance(made, Allreduce)
    return replace(multicast(made), remark=remark)
