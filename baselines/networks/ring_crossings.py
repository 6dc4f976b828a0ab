"""Crossings of rings from one box to the next, with the cheapest of each.

Problem: over all pairs of a GPU that leaves a box (tail) and one that enters the next (head), find
         for each head the tail of least price.
Input:   the load of a crossing on each link; prices of its parts.
Output:  for each head the least price and its tail.
Cost:    tails + heads instead of tails x heads, where the links of a crossing are those of its tail
         and those of its head, as with a NIC for each GPU. Otherwise tails x heads. Two of each,
         where all tails but one have the same price so far.
Source:  ours.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

__all__ = ["MOST_HOPS", "Crossings", "Part"]

MOST_HOPS = 2**16
"""More hops than any crossing; hops break ties between equal loads."""

_Ends = tuple[int, int]
_Shares = Mapping[_Ends, int]


@dataclass(eq=False, slots=True)
class Part:
    """The links of a crossing up to some node, or from there on.

    Parameters
    ----------
    shares : mapping
        Load of a ring on each link.
    hops : int
        Links of a path.
    price : int
        Set by the layout, from the loads and the hops.
    place : int
        The place of its GPU among those of its fan.
    ranking : list of (int, int)
        The price and the place of each of these, in ascending order.
    """

    shares: _Shares
    hops: int
    price: int = 0
    place: int = 0
    ranking: list[tuple[int, int]] = field(default_factory=list)

    def reprice(self, price: int) -> None:
        """Set the price, and the rank."""
        del self.ranking[bisect_left(self.ranking, (self.price, self.place))]
        self.price = price
        insort(self.ranking, (price, self.place))


@dataclass(frozen=True, slots=True)
class _Fan:
    """Tails and heads between which every crossing consists of a tail's part and a head's part.

    ``first`` is the place of the first tail among all of the box, if some tails are left out.
    """

    tails: dict[int, Part]
    heads: dict[int, Part]
    first: int | None = None

    def rank(self) -> None:
        """Make the rankings of tails and heads."""
        for side in (self.tails, self.heads):
            ranking = [(part.price, place) for place, part in enumerate(side.values())]
            for place, part in enumerate(side.values()):
                part.place, part.ranking = place, ranking
            ranking.sort()


class Crossings:
    """All crossings from a box to the next.

    Parameters
    ----------
    outs, ins : sequence of int
        GPUs where rings can leave the box, and enter the next.
    hops : callable
        Number of links from a GPU to another; 0 if switches do not lead there.
    shares : callable
        Load of a ring on each link, over a hop.
    onward : callable
        The only node after a GPU on the way to another, if there is one; the way from there on must
        be that of all GPUs before it.
    kind : callable
        Crossings between GPUs of equal kinds have as many hops, and go on to the same node.
    """

    def __init__(
        self,
        outs: Sequence[int],
        ins: Sequence[int],
        hops: Callable[[int, int], int],
        shares: Callable[[_Ends], _Shares],
        onward: Callable[[int, int], int | None],
        kind: Callable[[int], Hashable],
    ) -> None:
        self._place = {gpu: place for place, gpu in enumerate(outs)}
        self._order = {gpu: place for place, gpu in enumerate(ins)}
        some, tails_of = _one_of_each(outs, kind), dict[Hashable, tuple[int, ...]]()
        for head in _one_of_each(ins, kind).values():
            joined = {one for one, tail in some.items() if hops(tail, head)}
            tails_of[kind(head)] = tuple(tail for tail in outs if kind(tail) in joined)
        alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for head in ins:
            alike[tails_of[kind(head)]].append(head)
        self._fans: list[_Fan] = []
        for tails, heads in alike.items():
            ends = _one_of_each(tails, kind).values(), _one_of_each(heads, kind).values()
            switches = {onward(tail, head) for tail in ends[0] for head in ends[1]}
            if len(switches) == 1 and (switch := switches.pop()) is not None:
                self._fans.append(_fan_of_switch(tails, heads, hops, shares, switch))
            elif tails:
                self._fans += _fans(tails, heads, hops, shares)
        for fan in self._fans:
            fan.rank()

    def narrowed(self, *, heads: bool) -> Crossings:
        """Return the crossings with the two tails of least price of each fan, by present prices.

        These are enough if all tails have the same price so far, except one that may be dearer.
        With ``heads``, only two heads are kept, too.
        """
        found = copy(self)
        found._fans = [
            _Fan(
                _two_cheapest(fan.tails),
                _two_cheapest(fan.heads) if heads else fan.heads,
                self._place[next(iter(fan.tails))],
            )
            for fan in self._fans
        ]
        return found

    @property
    def tails(self) -> frozenset[int]:
        """Every tail of a crossing."""
        return frozenset(tail for fan in self._fans for tail in fan.tails)

    @property
    def parts(self) -> Iterator[Part]:
        """Every part of a crossing once."""
        for fan in self._fans:
            yield from fan.tails.values()
            yield from fan.heads.values()

    def cheapest(self, left: Mapping[int, tuple[int, object]]) -> list[tuple[int, int, int]]:
        """Return the least price with which each head is reached, the tail, and the head.

        Of equal tails the first. Heads are in the order in which the tails reach them.

        Parameters
        ----------
        left : mapping
            The price up to each tail that can be used, and anything else.
        """
        found: list[tuple[int, list[tuple[int, int, int]]]] = []
        for fan in self._fans:
            tails = [tail for tail in fan.tails if tail in left]
            if not tails:
                continue
            prices = [left[tail][0] + fan.tails[tail].price for tail in tails]
            price = min(prices)
            tail = tails[prices.index(price)]
            reached = [(price + part.price, tail, head) for head, part in fan.heads.items()]
            found.append((self._place[tails[0]] if fan.first is None else fan.first, reached))
        if len(found) == 1:  # the heads of a fan are in order
            return found[0][1]
        ordered = [(first, self._order[way[2]], way) for first, reached in found for way in reached]
        return [way for _, _, way in sorted(ordered)]


def _one_of_each(gpus: Sequence[int], kind: Callable[[int], Hashable]) -> Mapping[Hashable, int]:
    """Return a GPU of each kind."""
    return {kind(gpu): gpu for gpu in gpus}


def _two_cheapest(parts: dict[int, Part]) -> dict[int, Part]:
    """Return the two parts of least price, in order; of equal ones the first."""
    both = list(parts.items())
    least = both[0][1].ranking[:2]
    return dict([both[place] for place in sorted([place for _, place in least])])


def _fan_of_switch(
    tails: tuple[int, ...],
    heads: Sequence[int],
    hops: Callable[[int, int], int],
    shares: Callable[[_Ends], _Shares],
    switch: int,
) -> _Fan:
    """Return the fan of all crossings if the same switch follows every tail.

    It needs the load of one crossing a GPU, where :func:`_fans` compares those of all pairs.
    """
    first, last = tails[0], heads[0]
    starts = {tail: {(tail, switch): shares((tail, last))[tail, switch]} for tail in tails}
    ends = {head: dict(shares((first, head)).items() - starts[first].items()) for head in heads}
    return _Fan(
        {tail: Part(starts[tail], 1) for tail in tails},
        {head: Part(ends[head], hops(first, head) - 1) for head in heads},
    )


def _fans(
    tails: tuple[int, ...],
    heads: Sequence[int],
    hops: Callable[[int, int], int],
    shares: Callable[[_Ends], _Shares],
) -> Iterator[_Fan]:
    """Yield one fan for all heads if their crossings have parts in common, else one for each."""
    first = tails[0]
    ends = {h: dict(set.intersection(*({*shares((t, h)).items()} for t in tails))) for h in heads}
    starts = {t: dict(shares((t, heads[0])).items() - ends[heads[0]].items()) for t in tails}
    longer = {tail: hops(tail, heads[0]) - hops(first, heads[0]) for tail in tails}
    consists = all(
        len(starts[t]) + len(ends[h]) == len(shares((t, h)))
        and {**starts[t], **ends[h]} == shares((t, h))
        and longer[t] + hops(first, h) == hops(t, h)
        for h in heads
        for t in tails
    )
    if consists:
        yield _Fan(
            {tail: Part(starts[tail], longer[tail]) for tail in tails},
            {head: Part(ends[head], hops(first, head)) for head in heads},
        )
        return
    for head in heads:
        ways = {tail: Part(shares((tail, head)), hops(tail, head)) for tail in tails}
        yield _Fan(ways, {head: Part({}, 0)})
