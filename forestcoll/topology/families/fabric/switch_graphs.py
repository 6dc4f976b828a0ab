"""Graphs of switches by number: dragonfly, HyperX, Slim Fly and torus.

Problem: the pairs of switches that are linked; boxes or GPUs are put on the switches elsewhere.
Input:   the parameters of the graph.
Output:  pairs of numbers, each pair once for each cable.
Cost:    linear in the pairs; Slim Fly q^3.
Source:  Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA 2008); Ahn et al.,
         HyperX (SC 2009); Besta and Hoefler, Slim Fly (SC 2014), after McKay, Miller and Siran.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.families.fabric.galois_fields import GaloisField, prime_power

__all__ = ["global_pairs", "hyperx_pairs", "slim_fly_pairs", "torus_pairs"]

Pair = tuple[int, int]


def global_pairs(groups: int, routers: int, links: int) -> Iterator[tuple[Pair, Pair]]:
    """Yield the links between groups, as pairs of (group, router).

    Every router has ``links`` ports to other groups. The ports of a group go around the other
    groups in turn, as often as all of them get one; ports left over are unused. So every two groups
    have equally many links, and every group looks the same.

    Raises
    ------
    InvalidTopologyError
        If a group has fewer ports than there are other groups.
    """
    if routers * links < groups - 1:
        raise InvalidTopologyError(
            f"{routers} switches of a group with {links} links each reach {routers * links} other "
            f"groups, not {groups - 1}; ask for more links (globals) or fewer groups"
        )
    rounds = routers * links // (groups - 1) if groups > 1 else 0
    for turn, group, step in itertools.product(range(rounds), range(groups), range(groups - 1)):
        other = (group + step + 1) % groups
        if group < other:
            ports = (turn * (groups - 1) + step, turn * (groups - 1) + groups - 2 - step)
            yield (group, ports[0] // links), (other, ports[1] // links)


def hyperx_pairs(dims: tuple[int, ...]) -> Iterator[Pair]:
    """Yield the pairs of places of a grid, by number, that differ in one coordinate."""
    stride = 1
    number = _size(dims)
    for length in reversed(dims):
        for place in range(number):
            for step in range(1, length - place // stride % length):
                yield place, place + step * stride
        stride *= length


def torus_pairs(dims: tuple[int, ...], wrap: bool | tuple[bool, ...] = True) -> Iterator[Pair]:
    """Yield the pairs of neighbours in a grid, by number; a dimension of 2 has one link.

    Raises
    ------
    InvalidTopologyError
        If ``wrap`` is for another number of dimensions.
    """
    wraps = wrap if isinstance(wrap, tuple) else (wrap,) * len(dims)
    if len(wraps) != len(dims):
        raise InvalidTopologyError(
            f"torus: wrap is for {len(wraps)} dimensions and dims for {len(dims)}; give one of "
            f"true and false for all, or for each"
        )
    stride = 1
    number = _size(dims)
    for length, closed in zip(reversed(dims), reversed(wraps), strict=True):
        for place in range(number):
            at = place // stride % length
            if at + 1 < length:
                yield place, place + stride
            elif closed and length > 2:
                yield place, place - at * stride
        stride *= length


def slim_fly_pairs(q: int) -> Iterator[Pair]:
    """Yield the links of the McKay-Miller-Siran graph of 2 q^2 nodes.

    Node x q + y is (0, x, y), and q^2 + m q + c is (1, m, c). With q = 4 w + delta the degree is
    (3 q - delta) / 2, and the diameter 2.

    Raises
    ------
    InvalidTopologyError
        If q is no prime power, or 2.

    Examples
    --------
    >>> len(list(slim_fly_pairs(5)))  # 50 nodes of degree 7: the Hoffman-Singleton graph
    175
    """
    if prime_power(q) is None or q == 2:
        raise InvalidTopologyError(
            f"slim fly: q is {q}; it must be a prime power from 3, such as 3, 4, 5, 7, 8, 9, 11"
        )
    field = GaloisField.of(q)
    own = _generators(field, q)
    for side, of_side in enumerate(own):
        for row, y, z in itertools.product(range(q), range(q), range(q)):
            if y < z and field.minus(y, z) in of_side:
                yield (side * q + row) * q + y, (side * q + row) * q + z
    for m, x in itertools.product(range(q), range(q)):
        product = field.times(m, x)
        for c in range(q):
            yield x * q + field.plus(product, c), (q + m) * q + c


def _generators(field: GaloisField, q: int) -> tuple[frozenset[int], frozenset[int]]:
    """Return the differences that link nodes of one row, for the two halves of the graph."""
    powers = field.powers
    if q % 4 != 3:  # even powers and odd powers; the q - 1 powers of q = 4 w repeat after them
        exponents = range(0, q - 1, 2), range(1, q, 2)
        first, second = ([powers[e % (q - 1)] for e in half] for half in exponents)
        return frozenset(first), frozenset(second)
    w = (q + 1) // 4
    first = [*range(0, 2 * w - 1, 2), *range(2 * w - 1, 4 * w - 2, 2)]
    second = [*range(1, 2 * w, 2), *range(2 * w, 4 * w - 1, 2)]
    return frozenset(powers[e] for e in first), frozenset(powers[e % (q - 1)] for e in second)


def _size(dims: tuple[int, ...]) -> int:
    number = 1
    for length in dims:
        number *= length
    return number
