"""The best forest with k trees per root.

Problem: the least U such that k trees per root fit where each link of bandwidth b carries at most
         floor(U b) of them.
Input:   a topology and k.
Output:  U*, in trees per GB/s; the time for M gigabytes is M U* / (N k) seconds.
Cost:    log2(N k max_e b_e^2) probes of N max-flows.
Source:  ForestColl section 5.5 and appendix E.4, Algorithm 5, Theorems 11 and 12.

The flow test alone decides U*. That trees exist there needs the rounded graph to have in >= out at
its switches, which links of equal bandwidth both ways guarantee.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from forestcoll.topology.model import Topology
from tests.reference.flow import SOURCE, Capacity, integer_graph, max_flow, with_source


def fixed_k_reference(topology: Topology, k: int) -> Fraction:
    """Return U* for k trees per root (Algorithm 5; its y* is 1/U*)."""
    capacity, factor = integer_graph(topology)
    compute, widest = topology.compute, max(capacity.values())
    weakest = min(sum(c for (_, head), c in capacity.items() if head == v) for v in compute)
    low = Fraction((len(compute) - 1) * k, weakest)
    high = Fraction((len(compute) - 1) * k)
    while high - low >= Fraction(1, widest**2):
        middle = (low + high) / 2
        if _fits(rounded_down(capacity, middle), compute, k):
            high = middle
        else:
            low = middle
    # U* b_e is whole for some link, so that the denominator of U* is at most the largest b_e.
    return ((low + high) / 2).limit_denominator(widest) * factor


def rounded_down(
    bandwidth: Mapping[tuple[int, int], int | Fraction], congestion: Fraction
) -> Capacity:
    """Return floor(U b) for every link: how many trees it may carry."""
    return {link: int(congestion * b) for link, b in bandwidth.items()}


def _fits(capacity: Capacity, compute: Sequence[int], k: int) -> bool:
    network = with_source(capacity, dict.fromkeys(compute, k))
    needed = len(compute) * k
    return all(max_flow(network, SOURCE, v, limit=needed).value == needed for v in compute)
