"""Proof of an allreduce of two phases: their match, their joint time, and the claimed bound.

Part of :func:`forestcoll.schedule.verify`. The bound is added up from its sets, prices and
potentials alone: no allreduce of its model is faster, by weak duality
(:mod:`forestcoll.problem.allreduce_bound` says why; nothing else of it is used here).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.problem.allreduce_bound import AllreduceBound, PricedSet
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.verification.naming import fail, gpu_name
from forestcoll.schedule.verification.paths import busiest_group
from forestcoll.topology.model import Topology

__all__ = ["PhaseLoads", "Shared", "check_allreduce", "check_bound"]

_OPEN_RUNS = 128


@dataclass(frozen=True, slots=True)
class PhaseLoads:
    """Load of each link in a phase, in trees, and the number of trees that share the data."""

    trees: Sequence[int]
    whole: int


@dataclass(frozen=True, slots=True)
class Shared:
    """The proved facts about two phases that share the links.

    ``time_s_per_gb`` with the first link or shared capacity that takes so long (None if nothing
    moves), the bound in GB/s if one is claimed, and whether it is attained.
    """

    time_s_per_gb: Fraction
    busiest: tuple[str, ...] | None
    bound_gb_s: Fraction | None
    optimal: bool


def check_allreduce(schedule: Allreduce[Any], reduce: PhaseLoads, gather: PhaseLoads) -> Shared:
    """Check that the second phase gathers the sums of the first; add up loads; check the bound."""
    _check_parts(schedule)
    time, busiest = _time(schedule.topology, reduce, gather)
    bound = schedule.bound
    if bound is None:
        return Shared(time, busiest, None, optimal=time == 0)
    _check_claim(schedule, bound)
    proved = check_bound(bound)
    if time * proved < 1:
        fail(f"the schedule takes {time} s per GB, less than its bound of {proved} GB/s admits")
    return Shared(time, busiest, proved, optimal=time * proved == 1)


def _check_parts(schedule: Allreduce[Any]) -> None:
    reduce, gather = schedule.phases
    if reduce.topology != gather.topology:
        fail(
            f"the phases run on different topologies, {reduce.topology.name} and "
            f"{gather.topology.name}"
        )
    for name, phase, is_reduction in (("reduce", reduce, True), ("gather", gather, False)):
        if phase.reduction != is_reduction:
            does, due = phase.collective, "sum up" if is_reduction else "send out"
            fail(f"phase {name} is a forest that does {does}; it must {due}")
    for rank, (summed, sent) in enumerate(zip(reduce.weights, gather.weights, strict=True)):
        if summed != sent:
            fail(
                f"{gpu_name(reduce, rank)} gets the sums of {summed} parts, but sends out {sent}; "
                f"the weights of both phases must be equal"
            )


def _time(
    topology: Topology, reduce: PhaseLoads, gather: PhaseLoads
) -> tuple[Fraction, tuple[str, ...] | None]:
    """Return the time of the slowest link, which carries its trees of both phases.

    A shared capacity carries those of all its links.
    """
    slowest: Fraction = Fraction(0)
    busiest: tuple[str, ...] | None = None
    most: dict[int, int] = {}  # one for each bandwidth: few fractions are compared
    whole = reduce.whole * gather.whole
    parts = [
        int(one) * gather.whole + int(other) * reduce.whole
        for one, other in zip(reduce.trees, gather.trees, strict=True)
    ]
    for link, part, width in zip(topology.links, parts, topology.whole_bandwidths[1], strict=True):
        if part <= most.get(width, 0):
            continue
        most[width] = part
        time = Fraction(part, whole) / link.bandwidth_gb_s
        if time > slowest:
            slowest = time
            busiest = topology.nodes[link.tail].name, topology.nodes[link.head].name
    fullest, group = busiest_group(topology, parts)
    if group is not None and fullest / whole > slowest:
        return fullest / whole, (group,)
    return slowest, busiest


# --- the bound ---------------------------------------------------------------------------------


def _check_claim(schedule: Allreduce[Any], bound: AllreduceBound) -> None:
    """Check that the bound covers this network and schedules like this one."""
    nodes = bound.topology.nodes
    if bound.topology != schedule.topology:
        fail(f"the bound is that of another topology, {bound.topology.name}")
    if bound.weights and bound.weights != schedule.gather.weights:
        fail("the bound is for other weights than those of the schedule")
    copies = any(isinstance(phase, MulticastForest) for phase in schedule.phases)
    if copies and any(node.multicast for node in nodes) and not bound.multicast:
        fail(
            "the bound is for switches that only forward; "
            "in this schedule they multicast and reduce"
        )


def check_bound(bound: AllreduceBound) -> Fraction:
    """Return the rate that a bound claims and its prices prove.

    Raises
    ------
    VerificationError
        If its numbers cannot be prices, or prove another rate.
    """
    _check_numbers(bound)
    proved = _proved(bound)
    if bound.algbw_gb_s != proved:
        fail(f"the bound claims {bound.algbw_gb_s} GB/s, but its prices prove {proved}")
    return proved


def _check_numbers(bound: AllreduceBound) -> None:
    """Check that sets have GPUs, potentials are at forwarding switches, no price is negative."""
    _check_sets(bound)
    _check_potentials(bound)
    _check_shared(bound)
    if any(price.numerator < 0 for one in _priced(bound) for price in _of(one)):
        fail("the bound has a price or potential below 0")


def _check_shared(bound: AllreduceBound) -> None:
    known = {group.name for group in bound.topology.shared}
    names = [one.name for one in bound.shared]
    if len(set(names)) != len(names):
        fail("the bound gives a shared capacity two prices")
    if strangers := set(names) - known:
        fail(f"the bound prices {min(strangers)!r}, which is not a shared capacity")
    if any(one.price < 0 for one in bound.shared):
        fail("the bound has a price of a shared capacity below 0")


def _check_sets(bound: AllreduceBound) -> None:
    nodes = bound.topology.nodes
    for one in bound.sets:
        if not one.nodes or not 0 <= min(one.nodes) <= max(one.nodes) < len(nodes):
            fail(f"the bound names a set of nodes that are not all among 0 to {len(nodes) - 1}")
        if len(set(one.nodes)) != len(one.nodes):
            fail("the bound names a set with a node twice")
        if all(nodes[v].is_switch for v in one.nodes):
            fail("the bound names a set without a GPU, which data need not enter")


def _check_potentials(bound: AllreduceBound) -> None:
    nodes = bound.topology.nodes
    switches = [one.switch for one in bound.potentials]
    if len(set(switches)) != len(switches):
        fail("the bound gives a switch two potentials")
    for v in switches:
        if not 0 <= v < len(nodes) or not nodes[v].is_switch:
            fail("the bound gives a potential to what is not a switch")
        if bound.multicast and nodes[v].multicast:
            fail(f"the bound gives a potential to {nodes[v].name}, which may multicast and reduce")


def _of(one: Any) -> tuple[Fraction, Fraction]:
    return one.gather, one.reduce


def _proved(bound: AllreduceBound) -> Fraction:
    """Add up the dual of the allreduce program, in whole units of the prices and bandwidths."""
    least = _least(bound)
    if least <= 0:
        fail("the bound proves nothing: some root is inside every set that has a price")
    unit = math.lcm(
        *(price.denominator for one in _priced(bound) for price in _of(one)),
        *(one.price.denominator for one in bound.shared),
    )
    rise, fall = _rises(bound, unit)
    share, widths = bound.topology.whole_bandwidths
    limits, paid = _charged(bound, unit)
    spent = sum(
        max(up - less, down - less, 0) * width
        for width, up, down, less in zip(widths, rise.tolist(), fall.tolist(), paid, strict=True)
    )
    return (limits + Fraction(spent, unit * share)) / least


def _charged(bound: AllreduceBound, unit: int) -> tuple[Fraction, list[int]]:
    """Return the cost of shared capacities, and the price that they add to each link."""
    links, limits = bound.topology.links, Fraction(0)
    paid = [0] * len(links)
    place = {(link.tail, link.head): i for i, link in enumerate(links)}
    price = {one.name: one.price for one in bound.shared}
    for group in bound.topology.shared:
        each = price.get(group.name, Fraction(0))
        limits += each * group.bandwidth_gb_s
        for ends in group.links:
            paid[place[ends]] += _parts(each, unit)
    return limits, paid


def _rises(bound: AllreduceBound, unit: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the price of each link in the gathering and in the reduction, in units."""
    nodes, links = bound.topology.nodes, bound.topology.links
    most = sum(_parts(price, unit) for one in _priced(bound) for price in _of(one))
    kind = np.dtype(np.int64 if most < 2**62 else object)  # no sum is beyond that of all prices
    tail, head = bound.topology.link_ends
    rise, fall = np.zeros(len(links), dtype=kind), np.zeros(len(links), dtype=kind)
    for sets in _apart(bound):
        where = [0] * len(nodes)  # 0 outside of all
        # what enters a set leaves its rest, and the other way round
        crossing = [(0, 0, 0, 0)]  # prices inward and outward, of the gathering and the reduction
        for number, (members, one, is_rest) in enumerate(sets, 1):
            gather, reduce = _parts(one.gather, unit), _parts(one.reduce, unit)
            crossing.append((0, reduce, gather, 0) if is_rest else (gather, 0, 0, reduce))
            for v in members:
                where[v] = number
        inward, outward = np.array(crossing, dtype=kind).reshape(-1, 2, 2).transpose(1, 2, 0)
        place = np.array(where)
        near, far = place[tail], place[head]
        crosses = near != far
        rise += crosses * (inward[0, far] + outward[0, near])
        fall += crosses * (inward[1, far] + outward[1, near])
    potentials = np.zeros((2, len(nodes)), dtype=kind)
    for held in bound.potentials:
        potentials[:, held.switch] = _parts(held.gather, unit), _parts(held.reduce, unit)
    rise += potentials[0, head] - potentials[0, tail]
    fall += potentials[1, tail] - potentials[1, head]
    return rise, fall


