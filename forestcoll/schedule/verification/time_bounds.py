"""Proof of lower bounds on time: labels, a rate and a delay, or sets that gossip.

Problem: can no schedule of a collective end before a time, by the proof that comes with it?
Input:   a time bound; nothing in it is trusted.
Output:  the time that its proof gives, or the first violation.
Cost:    one pass over the links; for a delay, two searches for least latencies.
Source:  minimum cuts over time (docs/mathematics/time-bound.md). Shares no code with the search for
         labels: links, latencies and amounts are added up here again.

Labels at T prove T if the links carry no more across the cut than must cross it: for a smaller T,
labels in proportion would carry less than must cross.
"""

from __future__ import annotations

import heapq
from fractions import Fraction

import numpy as np

from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.over_time.time_bound import (
    DelayedRate,
    GossipOverTime,
    PassesOverTime,
    TimeBound,
    TimeCut,
)
from forestcoll.problem.price_bound import PriceBound
from forestcoll.problem.rate_bound import RateBound
from forestcoll.schedule.verification.gossip import carried_in_gossip
from forestcoll.schedule.verification.naming import fail
from forestcoll.schedule.verification.pair_prices import priced_inverse_rate_of_pairs
from forestcoll.schedule.verification.passes import carried_in_passes
from forestcoll.schedule.verification.prices import priced_inverse_rate
from forestcoll.schedule.verification.rooted_gossip import carried_from_root
from forestcoll.schedule.verification.trees.allreduce import check_bound
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["proved_rate", "verify_time_bound"]

_BACKWARD = ("reduce", "reduce-scatter")
_EQUAL = ("allreduce", "all-to-all")
_ROOTED = ("broadcast", "reduce")
_WEIGHTED = ("allgather", "reduce-scatter")


def verify_time_bound(bound: TimeBound) -> Fraction:
    """Prove a lower bound on the time of a collective at a size.

    Returns
    -------
    Fraction
        The time in microseconds before which no schedule ends: that of the bound.

    Raises
    ------
    VerificationError
        If the proof is not one, or is of a smaller time than the bound claims.
    """
    _check_question(bound)
    if isinstance(bound.proof, TimeCut):
        _check_labels(bound, bound.proof.labels_us)
        return bound.time_us
    if isinstance(bound.proof, GossipOverTime):
        _check_gossip(bound, bound.proof)
        return bound.time_us
    if isinstance(bound.proof, PassesOverTime):
        _check_passes(bound, bound.proof)
        return bound.time_us
    proved = _delayed(bound, bound.proof)
    if bound.time_us > proved:
        fail(f"the bound claims {bound.time_us} us, but the rate and the delay prove {proved} us")
    return bound.time_us


def _check_question(bound: TimeBound) -> None:
    """Check that collective, weights, size and alpha are what the bound may be of."""
    gpus = bound.topology.num_compute
    if bound.collective not in (*_EQUAL, *_ROOTED, *_WEIGHTED):
        fail(f"the bound is of {bound.collective!r}, which is no known collective")
    weights = bound.weights
    if len(weights) != gpus or any(type(one) is not int or one < 0 for one in weights):
        fail(f"the bound must have a weight from 0 up for each of {gpus} GPUs")
    if not any(weights):
        fail("the bound is of weights that are all 0; there are no data")
    if bound.collective in _EQUAL and set(weights) != {1}:
        fail(f"the bound of an {bound.collective} has weights; all must be 1")
    if bound.collective in _ROOTED:
        alone = [int(rank == bound.root) for rank in range(gpus)]
        if list(weights) != alone or sum(alone) != 1:
            fail(f"the weights of a {bound.collective} must be 1 at its root and 0 elsewhere")
    if type(bound.size_bytes) is not int or bound.size_bytes < 1:
        fail(f"the bound is for {bound.size_bytes!r} bytes; a size is a whole number from 1")
    for what, number in (("alpha", bound.alpha_us), ("time", bound.time_us)):
        if not isinstance(number, Fraction) or number < 0:
            fail(f"the {what} of the bound is {number!r}; it must be a Fraction from 0 up")


