"""Trimming of out-links until no switch sends more than it receives.

Problem: rounding each link to floor(U b) trees can leave a switch with less capacity in than out;
         such a switch cannot be split off. Trees use the same capacity of its in-links and of its
         out-links, so the surplus of the out-links is useless: remove it, and keep every cut wide
         enough.
Input:   a topology, the trees each link may carry, wide enough for the trees of all roots.
Output:  capacities with in >= out at every switch, still wide enough; or None.
Cost:    one max-flow pass over the GPUs per switch where it is easy, one per out-link where not.
Source:  ForestColl E.4 excludes networks whose rounded links are unbalanced.

Links to GPUs are trimmed first, then links to other switches, which may become unbalanced and are
then trimmed themselves. Links are trimmed in proportion at first, then one by one as far as their
cuts allow. For a switch that sends to GPUs only, the order does not change the total that can be
trimmed; if the total is too small, these capacities carry no such trees. With several switches in
a row the order may matter, and None means only that this order failed.
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
        Threads that share the GPUs in a pass, at most; the result does not depend on it.

    Returns
    -------
    int64 array or None
        New capacities, none larger than before, that violate no cut; None if none were found.
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
    """Lowers links in place, and restores what a cut then lacks."""

    def __init__(self, problem: Problem, threads: int) -> None:
        self._problem, self._threads = problem, threads
        self._nodes, self._links = problem.topology.nodes, problem.topology.integer_capacities
        self._capacity = problem.capacity

    def settle(self, switch: int, excess: int) -> bool:
        """Lower the out-links of a switch by ``excess``; return whether the cuts allow all."""
        out = np.flatnonzero(self._links.tail == switch).tolist()
        to_switch = [link for link in out if self._nodes[self._links.head[link]].is_switch]
        for ports in ([link for link in out if link not in set(to_switch)], to_switch):
            excess -= self._lower(ports, excess)
            for link in ports:
                excess -= self._lower([link], excess)
        return excess == 0

    def _lower(self, links: Sequence[int], amount: int) -> int:
        """Lower the links by up to ``amount`` while no cut is violated; return how much."""
        before = self._capacity[links]
        amount = min(amount, int(before.sum()))
        if amount == 0:
            return 0
        self._capacity[links] -= _in_proportion(amount, before.tolist())
        taken = dict(zip(links, (before - self._capacity[links]).tolist(), strict=True))
        passed = 0
        # Capacity given back widens cuts only, so GPUs that passed stay reached.
        while (found := self._violated(passed)) is not None:
            self._give_back(taken, found.shortage, found.inside)
            passed = found.passed
        return sum(taken.values())

    def _violated(self, passed: int) -> Violation | None:
        return violated_cut(self._problem, passed=passed, threads=self._threads)

    def _give_back(
        self, taken: dict[int, int], shortage: int, inside: npt.NDArray[np.bool_]
    ) -> None:
        """Raise the lowered links that leave a cut; before they were lowered it was wide enough."""
        for link, amount in taken.items():
            if not inside[self._links.head[link]]:
                back = min(amount, shortage)
                self._capacity[link] += back
                taken[link] -= back
                shortage -= back
        assert shortage == 0, "a cut lacks more than was taken from it"


def _in_proportion(amount: int, sizes: Sequence[int]) -> list[int]:
    """Divide an amount in proportion to sizes whose sum holds it, each part within its size."""
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

    Out-links are lowered in proportion; cuts are not checked, and may then lack capacity.

    Parameters
    ----------
    share : list of int, one entry a link
        The used share of it, from 0 up.
    reduction : bool
        Whether nothing may receive more than it sends instead.
    forwarding : collection of int, optional
        Nodes to balance; switches and relays if not given.
    """
    nodes = topology.switches if forwarding is None else sorted(forwarding)
    near, far = (end.tolist() for end in topology.link_ends)
    ends = list(zip(far, near, strict=True) if reduction else zip(near, far, strict=True))
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
    """Return the shares to lower and by how much: in proportion, rounded up, until enough."""
    found, left, total = [], too_much, sum(sent)
    for i, one in enumerate(sent):
        taken = min(-(-too_much * one // total), left) if left > 0 else 0
        left -= taken
        if taken:
            found.append((i, taken))
    return found
