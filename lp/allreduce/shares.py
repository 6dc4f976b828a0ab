"""Shares of links in floats, made exact.

Problem: of shares that several users have of every link, make whole multiples of a step that fit
         the links, and of which no node that only forwards sends more than it gets.
Input:   a topology, a share of every link for every user, a step.
Output:  networks with these shares for bandwidths.
Cost:    linear in the links for each pass over the nodes that must be lowered.
Source:  rounding down as ForestColl's appendix on allreduce rounds the solutions of its program;
         what comes out unbalanced is lowered, in proportion, on the out-links.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from forestcoll.topology import Topology
from forestcoll.topology.shared_capacity import kept
from lp.solver.linear_program import Vector

__all__ = ["common_divisor", "down", "fitted", "lower_to_balance", "with_bandwidths"]

NEAR = 1e-3
"""Of a step: shares that miss a multiple by less stand for it."""


def down(values: Vector, step: Fraction) -> list[int]:
    """Return how many whole steps each value has; next to none is none."""
    return [int(value) for value in np.floor(np.maximum(values, 0) / float(step) + NEAR)]


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
    for row in shares:
        taken = list(map(min, down(row, step), left))
        left = [most - got for most, got in zip(left, taken, strict=True)]
        found.append(taken)
    return found


def lower_to_balance(topology: Topology, share: list[int], *, reduction: bool = False) -> None:
    """Lower shares in place until no switch or relay sends more than it receives.

    In a reduction, until none receives more than it sends.
    """
    ends = [(link.tail, link.head) for link in topology.links]
    if reduction:
        ends = [(head, tail) for tail, head in ends]
    out: dict[int, list[int]] = {node: [] for node in topology.switches}
    excess = dict.fromkeys(topology.switches, 0)
    for i, (tail, head) in enumerate(ends):
        if tail in excess:
            out[tail].append(i)
            excess[tail] += share[i]
        if head in excess:
            excess[head] -= share[i]
    unsettled = [node for node in topology.switches if excess[node] > 0]
    while unsettled:
        node = unsettled.pop()
        for i, taken in _reductions([share[i] for i in out[node]], excess[node]):
            link = out[node][i]
            share[link] -= taken
            excess[node] -= taken
            if (head := ends[link][1]) in excess:
                excess[head] += taken
                unsettled.append(head)


def _reductions(sent: Sequence[int], too_much: int) -> list[tuple[int, int]]:
    """Return which shares to lower, by how much: in proportion, rounded up, until it is enough."""
    found, left, total = [], too_much, sum(sent)
    for i, one in enumerate(sent):
        taken = min(-(-too_much * one // total), left) if left > 0 else 0
        left -= taken
        if taken:
            found.append((i, taken))
    return found


def with_bandwidths(topology: Topology, steps: Sequence[int], step: Fraction) -> Topology:
    """Return the network with these bandwidths, links without any left out."""
    links = zip(topology.links, steps, strict=True)
    lowered = [replace(link, bandwidth_gb_s=count * step) for link, count in links if count]
    shared = kept(topology.shared, {(link.tail, link.head) for link in lowered})
    return Topology(topology.name, topology.nodes, tuple(lowered), shared)


def common_divisor(numbers: Sequence[Fraction]) -> Fraction:
    """Return the largest number of which all are whole multiples.

    Examples
    --------
    >>> common_divisor([Fraction(1, 2), Fraction(1, 3)])
    Fraction(1, 6)
    """
    under = math.lcm(*(number.denominator for number in numbers))
    return Fraction(math.gcd(*(int(number * under) for number in numbers)), under)