def _check_labels(bound: TimeBound, labels: tuple[Fraction, ...]) -> None:
    """Check that no more is carried across the cut than must cross it."""
    nodes = bound.topology.nodes
    if len(labels) != len(nodes):
        fail(f"the cut over time has {len(labels)} labels; the network has {len(nodes)} nodes")
    for node, label in zip(nodes, labels, strict=True):
        if not isinstance(label, Fraction) or not 0 <= label <= bound.time_us:
            fail(f"the label of {node.name} is {label!r}; it must be a Fraction from 0 to the time")
    due = _due(bound, labels)
    if due <= 0:
        fail("no data must cross the cut over time; it proves nothing")
    carried = Fraction(0)
    for link, latency in zip(
        bound.topology.links, _latencies(bound.topology, bound.alpha_us), strict=True
    ):
        rise = labels[link.head] - labels[link.tail]
        if bound.collective in _BACKWARD:
            rise = -rise
        if rise > latency:
            carried += 1000 * link.bandwidth_gb_s * (rise - latency)
    if carried > due:
        fail(
            f"the links carry {carried} bytes across the cut over time, more than the {due} that "
            f"must cross it; that proves nothing"
        )


def _due(bound: TimeBound, labels: tuple[Fraction, ...]) -> Fraction:
    """Return the bytes that GPUs with the label 0 have and those with the largest need."""
    gpus = bound.topology.compute
    sources = [rank for rank, v in enumerate(gpus) if labels[v] == 0]
    sinks = [rank for rank, v in enumerate(gpus) if labels[v] == bound.time_us]
    if not sources or not sinks or bound.time_us == 0:
        fail("the cut over time needs a GPU with the label 0 and one with that of the time")
    size = Fraction(bound.size_bytes)
    if bound.collective == "allreduce":
        return size
    if bound.collective == "all-to-all":
        return size * len(sources) * len(sinks) / len(gpus)
    return size * sum(bound.weights[rank] for rank in sources) / sum(bound.weights)


def _check_gossip(bound: TimeBound, proof: GossipOverTime) -> None:
    """Check that links carry no more between the sets than they must."""
    rooted = bound.collective in _ROOTED
    if bound.collective != "allreduce" and not rooted:
        fail(f"gossip between sets bounds no {bound.collective}")
    if bound.time_us == 0:
        fail("gossip proves no time of 0")
    network, late = bound.topology, _latencies(bound.topology, bound.alpha_us)
    if bound.collective in _BACKWARD:
        of_link = {(e.tail, e.head): one for e, one in zip(network.links, late, strict=True)}
        network = network.reversed()
        late = [of_link[e.head, e.tail] for e in network.links]
    if rooted:
        root, since = network.compute[bound.weights.index(1)], proof.since_us
        if not isinstance(since, Fraction) or since < 0:
            fail(f"the moment of the gossip is {since!r}; it must be a Fraction from 0 up")
        carried = carried_from_root(
            network, late, proof.sets, root, since, bound.time_us, proof.shared
        )
    else:
        if proof.since_us != 0:
            fail("gossip of an allreduce has no moment before which others count")
        carried = carried_in_gossip(network, late, proof.sets, bound.time_us, proof.shared)
    due = (len(proof.sets) - 1) * bound.size_bytes * (1 if rooted else 2)
    if carried > due:
        fail(
            f"the links carry {carried} bytes between the sets, more than the {due} that must go "
            "between them; that proves nothing"
        )


def _check_passes(bound: TimeBound, proof: PassesOverTime) -> None:
    """Check that passes carry no more out of the sets, and into them, than they must."""
    if bound.collective != "allreduce":
        fail(f"passes between sets bound an allreduce, not a {bound.collective}")
    if bound.time_us == 0:
        fail("passes between sets prove no time of 0")
    if not isinstance(proof.reach_us, Fraction) or proof.reach_us < 0:
        fail(f"the reach of the passes is {proof.reach_us!r}; it must be a Fraction from 0 up")
    late = _latencies(bound.topology, bound.alpha_us)
    carried = carried_in_passes(bound.topology, late, proof.sets, proof.reach_us, bound.time_us)
    due = len(proof.sets) * bound.size_bytes
    if carried > due:
        fail(
            f"the links carry {carried} bytes in passes between the sets, more than the {due} that "
            "must go between them; that proves nothing"
        )


