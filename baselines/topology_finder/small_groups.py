"""All groups of a small order, as multiplication tables.

Problem: the groups whose Cayley digraphs are to be searched.
Input:   an order below 60.
Output:  one table for each group, up to isomorphism.
Cost:    seconds to order 24; most of them for the automorphisms of groups of order 8 and 12.
Source:  cyclic extensions: a group of an order below 60 is soluble, so it has a normal subgroup K
         of prime index p. With x outside of K, it is given by the automorphism a -> x a x^-1 of K
         and the element x^p (Hall, "The Theory of Groups", 1959, section 15.3).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidParameterError

__all__ = ["LARGEST", "Table", "automorphisms", "cyclic", "groups"]

Table = npt.NDArray[np.int64]
"""Element i times element j at [i, j]; element 0 is the neutral one."""

LARGEST = 59
"""Largest order of which all groups are soluble."""


def cyclic(table: Table) -> list[int] | None:
    """Return the number that each element of a cyclic group stands for; None for other groups.

    The first element of full order is 1.
    """
    generators = np.flatnonzero(_orders(table) == len(table)).tolist()
    if not generators:
        return None
    number, element = [0] * len(table), 0
    for power in range(len(table)):
        number[element] = power
        element = int(table[element, generators[0]])
    return number


@cache
def groups(order: int) -> tuple[Table, ...]:
    """Return the groups of an order.

    Raises
    ------
    InvalidParameterError
        If the order is not from 1 to LARGEST.

    Examples
    --------
    >>> [len(groups(order)) for order in range(1, 13)]
    [1, 1, 1, 2, 1, 2, 1, 5, 2, 2, 1, 5]
    """
    if not 1 <= order <= LARGEST:
        raise InvalidParameterError(f"order is {order}; it must be from 1 to {LARGEST}")
    if order == 1:
        return (np.zeros((1, 1), dtype=np.int64),)
    found: dict[tuple[object, ...], list[Table]] = {}
    for prime in (p for p in range(2, order + 1) if order % p == 0 and _is_prime(p)):
        for normal in groups(order // prime):
            for table in _extensions(normal, prime):
                like = found.setdefault(_invariant(table), [])
                if not any(_isomorphic(table, other) for other in like):
                    like.append(table)
    return tuple(itertools.chain.from_iterable(found.values()))


def _is_prime(number: int) -> bool:
    return all(number % factor for factor in range(2, number))


def _extensions(normal: Table, prime: int) -> Iterator[Table]:
    """Yield the tables of pairs (a, i), for a x^i, with x^prime in the normal subgroup."""
    size = len(normal)
    inverse = np.argmin(normal, axis=1)
    for sigma in automorphisms(normal):
        powers = [np.arange(size)]
        for _ in range(prime):
            powers.append(sigma[powers[-1]])
        for z in range(size):
            inner = normal[normal[z], inverse[z]]
            if sigma[z] == z and (powers[prime] == inner).all():
                yield _extended(normal, powers, z, prime)


def _extended(normal: Table, powers: list[Table], z: int, prime: int) -> Table:
    """(a x^i) (b x^j) = a sigma^i(b) x^(i + j)."""
    size = len(normal)
    table = np.empty((size * prime, size * prime), dtype=np.int64)
    for i, j in itertools.product(range(prime), repeat=2):
        block = normal[:, powers[i]]
        if i + j >= prime:
            block = normal[block, z]
        place = slice(i * size, (i + 1) * size), slice(j * size, (j + 1) * size)
        table[place] = block + (i + j) % prime * size
    return table


def automorphisms(table: Table) -> list[Table]:
    """Return all automorphisms, as the images of all elements."""
    return list(_isomorphisms(table, table))


def _isomorphic(one: Table, other: Table) -> bool:
    return next(_isomorphisms(one, other), None) is not None


def _isomorphisms(one: Table, other: Table) -> Iterator[Table]:
    """Try all images of generators that have their orders."""
    orders, theirs = _orders(one), _orders(other)
    generators = _generators(one)
    choices = [np.flatnonzero(theirs == orders[g]).tolist() for g in generators]
    for images in itertools.product(*choices):
        image = _extended_to_all(one, other, generators, images)
        if image is not None:
            yield image


def _extended_to_all(
    one: Table, other: Table, generators: list[int], images: tuple[int, ...]
) -> Table | None:
    """Extend images of generators to a bijective homomorphism, if there is one."""
    image = np.full(len(one), -1, dtype=np.int64)
    image[0], waiting = 0, [0]
    while waiting:
        a = waiting.pop()
        for g, h in zip(generators, images, strict=True):
            product, wanted = one[a, g], other[image[a], h]
            if image[product] < 0:
                image[product] = wanted
                waiting.append(int(product))
            elif image[product] != wanted:
                return None
    return image if len(set(image.tolist())) == len(one) else None


def _generators(table: Table) -> list[int]:
    """Return generators, each the first one outside of what those before it generate."""
    chosen: list[int] = []
    reached = {0}
    while len(reached) < len(table):
        orders = _orders(table)
        outside = [a for a in range(len(table)) if a not in reached]
        chosen.append(max(outside, key=lambda a: (orders[a], -a)))
        reached = _closure(table, chosen)
    return chosen


def _closure(table: Table, generators: list[int]) -> set[int]:
    reached, waiting = {0}, [0]
    while waiting:
        a = waiting.pop()
        for g in generators:
            product = int(table[a, g])
            if product not in reached:
                reached.add(product)
                waiting.append(product)
    return reached


def _orders(table: Table) -> Table:
    orders = np.ones(len(table), dtype=np.int64)
    power = np.arange(len(table))
    while (power != 0).any():
        orders[power != 0] += 1
        power = np.where(power != 0, table[power, np.arange(len(table))], 0)
    return orders


def _invariant(table: Table) -> tuple[object, ...]:
    """Return orders of elements, with how many elements each commutes with."""
    commutes = (table == table.T).sum(axis=1)
    return tuple(sorted(zip(_orders(table).tolist(), commutes.tolist(), strict=True)))
