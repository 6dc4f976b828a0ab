"""The throughput optimum by bisection.

Problem: 1/x* = max over node sets S that miss a GPU of |GPUs in S| / B+(S).
Input:   a topology in which every GPU reaches every other; no balance is asked of any node.
Output:  the exact fraction, a cut that attains it, and the least k with U = k / x*.
Cost:    log2(N min_v B-(v)^2) probes of N max-flows.
Source:  ForestColl section 5.2, Algorithm 1, appendix E.1 with Theorem 1. The paper leaves
         the cut implicit; here one more probe just below 1/x* finds it.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from forestcoll.problem.optimum import Optimum
from forestcoll.topology.model import Topology
from tests.reference.flow import SOURCE, Capacity, integer_graph, max_flow, with_source


def optimum_reference(topology: Topology) -> Optimum:
    """Return the optimum of an allgather with its bottleneck cut."""
    capacity, factor = integer_graph(topology)
    inverse_rate = _bisect(capacity, topology.compute)
    # Appendix E.1: with 1/x* = p/q in lowest terms, U = p / gcd(q, {b_e}) and k = U x*.
    divisor = math.gcd(inverse_rate.denominator, *capacity.values())
    congestion = Fraction(inverse_rate.numerator, divisor)
    return Optimum(
        topology=topology,
        inverse_rate=inverse_rate * factor,
        cut=_bottleneck(capacity, topology, inverse_rate),
        k=int(congestion / inverse_rate),
        congestion=congestion * factor,
    )


def starved_cut(
    capacity: Capacity, compute: Sequence[int], inverse_rate: Fraction
) -> frozenset[int] | None:
    """Return S with |GPUs in S| / B+(S) > ``inverse_rate``, or None if there is none.

    Theorem 1: there is none if and only if every GPU gets a flow of N x from a source that feeds x
    into each. With 1/x = p/q, all capacities are multiplied by p to stay whole.
    """
    scaled = {link: room * inverse_rate.numerator for link, room in capacity.items()}
    network = with_source(scaled, dict.fromkeys(compute, inverse_rate.denominator))
    for v in compute:
        flow = max_flow(network, SOURCE, v)
        if flow.value < len(compute) * inverse_rate.denominator:
            return flow.reached - {SOURCE}
    return None


def _weakest(capacity: Capacity, compute: Sequence[int]) -> tuple[int, int]:
    """Return the least capacity into a GPU, and that GPU."""
    return min((sum(c for (_, head), c in capacity.items() if head == v), v) for v in compute)


def _bisect(capacity: Capacity, compute: Sequence[int]) -> Fraction:
    """Algorithm 1."""
    weakest, _ = _weakest(capacity, compute)
    low = Fraction(len(compute) - 1, weakest)
    high = Fraction(len(compute) - 1)
    while high - low >= Fraction(1, weakest**2):
        middle = (low + high) / 2
        if starved_cut(capacity, compute, middle) is None:
            high = middle
        else:
            low = middle
    # Two fractions with denominators up to B differ by 1/B^2 or more, so only 1/x* fits here.
    return ((low + high) / 2).limit_denominator(weakest)


def _bottleneck(capacity: Capacity, topology: Topology, inverse_rate: Fraction) -> tuple[int, ...]:
    """Return a cut whose ratio is 1/x*."""
    weakest, loser = _weakest(capacity, topology.compute)
    if inverse_rate == Fraction(topology.num_compute - 1, weakest):
        return tuple(v for v in range(len(topology.nodes)) if v != loser)
    # Above (N-1)/weakest a cut's denominator is below weakest: only 1/x* lies above this probe.
    below = inverse_rate - Fraction(1, 2 * weakest**2)
    cut = starved_cut(capacity, topology.compute, below)
    assert cut is not None, "Theorem 1: a smaller 1/x than the optimum starves a GPU"
    return tuple(sorted(cut))
