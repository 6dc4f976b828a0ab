"""Closed forms of the all-to-all rate: bounds by degree, and rates of Cartesian products.

Source:  both follow from the dual of the program in Efficient Direct-Connect Topologies (NSDI
         2025), section 6.2, and the first gives every "Theoretical Bound" of its table 7. At equal
         prices the bound on f is d N over the sum of all distances, and at most d^t GPUs are t hops
         from a GPU of degree d (the Moore bound). For a product G [] H the prices of G alone prove
         f <= f(G) / |H|: each copy of G carries the pairs of its GPUs once for every place in H.
         Routing first in G, then in H attains the lesser of the two bounds.
"""

from __future__ import annotations

from fractions import Fraction

from forestcoll.errors import InvalidParameterError

__all__ = ["degree_bound", "product_rate"]


def degree_bound(gpus: int, degree: int) -> Fraction:
    """Return an upper bound on the all-to-all rate, in links, given the out-degree of GPUs.

    Examples
    --------
    >>> degree_bound(32, 4), degree_bound(1024, 4)
    (Fraction(4, 69), Fraction(4, 4667))
    """
    if gpus < 2 or degree < 1:
        raise InvalidParameterError(
            f"{gpus} GPUs of degree {degree}: a rate needs at least 2 GPUs and a degree of 1"
        )
    left, hops, total = gpus - 1, 0, 0
    while left > 0:
        hops += 1
        reached = min(left, degree**hops)
        total += hops * reached
        left -= reached
    return Fraction(degree, total)


def product_rate(first: Fraction, gpus: int, second: Fraction, others: int) -> Fraction:
    """Return the rate of the Cartesian product of two networks with these rates and sizes.

    Parameters
    ----------
    first, second : Fraction
        All-to-all rates, in GB/s or any one unit.
    gpus, others : int
        Numbers of GPUs of the first and the second network.

    Examples
    --------
    A torus of 3 x 3 is the product of two rings of 3 with rate 1.

    >>> product_rate(Fraction(1), 3, Fraction(1), 3)
    Fraction(1, 3)
    """
    return min(first / others, second / gpus)
