"""Whether two phases make an allreduce, how long both take at once, and the bound that is claimed.

Part of :func:`forestcoll.schedule.verify`. The bound is added up from its sets, prices and
potentials alone: no allreduce of its model is faster, by weak duality
(:mod:`forestcoll.problem.allreduce_bound` says why; nothing else of it is used here).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.verify.naming import fail, gpu_name
from forestcoll.schedule.verify.paths import busiest_group
from forestcoll.topology.model import Topology

__all__ = ["PhaseLoads", "Shared", "check_allreduce", "check_bound"]


@dataclass(frozen=True, slots=True)
class PhaseLoads:
    """What a phase puts on each link, in trees, and how many trees the data is shared out over."""

    trees: Sequence[int]
    whole: int


@dataclass(frozen=True, slots=True)
class Shared:
    """What was proved of two phases that share the links.

    ``time_s_per_gb`` with the first link or shared capacity that takes so long (None if nothing
    moves), the bound in GB/s if one is claimed, and whether it is attained.
    """

    time_s_per_gb: Fraction
    busiest: tuple[str, ...] | None
    bound_gb_s: Fraction | None
    optimal: bool


def check_allreduce(schedule: Allreduce[Any], reduce: PhaseLoads, gather: PhaseLoads) -> Shared:
    """What the first phase sums up the second sends out; add up loads, and check the bound."""
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
    parts = [
        Fraction(one * gather.whole + other * reduce.whole, reduce.whole * gather.whole)
        for one, other in zip(reduce.trees, gather.trees, strict=True)
    ]
    for link, part in zip(topology.links, parts, strict=True):
        if part > slowest * link.bandwidth_gb_s:
            slowest = part / link.bandwidth_gb_s
            busiest = topology.nodes[link.tail].name, topology.nodes[link.head].name
    fullest, group = busiest_group(topology, parts)
    if group is not None and fullest > slowest:
        return fullest, (group,)
    return slowest, busiest


# --- the bound ---------------------------------------------------------------------------------


def _check_claim(schedule: Allreduce[Any], bound: AllreduceBound) -> None:
    """The bound is about this network and schedules like this one."""
    nodes = bound.topology.nodes
    if bound.topology != schedule.topology:
        fail(f"the bound is that of another topology, {bound.topology.name}")
    if bound.weights and bound.weights != schedule.gather.weights:
        fail("the bound is for other weights than those of the schedule")
    copies = any(isinstance(phase, MulticastForest) for phase in schedule.phases)
    if copies and any(node.multicast for node in nodes) and not bound.copying:
        fail("the bound is for switches that only forward; in this schedule they copy and add")


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
    """Sets have GPUs, potentials are of switches that forward, and prices are from 0 up."""
    _check_sets(bound)
    _check_potentials(bound)
    _check_shared(bound)
    if any(price < 0 for one in (*bound.sets, *bound.potentials) for price in _of(one)):
        fail("the bound has a price or potential below 0")


def _check_shared(bound: AllreduceBound) -> None:
    known = {group.name for group in bound.topology.shared}
    names = [one.name for one in bound.shared]
    if len(set(names)) != len(names):
        fail("the bound gives a shared capacity two prices")
    if strangers := set(names) - known:
        fail(f"the bound prices {min(strangers)!r}, which is no shared capacity")
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
            fail("the bound gives a potential to what is no switch")
        if bound.copying and nodes[v].multicast:
            fail(f"the bound gives a potential to {nodes[v].name}, which may copy and add")


def _of(one: Any) -> tuple[Fraction, Fraction]:
    return one.gather, one.reduce


def _proved(bound: AllreduceBound) -> Fraction:
    """Add up the dual of the allreduce program."""
    nodes, links = bound.topology.nodes, bound.topology.links
    least = _least(bound)
    if least <= 0:
        fail("the bound proves nothing: some root is inside every set that has a price")
    rise = [Fraction(0)] * len(links)  # of the gathering's price
    fall = [Fraction(0)] * len(links)  # of the reduction's
    touching: list[list[int]] = [[] for _ in nodes]
    for i, link in enumerate(links):
        touching[link.tail].append(i)
        touching[link.head].append(i)
    for one in bound.sets:
        inside = set(one.nodes)
        for i in {i for v in inside for i in touching[v]}:
            enters, leaves = links[i].head in inside, links[i].tail in inside
            rise[i] += one.gather if enters and not leaves else 0
            fall[i] += one.reduce if leaves and not enters else 0
    for held in bound.potentials:
        for i in touching[held.switch]:
            into = 1 if links[i].head == held.switch else -1
            rise[i] += into * held.gather
            fall[i] -= into * held.reduce
    spent = Fraction(0)
    paid = [Fraction(0)] * len(links)  # by prices of shared capacities, for both phases
    place = {(link.tail, link.head): i for i, link in enumerate(links)}
    price = {one.name: one.price for one in bound.shared}
    for group in bound.topology.shared:
        spent += price.get(group.name, 0) * group.bandwidth_gb_s
        for ends in group.links:
            paid[place[ends]] += price.get(group.name, 0)
    for link, up, down, less in zip(links, rise, fall, paid, strict=True):
        spent += link.bandwidth_gb_s * max(up - less, down - less, Fraction(0))
    return spent / least


def _least(bound: AllreduceBound) -> Fraction:
    """Return the prices of the sets that the cheapest root is outside of; of given weights all."""
    nodes, compute = bound.topology.nodes, bound.topology.compute
    crossed = [Fraction(0)] * len(nodes)
    total = Fraction(0)
    for one in bound.sets:
        price = one.gather + one.reduce
        total += price
        for v in one.nodes:
            crossed[v] -= price
    if bound.weights:
        shares = zip(compute, bound.weights, strict=True)
        return total + sum((crossed[v] * w for v, w in shares), Fraction(0)) / sum(bound.weights)
    roots = list(compute)
    if bound.copying:
        roots += [v for v, node in enumerate(nodes) if node.is_switch and node.multicast]
    return total + min(crossed[v] for v in roots)
