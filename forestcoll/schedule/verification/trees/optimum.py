"""Proof of the optimum that a forest claims, from its cut or its prices."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.protocols import Claims
from forestcoll.schedule.verification.naming import fail
from forestcoll.schedule.verification.prices import priced_inverse_rate
from forestcoll.topology.model import Topology

__all__ = ["check_optimum"]


def check_optimum(forest: Claims, claim: Optimum, congestion: Fraction) -> Literal[True]:
    """Check that the claimed cut or prices prove the bound, and that the forest attains it."""
    if claim.topology != forest.topology:
        fail(f"the optimum claimed is that of another topology, {claim.topology.name}")
    if (claim.weights, claim.reduction) != (forest.weights, forest.reduction):
        fail(
            f"the optimum claimed is that of another collective: {claim.collective}, where the "
            f"forest is to do {forest.collective}, or of other weights"
        )
    if claim.prices is None:
        bound, proof = _cut_ratio(forest, claim.cut), "cut proves"
    else:
        bound, proof = priced_inverse_rate(claim.prices, copies=_copies(forest)), "prices prove"
        if (claim.prices.topology, claim.prices.weights, claim.prices.reduction) != (
            forest.topology,
            forest.weights,
            forest.reduction,
        ):
            fail("the prices of the optimum are of another network or collective")
    if claim.inverse_rate != bound:
        fail(f"the optimum claims 1/x* = {claim.inverse_rate} s per GB, but its {proof} {bound}")
    least = _least_trees(forest.topology, bound)
    if claim.prices is None and claim.k != least:
        fail(
            f"the optimum claims k = {claim.k} trees per root; the least that fills every "
            f"link with whole trees is {least}"
        )
    if claim.congestion != claim.k * bound:
        fail(
            f"the optimum claims k = {claim.k} and congestion {claim.congestion}, but k / x* is "
            f"{claim.k * bound}"
        )
    for what, value in (("measured", congestion), ("claimed", forest.congestion)):
        if value != forest.k * bound:
            fail(
                f"the forest is claimed to be optimal, but its {what} congestion is {value}; "
                f"{forest.k} trees per root are optimal at k / x* = {forest.k * bound}"
            )
    return True


def _copies(forest: Claims) -> bool:
    """Whether its switches may multicast or reduce; then no bound may assume otherwise."""
    return isinstance(forest, MulticastForest)


def _least_trees(topology: Topology, bound: Fraction) -> int:
    """Return the least k for which every link carries a whole number k / x* b of trees."""
    under, widths = topology.whole_bandwidths
    return math.lcm(*{(bound * Fraction(width, under)).denominator for width in set(widths)})


def _cut_ratio(forest: Claims, cut: Iterable[int]) -> Fraction:
    """Return w(S) / B+(S) in s per GB for a node set S that misses at least one GPU.

    In a reduction the sums for the GPUs inside must enter: w(S) / B-(S).
    """
    topology, inside = forest.topology, set(cut)
    if not inside <= set(range(len(topology.nodes))):
        fail(f"the optimum's cut names nodes outside 0 to {len(topology.nodes) - 1}")
    if inside.issuperset(topology.compute):
        fail("the optimum's cut contains every GPU; it must miss at least one to bound anything")
    bandwidth, (under, widths) = 0, topology.whole_bandwidths
    for link, width in zip(topology.links, widths, strict=True):
        start, end = (link.head, link.tail) if forest.reduction else (link.tail, link.head)
        if start in inside and end not in inside:
            bandwidth += width
    if bandwidth == 0:
        verb = "enters" if forest.reduction else "leaves"
        fail(f"the optimum's cut has no link that {verb} it, so it proves nothing")
    ranks = zip(topology.compute, forest.weights, strict=True)
    return sum(weight for gpu, weight in ranks if gpu in inside) * Fraction(under, bandwidth)