def _apart(bound: AllreduceBound) -> list[list[tuple[list[int], PricedSet, bool]]]:
    """Gather the sets in runs without a common node: nodes, set, and whether they are its rest.

    A set with most of the nodes is replaced by its complement. Few runs mean few passes over the
    links; only the last ``_OPEN_RUNS`` are searched for room.
    """
    everything = range(len(bound.topology.nodes))
    runs: list[list[tuple[list[int], PricedSet, bool]]] = []
    taken: list[int] = []  # bit v: some set of the run holds node v
    for one in bound.sets:
        is_rest = 2 * len(one.nodes) > len(everything)
        members = sorted({*everything} - {*one.nodes}) if is_rest else list(one.nodes)
        bits = sum(1 << v for v in members)
        room = [i for i in range(len(runs))[-_OPEN_RUNS:] if not taken[i] & bits]
        if room:
            runs[room[0]].append((members, one, is_rest))
            taken[room[0]] |= bits
        else:
            runs.append([(members, one, is_rest)])
            taken.append(bits)
    return runs


def _parts(price: Fraction, unit: int) -> int:
    """Return a price as so many parts of the unit, a multiple of its denominator."""
    return price.numerator * (unit // price.denominator)


def _priced(bound: AllreduceBound) -> tuple[Any, ...]:
    return (*bound.sets, *bound.potentials)


def _least(bound: AllreduceBound) -> Fraction:
    """Return the prices of the sets that the cheapest root is outside of; of given weights all."""
    nodes, compute = bound.topology.nodes, bound.topology.compute
    unit = math.lcm(*(price.denominator for one in bound.sets for price in _of(one)))
    crossed, total = [0] * len(nodes), 0
    for one in bound.sets:
        price = _parts(one.gather, unit) + _parts(one.reduce, unit)
        total += price
        for v in one.nodes:
            crossed[v] -= price
    if bound.weights:
        shares = zip(compute, bound.weights, strict=True)
        within = sum(crossed[v] * w for v, w in shares)
        return Fraction(total * sum(bound.weights) + within, unit * sum(bound.weights))
    roots = list(compute)
    if bound.multicast:
        roots += [v for v, node in enumerate(nodes) if node.is_switch and node.multicast]
    return Fraction(total + min(crossed[v] for v in roots), unit)
