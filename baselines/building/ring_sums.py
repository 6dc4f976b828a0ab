"""Steps in which the GPUs of rings sum up their data.

Problem: each GPU of a ring has a summand. Which transfers bring the sum to one GPU, to few, or to
         all, after few hops and with little data?
Input:   the rank at each place of a ring; of many rings at once, along the first axis.
Output:  steps of senders and receivers, each of whom sends its whole sum.
Cost:    linear in the transfers.
Source:  ours, but for the sums that pass to an owner. Recursive doubling (Thakur, Rabenseifner and
         Gropp, IJHPCA 2005) has longer hops on a ring.

A GPU has one sum at a time, and sends all of it. So transfers join in a GPU only if what they bring
is disjoint, and leave a GPU only as one sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from baselines.networks.boxes import Ranks

__all__ = [
    "Fold",
    "Step",
    "all_to_all",
    "exchanged",
    "fold_of",
    "from_owner",
    "is_foldable",
    "to_owner",
]


class Step(NamedTuple):
    """Transfers that take place at once.

    Parameters
    ----------
    tails, heads : int32 array
        Ranks of the senders and receivers.
    reduce : bool
        Whether receivers add what comes in; if not, it replaces what they have.
    """

    tails: Ranks
    heads: Ranks
    reduce: bool


class Fold(NamedTuple):
    """Steps by which few GPUs get the sum of a ring, and later all the others theirs.

    Parameters
    ----------
    sums : list of Step
        Afterwards the owners have the sum.
    owners : list of int
        Their places.
    copies : list of Step
        From the owners to all others.
    """

    sums: list[Step]
    owners: list[int]
    copies: list[Step]


def to_owner(ring: Ranks, own: int) -> Iterator[Step]:
    """Yield steps in which sums pass along a ring to the place of the owner, from both sides."""
    for away in range(len(ring) // 2, 0, -1):
        sides = _sides(len(ring), away, 1 if own % 2 else -1)
        yield _step(
            ring, [own + one * away for one in sides], [own + one * (away - 1) for one in sides]
        )


def from_owner(ring: Ranks, own: int) -> Iterator[Step]:
    """Yield steps in which the owner's data pass along a ring to all, to both sides.

    Opposite of the owner they come on the side on which no sum has left (:func:`to_owner`), so that
    all links carry as much.
    """
    for away in range(1, len(ring) // 2 + 1):
        sides = _sides(len(ring), away, -1 if own % 2 else 1)
        yield _step(
            ring,
            [own + one * (away - 1) for one in sides],
            [own + one * away for one in sides],
            reduce=False,
        )


def _sides(length: int, away: int, opposite: int) -> tuple[int, ...]:
    """Return the sides of an owner on which there are GPUs; only one is opposite of it."""
    return (1, -1) if 2 * away < length else (opposite,)


def exchanged(ring: Ranks) -> Iterator[Step]:
    """Yield steps after which all GPUs of a ring have the sum, and that take the fewest hops.

    On an even ring neighbours first exchange their data, so the two GPUs of a pair have its sum.
    Each then takes the sum of the pairs on its own side from GPUs like it, until both together know
    all pairs but what the neighbours on the other side know; it comes from these at last.
    """
    length = len(ring)
    place = np.arange(length)
    if length == 2 or length % 2:
        yield all_to_all(ring)
        return
    yield _step(ring, place ^ 1, place)
    if length % 4:
        yield _from_nearer(ring)
        return
    side = np.where(place % 2, -1, 1)
    known = 1  # pairs, one beside the other
    for factor in _prime_factors(length // 4):
        far = [2 * known * times * side for times in range(1, factor)]
        yield _step(ring, np.concatenate([place + one for one in far]), np.tile(place, len(far)))
        known *= factor
    yield _step(ring, place - side, place)


def fold_of(ring: Ranks) -> Fold:
    """Return steps by which the four ends of both halves of an even ring get the sum.

    Each half sums up in its middle, and sends its sum to both of its ends. There the halves
    exchange their sums. That takes as many hops as an exchange of all, and half of the transfers.
    Short rings and odd ones exchange.
    """
    length = len(ring)
    if not is_foldable(length):
        return Fold([*exchanged(ring)], [*range(length)], [])
    half = length // 2
    inwards = [_inwards(half, i) for i in range((half - 1) // 2)]
    swapped = [] if half % 2 else [([half // 2 - 1, half // 2], [half // 2, half // 2 - 1])]
    sums = [_of_halves(ring, *pair) for pair in (*inwards, *swapped)]
    sums += [_of_halves(ring, heads, tails, reduce=False) for tails, heads in reversed(inwards)]
    sums.append(_of_halves(ring, [half - 1, half], [half, half - 1]))
    # The middle of an odd half gets the sum from one side.
    copies = [
        _of_halves(ring, tails[: len({*heads})], heads[: len({*heads})], reduce=False)
        for tails, heads in inwards
    ]
    return Fold(sums, [0, half - 1, half, length - 1], copies)


def is_foldable(length: int) -> bool:
    """Return whether a ring is even, and its halves have GPUs between their ends."""
    return length >= 6 and length % 2 == 0


def _inwards(half: int, i: int) -> tuple[list[int], list[int]]:
    """Return the places of a half that send in a step, from both ends to the middle."""
    return [i, half - 1 - i], [i + 1, half - 2 - i]


def _of_halves(
    ring: Ranks, tails: Sequence[int], heads: Sequence[int], *, reduce: bool = True
) -> Step:
    """Return a step between places of the first half, and between those of the other."""
    both = np.array([[0], [len(ring) // 2]])
    return _step(ring, (both + tails).ravel(), (both + heads).ravel(), reduce=reduce)


def _step(ring: Ranks, tails: object, heads: object, *, reduce: bool = True) -> Step:
    """Return a step between places, which go on behind the last one."""
    sender, receiver = (ring[np.asarray(one) % len(ring)].ravel() for one in (tails, heads))
    return Step(sender, receiver, reduce)


def all_to_all(ring: Ranks) -> Step:
    """Return the step in which all GPUs of a line send to each other."""
    place = np.arange(len(ring))
    tails = np.concatenate([place + far for far in range(1, len(ring))])
    return _step(ring, tails, np.tile(place, len(ring) - 1))


def _from_nearer(ring: Ranks) -> Step:
    """Return the step in which the nearer GPU of each other pair sends the sum of both."""
    length = len(ring)
    ends = [
        (min(pair, pair + 1, key=lambda one: _apart(one, place, length)), place)
        for place in range(length)
        for pair in range(0, length, 2)
        if pair != place & ~1
    ]
    return _step(ring, *zip(*ends, strict=True))


def _apart(one: int, other: int, length: int) -> int:
    """Return the distance of two places on a ring."""
    return min((one - other) % length, (other - one) % length)


def _prime_factors(number: int) -> Iterator[int]:
    """Yield the prime factors of a number, in ascending order."""
    factor = 2
    while number > 1:
        while number % factor == 0:
            yield factor
            number //= factor
        factor += 1
