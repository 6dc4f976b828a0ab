"""Shares of links in floats, made exact.

Problem: of shares that several users have of every link, make whole multiples of a step that fit
         the links, and of which no node that only forwards sends more than it gets.
Input:   a topology, a share of every link for every user, a step.
Output:  networks with these shares for bandwidths.
Cost:    linear in the links for each pass over the nodes that must be lowered.
Source:  rounding down as ForestColl's appendix on allreduce rounds the solutions of its program;
         what comes out unbalanced is lowered, in equal parts, on the out-links.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from forestcoll.topology import Topology
from lp.program import Vector

__all__ = ["common_divisor", "fitted", "lower_to_balance", "with_bandwidths"]

NEAR = 1e-3
"""Of a step: shares that miss a multiple by less stand for it."""


def fitted(topology: Topology, shares: Vector, step: Fraction) -> list[list[int]]:
    """Round shares down to whole steps that fit the bandwidths.

    Parameters
    ----------
    topology : Topology
    shares : float array, a row for each user and a column for each link
        In GB/s.
    step : Fraction
        In GB/s.

    Returns
    -------
    list of int, for each user
        Steps of each link.
    """
    left = [int(link.bandwidth_gb_s / step) for link in topology.links]
    found = []
    for row in np.floor(shares / float(step) + NEAR).tolist():
        taken = [min(int(wanted), most) for wanted, most in zip(row, left, strict=True)]
        left = [most - got for most, got in zip(left, taken, strict=True)]
        found.append(taken)
    return found


def lower_to_balance(topology: Topology, share: list[int]) -> None:
    """Lower shares in place until no switch or relay sends more than it receives."""
    out: dict[int, list[int]] = {node: [] for node in topology.switches}
    excess = dict.fromkeys(topology.switches, 0)
    for i, link in enumerate(topology.links):
        if link.tail in excess:
            out[link.tail].append(i)
            excess[link.tail] += share[i]
        if link.head in excess:
            excess[link.head] -= share[i]
    unsettled = [node for node in topology.switches if excess[node] > 0]
    while unsettled:
        node = unsettled.pop()
        part = -(-max(excess[node], 0) // len(out[node]))
        for i in sorted(out[node], key=lambda i: -share[i]):
            taken = max(0, min(share[i], part, excess[node]))
            share[i] -= taken
            excess[node] -= taken
            head = topology.links[i].head
            if taken and head in excess:
                excess[head] += taken
                unsettled.append(head)
        if excess[node] > 0:
            unsettled.append(node)


def with_bandwidths(topology: Topology, steps: Sequence[int], step: Fraction) -> Topology:
    """Return the network with these bandwidths, links without any left out."""
    links = zip(topology.links, steps, strict=True)
    kept = (replace(link, bandwidth_gb_s=count * step) for link, count in links if count)
    return Topology(topology.name, topology.nodes, tuple(kept))


def common_divisor(numbers: Sequence[Fraction]) -> Fraction:
    """Return the largest number of which all are whole multiples.

    Examples
    --------
    >>> common_divisor([Fraction(1, 2), Fraction(1, 3)])
    Fraction(1, 6)
    """
    under = math.lcm(*(number.denominator for number in numbers))
    return Fraction(math.gcd(*(int(number * under) for number in numbers)), under)
