"""Proof of rate bounds from their prices.

Problem: do prices of cuts, switches and shared capacities prove a bound, and which?
Input:   a rate bound; nothing in it is trusted.
Output:  1/x*, or the priced capacity of its links; or the first violation.
Cost:    one pass over the links for each cut.
Source:  weak duality (:mod:`forestcoll.problem.rate_bound`). Shares no code with it, nor with the
         program that finds prices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from forestcoll.problem.rate_bound import RateBound
from forestcoll.schedule.verification.naming import fail

__all__ = ["priced_inverse_rate", "priced_room", "priced_weight"]


def priced_inverse_rate(bound: RateBound, *, copies: bool) -> Fraction:
    """Return the bound on 1/x* that the prices prove, in s per GB.

    Parameters
    ----------
    bound : RateBound
    copies : bool
        Whether switches marked ``multicast`` may multicast and reduce, which no price may forbid.

    Raises
    ------
    VerificationError
        If the prices are not valid, or prove nothing.
    """
    weight = priced_weight(bound, copies=copies)
    room = priced_room(bound, lambda bandwidth: bandwidth)
    if room == 0:
        fail("the prices of the optimum leave no room for any rate; they prove nothing")
    return weight / room


def priced_weight(bound: RateBound, *, copies: bool) -> Fraction:
    """Check the prices; return the priced cost of a schedule per unit of its rate."""
    topology = bound.topology
    _check_prices(bound)
    gpus = dict(zip(topology.compute, bound.weights, strict=True))
    total = Fraction(0)
    for cut in bound.cuts:
        inside = set(cut.nodes)
        if len(inside) != len(cut.nodes) or not inside <= set(range(len(topology.nodes))):
            fail(f"a priced cut must name nodes from 0 to {len(topology.nodes) - 1}, each once")
        if inside.issuperset(topology.compute):
            fail("a priced cut contains every GPU; it must miss at least one to bound anything")
        total += cut.price * sum(weight for gpu, weight in gpus.items() if gpu in inside)
    for one in bound.switches:
        if one.switch not in topology.switches:
            fail(f"node {one.switch} has the price of a switch, but does not only forward")
        if copies and topology.nodes[one.switch].multicast:
            fail(
                f"{topology.nodes[one.switch].name} has the price of a switch that forwards, but "
                f"it may multicast and reduce"
            )
    if total == 0:
        fail("no priced cut holds any data; the prices prove nothing")
    return total


def _check_prices(bound: RateBound) -> None:
    """Check that prices are exact and not negative, one for each switch or shared capacity."""
    known = {group.name for group in bound.topology.shared}
    prices = [one.price for one in bound.cuts]
    prices += [one.price for one in bound.switches]
    prices += [one.price for one in bound.shared]
    for price in prices:
        if not isinstance(price, Fraction) or price < 0:
            fail(f"a price of the optimum is {price!r}; it must be a Fraction from 0 up")
    _check_once([one.switch for one in bound.switches], "switch")
    _check_once([one.name for one in bound.shared], "shared capacity")
    for priced in bound.shared:
        if priced.name not in known:
            fail(f"shared capacity {priced.name!r} has a price, but the network has none such")


def _check_once(names: Sequence[int | str], what: str) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        fail(f"{what} {twice[0]!r} has two prices; it must have one")


def priced_room(bound: RateBound, carried: Callable[[Fraction], Fraction | int]) -> Fraction:
    """Return the sum of the capacities of links and shared capacities, times their prices.

    Parameters
    ----------
    bound : RateBound
    carried : callable
        Converts a bandwidth in GB/s to a capacity.
    """
    topology = bound.topology
    needed = {(e.tail, e.head): Fraction(0) for e in topology.links}
    for cut in bound.cuts:
        inside = set(cut.nodes)
        for tail, head in needed:
            out, into = (head, tail) if bound.reduction else (tail, head)
            if out in inside and into not in inside:
                needed[tail, head] += cut.price
    for one in bound.switches:
        for tail, head in needed:
            out, into = (head, tail) if bound.reduction else (tail, head)
            if into == one.switch:
                needed[tail, head] += one.price
            if out == one.switch:
                needed[tail, head] -= one.price
    price = {one.name: one.price for one in bound.shared}
    groups = [group for group in topology.shared if group.name in price]
    for group in groups:
        for ends in group.links:
            needed[ends] -= price[group.name]
    width = {(e.tail, e.head): e.bandwidth_gb_s for e in topology.links}
    return _sum(need * carried(width[ends]) for ends, need in needed.items() if need > 0) + _sum(
        price[group.name] * carried(group.bandwidth_gb_s) for group in groups
    )


def _sum(amounts: Iterable[Fraction]) -> Fraction:
    return sum(amounts, start=Fraction(0))
