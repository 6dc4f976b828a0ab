"""Out-links trimmed until no switch sends more than it receives.

Problem: links of bandwidth b that may carry floor(U b) trees can leave a switch with less capacity
         in than out, and then it cannot be split off. Trees that pass a switch take as much of its
         in-links as of its out-links, so some of what goes out can never be used: lower it, and
         keep every cut wide enough.
Input:   a topology, the trees each link may carry, wide enough for the trees of all roots.
Output:  capacities with in >= out at every switch, still wide enough; or None.
Cost:    one max-flow pass over the GPUs per switch where it is easy, one per out-link where not.
Source:  ForestColl E.4 leaves networks whose rounded links are not balanced out.

Which links: those to GPUs first, then those to other switches (which may then send too much
themselves, and are trimmed in turn); in proportion at first, then one by one as far as their cuts
allow. Of one switch that sends to GPUs only, what can be lowered in all is the same in whatever
order: if it is too little, these capacities carry no such trees. With several switches in a row
the order may matter, and None says only that this order failed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from forestcoll.core.problem import Amounts, Problem
from forestcoll.core.violation import Violation, violated_cut
from forestcoll.topology.model import Topology

__all__ = ["balanced", "trim_to_balance"]


def balanced(problem: Problem, *, threads: int = 1) -> Amounts | None:
    """Lower out-links of switches until none sends more than it receives.

    Parameters
    ----------
    problem : Problem
        No cut may be violated.
    threads : int
        At most so many share the GPUs in a pass; the result does not depend on their number.

    Returns
    -------
    int64 array or None
        New capacities, none larger, under which no cut is violated either; None if none were found.
    """
    trimmed = problem.within(problem.capacity.copy())
    while (switch := _overdrawn(trimmed)) is not None:
        if not _Trimming(trimmed, threads).settle(*switch):
            return None
    return trimmed.capacity


def _overdrawn(problem: Problem) -> tuple[int, int] | None:
    """Return the first switch that sends more than it receives, and how much more."""
    topology, links = problem.topology, problem.topology.integer_capacities
    excess = np.zeros(len(topology.nodes), dtype=np.int64)
    np.add.at(excess, links.tail, problem.capacity)
    np.subtract.at(excess, links.head, problem.capacity)
    return next(((v, int(excess[v])) for v in topology.switches if excess[v] > 0), None)


class _Trimming:
    """Lowers links in place, and gives back what a cut then lacks."""

    def __init__(self, problem: Problem, threads: int) -> None:
        self._problem, self._threads = problem, threads
        self._nodes, self._links = problem.topology.nodes, problem.topology.integer_capacities
        self._capacity = problem.capacity

    def settle(self, switch: int, excess: int) -> bool:
        """Take so much off the out-links of a switch; return whether the cuts allow all of it."""
        out = np.flatnonzero(self._links.tail == switch).tolist()
        to_switch = [link for link in out if self._nodes[self._links.head[link]].is_switch]
        for ports in ([link for link in out if link not in set(to_switch)], to_switch):
            excess -= self._lower(ports, excess)
            for link in ports:
                excess -= self._lower([link], excess)
        return excess == 0

    def _lower(self, links: Sequence[int], amount: int) -> int:
        """Take up to so much off the links, as far as no cut is violated; return how much."""
        before = self._capacity[links]
        amount = min(amount, int(before.sum()))
        if amount == 0:
            return 0
        self._capacity[links] -= _in_proportion(amount, before.tolist())
        taken = dict(zip(links, (before - self._capacity[links]).tolist(), strict=True))
        passed = 0
        while (found := self._violated(passed)) is not None:
            self._give_back(taken, found.shortage, found.inside)
            passed = found.passed
        return sum(taken.values())

    def _violated(self, passed: int) -> Violation | None:
        return violated_cut(self._problem, passed=passed, threads=self._threads)

    def _give_back(
        self, taken: dict[int, int], shortage: int, inside: npt.NDArray[np.bool_]
    ) -> None:
        """Raise the lowered links that leave a cut; without their loss it was wide enough."""
        for link, amount in taken.items():
            if not inside[self._links.head[link]]:
                back = min(amount, shortage)
                self._capacity[link] += back
                taken[link] -= back
                shortage -= back
        assert shortage == 0, "a cut lacks more than was taken from it"


def _in_proportion(amount: int, sizes: Sequence[int]) -> list[int]:
    """Divide an amount over sizes that hold it, each part within its size."""
    total = sum(sizes)
    parts = [amount * size // total for size in sizes]
    left = amount - sum(parts)
    for i, size in enumerate(sizes):
        if left and parts[i] < size:
            parts[i] += 1
            left -= 1
    return parts


def trim_to_balance(
    topology: Topology,
    share: list[int],
    *,
    reduction: bool = False,
    forwarding: Collection[int] | None = None,
) -> None:
    """Lower shares of links in place until nothing that forwards sends more than it receives.

    Whatever cuts may then lack: out-links are lowered in proportion.

    Parameters
    ----------
    topology : Topology
    share : list of int, one entry a link
        What is used of it, from 0 up.
    reduction : bool
        Whether nothing may receive more than it sends instead.
    forwarding : collection of int, optional
        Nodes to be balanced; switches and relays if not given.
    """
    nodes = topology.switches if forwarding is None else sorted(forwarding)
    ends = [(link.tail, link.head) for link in topology.links]
    if reduction:
        ends = [(head, tail) for tail, head in ends]
    out: dict[int, list[int]] = {node: [] for node in nodes}
    excess = dict.fromkeys(nodes, 0)
    for i, (tail, head) in enumerate(ends):
        if tail in excess:
            out[tail].append(i)
            excess[tail] += share[i]
        if head in excess:
            excess[head] -= share[i]
    unsettled = [node for node in nodes if excess[node] > 0]
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
