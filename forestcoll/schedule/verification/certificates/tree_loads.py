"""Proof that spanning trees with given link loads exist.

Problem: are the loads of the links those of spanning trees, a given number rooted at each GPU?
Input:   trees rooted at each GPU, trees over each link, nodes that only forward.
Output:  nothing, or the GPU or node at which it fails.
Cost:    a max-flow for each GPU from those done before: short ones.
Source:  ForestColl Theorem 5 and Edmonds' theorem. Part of the proof of certificates.

A forwarding node that sends as many trees as it receives can be removed with all cuts kept. If the
trees of all roots can then flow to every GPU, such spanning trees exist. So the loads alone prove
that some schedule is as fast; only its file holds the schedule itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from forestcoll.schedule.verification.naming import fail

__all__ = ["TreeLoads", "check_trees_exist"]


@dataclass(frozen=True, slots=True)
class TreeLoads:
    """Tree loads of links, by the names of nodes.

    Parameters
    ----------
    roots : mapping
        Trees rooted at each GPU.
    forwarding : tuple of str
        Nodes that only forward.
    loads : mapping
        Trees over each link (tail, head), in the direction of the data.
    reduction : bool
        Whether the data run towards the roots.
    """

    roots: Mapping[str, int]
    forwarding: tuple[str, ...]
    loads: Mapping[tuple[str, str], int]
    reduction: bool


def check_trees_exist(loads: TreeLoads) -> None:
    """Raise VerificationError unless trees with these link loads exist."""
    _check_ends(loads)
    flows = _Flows(loads)
    for gpu in loads.roots:
        flows.check(gpu)


def _check_ends(loads: TreeLoads) -> None:
    """Each tree of another root enters a GPU once (in a reduction: leaves it once).

    A forwarding node sends as many trees as it receives.
    """
    received: Counter[str] = Counter()
    sent: Counter[str] = Counter()
    for (tail, head), trees in loads.loads.items():
        received[head] += trees
        sent[tail] += trees
    verb, passed = ("sends", sent) if loads.reduction else ("receives", received)
    total = sum(loads.roots.values())
    for gpu, own in loads.roots.items():
        if passed[gpu] != total - own:
            fail(f"{gpu} {verb} {passed[gpu]} trees; {total - own} are rooted elsewhere")
    for name in loads.forwarding:
        if received[name] != sent[name]:
            fail(
                f"{name} only forwards, but receives {received[name]} trees and sends {sent[name]}"
            )


class _Left(dict[str, int]):
    """Remaining supplies in one flow; computed only at nodes that the flow visits."""

    def __init__(self, supply: dict[str, int]) -> None:
        super().__init__()
        self._supply = supply

    def __missing__(self, node: str) -> int:
        return self._supply.get(node, 0)


class _Flows:
    """Flows of trees over the loads, in the direction from root to leaves.

    A GPU that they reach can supply the trees of all roots: no narrower cut separates it from them.
    So each flow is searched from its end, and mostly found nearby.
    """

    def __init__(self, loads: TreeLoads) -> None:
        self._room: dict[tuple[str, str], int] = {}
        self._beside: defaultdict[str, list[str]] = defaultdict(list)
        for (tail, head), trees in loads.loads.items():
            near, far = (head, tail) if loads.reduction else (tail, head)
            self._room[near, far] = trees
            self._beside[far].append(near)
            self._beside[near].append(far)
        self._supply = dict(loads.roots)
        self._trees = sum(self._supply.values())

    def check(self, gpu: str) -> None:
        """Raise unless all trees can flow to a GPU; from then on it supplies all of them."""
        used: Counter[tuple[str, str]] = Counter()
        missing = self._trees - self._supply.pop(gpu)
        left = _Left(self._supply)
        while missing:
            path = self._path(gpu, used, left)
            if not path:
                fail(
                    f"only {self._trees - missing} of {self._trees} trees can flow over the loads "
                    f"of the links between their roots and {gpu}; no such forest exists"
                )
            hops = list(pairwise(path))
            free = (self._room.get(hop, 0) - used[hop] for hop in hops)
            amount = min(missing, left[path[0]], *free)
            left[path[0]] -= amount
            for near, far in hops:
                used[near, far] += amount
                used[far, near] -= amount
            missing -= amount
        self._supply[gpu] = self._trees

    def _path(
        self,
        gpu: str,
        used: Counter[tuple[str, str]],
        left: _Left,
    ) -> list[str]:
        """Return a shortest augmenting path to a GPU; empty if there is none."""
        after = {gpu: ""}
        queue = [gpu]
        for node in queue:  # grows as it is walked
            if left[node] > 0:
                path = [node]
                while path[-1] != gpu:
                    path.append(after[path[-1]])
                return path
            for near in self._beside[node]:
                hop = near, node
                if near not in after and self._room.get(hop, 0) > used[hop]:
                    after[near] = node
                    queue.append(near)
        return []
