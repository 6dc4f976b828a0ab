"""Proof of bounds on all-to-alls of any amounts, from prices of links.

Problem: do prices of links and shared capacities prove a bound, and which?
Input:   the network, what each rank has for each other, the prices; nothing is trusted.
Output:  the bound on the congestion, exactly; or the first violation.
Cost:    O(N E h) whole numbers, with h the most links of a cheapest path.
Source:  weak duality (:mod:`forestcoll.problem.price_bound`). Shares no code with it: potentials by
         rounds of relaxation (Bellman and Ford), all links at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.verification.naming import fail
from forestcoll.topology.model import Topology

__all__ = ["priced_inverse_rate_of_pairs"]

_MOST_PRICE = 2**32
_BLOCK = 2**18
"""Entries of the table of potentials that are relaxed together."""

_MOST_SUM = 2**62

Ints = npt.NDArray[np.int64]


def priced_inverse_rate_of_pairs(
    topology: Topology, amounts: npt.NDArray[Any], price: Sequence[int]
) -> Fraction:
    """Return the least congestion of any schedule that delivers these amounts.

    Parameters
    ----------
    amounts : whole numbers of shape (N, N)
        From 0 up; what each rank of a row has for each of a column.
    price : sequence of int
        Of every link, and then of every shared capacity.

    Returns
    -------
    Fraction
        In units of the amounts per GB/s.

    Raises
    ------
    VerificationError
        If the prices are not valid, or prove nothing.
    """
    parts = len(topology.links) + len(topology.shared)
    if len(price) != parts:
        fail(
            f"{len(price)} prices are claimed; the network has {parts} links and shared capacities"
        )
    if any(type(one) is not int or not 0 <= one <= _MOST_PRICE for one in price):
        fail(f"a price is not a whole number from 0 to {_MOST_PRICE}")
    own, common = price[: len(topology.links)], price[len(topology.links) :]
    cost = np.array(own, dtype=np.int64)
    paid = sum(
        (link.bandwidth_gb_s * one for link, one in zip(topology.links, own, strict=True) if one),
        start=Fraction(0),
    )
    place = {(link.tail, link.head): i for i, link in enumerate(topology.links)}
    for group, one in zip(topology.shared, common, strict=True):
        cost[[place[ends] for ends in group.links]] += one
        paid += group.bandwidth_gb_s * one
    if paid == 0:
        fail("all prices are 0; they prove nothing")
    return Fraction(_due(topology, amounts, cost)) / paid


def _due(topology: Topology, amounts: npt.NDArray[Any], cost: Ints) -> int:
    """Return what all amounts pay on their cheapest paths."""
    gpus, nodes = np.array(topology.compute), len(topology.nodes)
    tail, head = (np.asarray(ends, dtype=np.int64) for ends in topology.link_ends)
    far = int(cost.max()) * nodes + 1
    narrow = np.dtype(np.int32 if 2 * far < 2**31 else np.int64)  # half as much to read and write
    order = np.argsort(head, kind="stable")
    tail, head, more = tail[order], head[order], cost[order, None].astype(narrow)
    first = np.flatnonzero(np.diff(head, prepend=-1))
    ends = head[first]
    block = max(_BLOCK // max(len(tail), 1), 1)
    total = 0
    for start in range(0, len(gpus), block):
        ranks = np.arange(start, min(start + block, len(gpus)))
        # A column for each source: numpy then relaxes a link for all sources in one stride.
        away = np.full((nodes, len(ranks)), far, dtype=narrow)
        away[gpus[ranks], np.arange(len(ranks))] = 0
        while True:
            known, longer = away[ends], away[tail]
            longer += more
            nearer = np.minimum(known, np.minimum.reduceat(longer, first, axis=0))
            if np.array_equal(nearer, known):
                break
            away[ends] = nearer
        rows, to = away[gpus].T.astype(np.int64), amounts[ranks]
        if ((rows >= far) & (to > 0)).any():
            fail("some GPU needs data from one that it cannot be reached from")
        total += _paid(to, np.where(to > 0, rows, 0))
    return total


def _paid(amounts: npt.NDArray[Any], price: Ints) -> int:
    """Add up amounts times prices, row by row where a row's sum fits 64 bits."""
    whole = 0
    for sizes, prices in zip(amounts, price, strict=True):
        if int(sizes.max()) * int(prices.max()) * len(sizes) < _MOST_SUM:
            whole += int(np.dot(sizes.astype(np.int64), prices))
        else:
            whole += sum(a * b for a, b in zip(sizes.tolist(), prices.tolist(), strict=True))
    return whole