def _latencies(topology: Topology, alpha_us: Fraction) -> list[Fraction]:
    """Return the latency of each link, with alpha where a GPU sends, be it of the group or not."""
    sending = [node.kind is not NodeKind.SWITCH for node in topology.nodes]
    return [e.latency_us + (alpha_us if sending[e.tail] else 0) for e in topology.links]


def _delayed(bound: TimeBound, proof: DelayedRate) -> Fraction:
    """Return the time that a bound on the rate and its delay prove."""
    if proof.bound.topology != bound.topology:
        fail(f"the bound on the rate is of another topology, {proof.bound.topology.name}")
    fastest = proved_rate(bound, proof.bound)
    delay = _delay(bound.topology, bound.alpha_us)
    if not isinstance(proof.delay_us, Fraction) or proof.delay_us > delay:
        fail(f"the bound claims a delay of {proof.delay_us!r} us; links are of no use for {delay}")
    return proof.delay_us + bound.size_bytes / (1000 * fastest)


def proved_rate(bound: TimeBound, rate: RateBound | AllreduceBound | PriceBound) -> Fraction:
    """Return the rate that prices prove to be the largest, in GB/s.

    Raises
    ------
    VerificationError
        If they are no prices, prove nothing, or are of another collective than the bound's.
    """
    copies = any(node.multicast for node in bound.topology.nodes)
    if isinstance(rate, RateBound):
        if bound.collective in _EQUAL:
            fail(f"the bound on the rate is of trees one way, not of an {bound.collective}")
        if rate.weights != bound.weights or rate.reduction != (bound.collective in _BACKWARD):
            fail("the bound on the rate is of another collective, or of other weights")
        return sum(rate.weights) / priced_inverse_rate(rate, copies=copies)
    if isinstance(rate, PriceBound):
        if bound.collective != "all-to-all" or rate.demand is not None:
            fail(f"the bound on the rate is of chunks for pairs of GPUs, not of {bound.collective}")
        return _rate_of_pairs(rate)
    if bound.collective != "allreduce":
        fail(f"the bound on the rate is of an allreduce, not of a {bound.collective}")
    if rate.weights:
        fail("the bound on the rate is of sums at certain GPUs; it must allow all")
    if copies and not rate.multicast:
        fail(
            "the bound on the rate is for switches that only forward; some may multicast and reduce"
        )
    return check_bound(rate)


def _rate_of_pairs(rate: PriceBound) -> Fraction:
    """Return the rate of an all-to-all by its prices; a unit for each pair takes N of the size."""
    gpus = rate.topology.num_compute
    units = np.ones((gpus, gpus), dtype=np.int64) - np.eye(gpus, dtype=np.int64)
    least = priced_inverse_rate_of_pairs(rate.topology, units, rate.price)
    if least == 0:
        fail("the prices of the bound on the rate cost no pair anything; they prove nothing")
    return gpus / least


def _delay(topology: Topology, alpha_us: Fraction) -> Fraction:
    """Return the time for which no link, nor links that share a capacity, are of use."""
    latencies = _latencies(topology, alpha_us)
    ends = [(link.tail, link.head) for link in topology.links]
    before = _nearest(topology, ends, latencies)
    after = _nearest(topology, [(head, tail) for tail, head in ends], latencies)
    use = {
        (tail, head): (before[tail], latency + after[head])
        for (tail, head), latency in zip(ends, latencies, strict=True)
        if tail in before and head in after
    }
    delay = min((a + z for a, z in use.values()), default=Fraction(0))
    for group in topology.shared:
        known = [use[one] for one in group.links if one in use]
        if known:
            delay = min(delay, min(a for a, _ in known) + min(z for _, z in known))
    return delay


def _nearest(
    topology: Topology, ends: list[tuple[int, int]], latencies: list[Fraction]
) -> dict[int, Fraction]:
    """Return the least latency from any GPU of the group to each node that one reaches."""
    leaving: dict[int, list[tuple[Fraction, int]]] = {}
    for (tail, head), latency in zip(ends, latencies, strict=True):
        leaving.setdefault(tail, []).append((latency, head))
    found: dict[int, Fraction] = {}
    waiting = [(Fraction(0), gpu) for gpu in topology.compute]
    while waiting:
        away, node = heapq.heappop(waiting)
        if node not in found:
            found[node] = away
            for latency, head in leaving.get(node, ()):
                heapq.heappush(waiting, (away + latency, head))
    return found
