"""Check that a collective can run on a network: connectivity and balance.

Problem: every root must reach every GPU. Some methods also need balanced switches.
Input:   a topology, a collective, and its roots.
Output:  nothing, or the first fault as a typed error.
Cost:    two graph searches and one pass over the links.
Source:  ForestColl's model requires balance at every node. Its switch removal (Theorem 5) needs
         less: in an allgather no switch sends more than it receives; in a reduce-scatter none
         receives more than it sends. GPUs may be unbalanced.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from forestcoll.errors import (
    DisconnectedError,
    InvalidTopologyError,
    UnbalancedError,
    UnsupportedError,
    did_you_mean,
)
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import exact_text

__all__ = [
    "COLLECTIVES", "Collective", "check_balanced", "check_collective", "refuse_shared",
    "uses_all_bandwidth", "validate",
]  # fmt: skip

Collective = Literal["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce"]

COLLECTIVES: tuple[str, ...] = get_args(Collective)
"""The collectives that :func:`validate` knows."""

_LEVELS = 64
"""Levels of a search that are found as arrays. Networks with more have narrow ones: long rings."""


def validate(
    topology: Topology, collective: str = "allgather", roots: Collection[int] | None = None
) -> None:
    """Raise unless the collective can run on the network.

    Parameters
    ----------
    topology : Topology
    collective : str
        One of COLLECTIVES. Broadcast is checked as allgather, reduce as reduce-scatter, allreduce
        as both.
    roots : collection of int, optional
        Ranks of the GPUs that send data to all GPUs, or that want a sum of all GPUs; by default
        all GPUs. The others need not reach all GPUs (in a reduction, be reached by all).

    Raises
    ------
    InvalidTopologyError
        With fewer than two compute nodes.
    DisconnectedError
        If some compute node cannot reach another that it must reach; the message names one pair.
    UnsupportedError
        For a collective that is not one of COLLECTIVES.
    """
    check_collective(collective)
    if topology.num_compute < 2:
        raise InvalidTopologyError(
            f"{topology.name} has {_plural(topology.num_compute, 'GPU')}; "
            f"a collective needs at least 2 nodes of kind compute"
        )
    ranks = range(topology.num_compute) if roots is None else sorted(roots)
    _check_connected(topology, collective, [topology.compute[rank] for rank in ranks])


def check_collective(collective: str, known: Collection[str] = COLLECTIVES) -> None:
    """Raise UnsupportedError, with the remedy, for a collective that is not one of those known."""
    if collective not in known:
        if collective == "all-to-all":
            raise UnsupportedError(
                "trees carry no all-to-all, in which every pair has data of its own; "
                "forestcoll.all_to_all.best_flow.AllToAllPlanner plans one (docs/all-to-all.md)"
            )
        hint = did_you_mean(collective, known, f"it must be one of {', '.join(known)}")
        raise UnsupportedError(f"collective is {collective!r}; {hint}")


def check_balanced(topology: Topology, collective: str = "allgather") -> None:
    """Raise if a method that needs it cannot use all links of some switch.

    The core itself needs no balance (:mod:`forestcoll.core.any_network.sub_capacities`).

    Raises
    ------
    UnbalancedError
        If a switch sends more than it receives (allgather) or the reverse (reduce-scatter), or
        links share a capacity.
    """
    if topology.shared:
        raise UnbalancedError(
            f"{topology.name}: links share a capacity ({topology.shared[0].name!r}), which this "
            f"method does not know; use the method forestcoll"
        )
    sends_shards = collective in ("allgather", "broadcast", "allreduce")
    sends_sums = collective in ("reduce-scatter", "reduce", "allreduce")
    for switch in topology.switches:
        into, out = topology.ingress_gb_s[switch], topology.egress_gb_s[switch]
        name = f"{topology.nodes[switch].kind} {topology.nodes[switch].name!r}"
        if sends_shards and out > into:
            raise _unbalanced(topology, name, collective, into, out)
        if sends_sums and into > out:
            raise _unbalanced(topology, name, collective, into, out)


def uses_all_bandwidth(topology: Topology, reduction: bool, *, multicast: bool = False) -> bool:
    """Whether trees can fill all links: no switch sends more than it receives, no limit is shared.

    In a reduction: no switch receives more than it sends. With ``multicast``, switches marked
    ``multicast`` may do either.

    Raises
    ------
    CapacityOverflowError
        As :attr:`forestcoll.topology.model.Topology.integer_capacities`.
    """
    if topology.shared:
        return False
    links = topology.integer_capacities
    excess = np.zeros(len(topology.nodes), dtype=np.int64)
    np.add.at(excess, links.tail, links.capacity)
    np.subtract.at(excess, links.head, links.capacity)
    switches = [v for v in topology.switches if not (multicast and topology.nodes[v].multicast)]
    sent_too_much = -excess[switches] if reduction else excess[switches]
    return not bool((sent_too_much > 0).any())


def _check_connected(topology: Topology, collective: str, roots: Sequence[int]) -> None:
    """Check that the first root reaches every GPU and every root reaches it; or the reverse."""
    first = roots[0]
    tail, head = topology.link_ends
    nodes = len(topology.nodes)
    reduction = collective in ("reduce-scatter", "reduce")
    reached = roots if reduction else topology.compute
    reaching = topology.compute if reduction else roots
    for gpu in _missed(first, reached, _Neighbours.of(tail, head, nodes)):
        raise _disconnected(topology, first, gpu)
    all_found = not reduction or len(roots) == topology.num_compute
    if all_found and _has_reverses(topology):
        return  # the ways back are those found, reversed
    for gpu in _missed(first, reaching, _Neighbours.of(head, tail, nodes)):
        raise _disconnected(topology, gpu, first)


def _has_reverses(topology: Topology) -> bool:
    """Whether every link has a reverse, of any bandwidth."""
    (tail, head), nodes = topology.link_ends, len(topology.nodes)
    there = tail.astype(np.int64) * nodes + head  # sorted, as links are
    back = head.astype(np.int64) * nodes + tail
    return bool(np.array_equal(there, np.sort(back)))


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """The neighbours of node v: ``other[first[v]]`` to ``other[first[v + 1]]``, the end excluded.

    Two flat arrays, as a list a node takes most of the time of the check.
    """

    first: npt.NDArray[np.int64]
    other: npt.NDArray[np.int32]

    @classmethod
    def of(cls, end: npt.NDArray[np.int32], other: npt.NDArray[np.int32], nodes: int) -> Self:
        first = np.append(0, np.cumsum(np.bincount(end, minlength=nodes)))
        return cls(first, other[np.argsort(end, kind="stable")])

    def of_all(self, nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the neighbours of some nodes, one node after the other."""
        count = self.first[nodes + 1] - self.first[nodes]
        end = np.cumsum(count)
        place = np.arange(end[-1]) + np.repeat(self.first[nodes] - (end - count), count)
        neighbours: npt.NDArray[np.int32] = self.other[place]
        return neighbours


def _missed(start: int, wanted: Sequence[int], neighbours: _Neighbours) -> list[int]:
    """Return those of ``wanted`` that a search from the start does not find."""
    seen = np.zeros(len(neighbours.first) - 1, dtype=np.bool_)
    seen[start] = True
    frontier = np.array([start])
    for _ in range(_LEVELS):
        found = np.zeros_like(seen)
        found[neighbours.of_all(frontier)] = True
        frontier = np.flatnonzero(found & ~seen)
        if not len(frontier):
            break
        seen[frontier] = True
    else:
        _find_one_by_one(seen, frontier.tolist(), neighbours)
    places = np.array(wanted)
    missed: list[int] = places[~seen[places]].tolist()
    return missed


def _find_one_by_one(
    seen: npt.NDArray[np.bool_], frontier: list[int], neighbours: _Neighbours
) -> None:
    """Mark the nodes that a search from the frontier finds."""
    first, other = neighbours.first.tolist(), neighbours.other.tolist()
    is_seen = bytearray(seen)
    while frontier:
        at = frontier.pop()
        for neighbour in other[first[at] : first[at + 1]]:
            if not is_seen[neighbour]:
                is_seen[neighbour] = 1
                frontier.append(neighbour)
    seen[:] = np.frombuffer(is_seen, dtype=np.bool_)


def _disconnected(topology: Topology, start: int, end: int) -> DisconnectedError:
    return DisconnectedError(
        f"{topology.name}: GPU {topology.nodes[start].name!r} cannot reach GPU "
        f"{topology.nodes[end].name!r}; add the missing links (a link has one direction "
        "unless it has both: true)"
    )


def _unbalanced(
    topology: Topology, switch: str, collective: str, into: Fraction, out: Fraction
) -> UnbalancedError:
    low, high = sorted((into, out))
    larger, smaller = ("out", "in") if out > into else ("in", "out")
    return UnbalancedError(
        f"{topology.name}: {switch} has {exact_text(into)} GB/s in and "
        f"{exact_text(out)} GB/s out, which {collective} cannot use in full; lower its "
        f"{larger}-links to {exact_text(low)} GB/s in all or raise its {smaller}-links to "
        f"{exact_text(high)} GB/s"
    )


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count or 'no'} {what}s"


def refuse_shared(topology: Topology, what: str) -> None:
    """Refuse a network with shared capacities, for a method that would overlook them.

    Raises
    ------
    UnsupportedError
        If it has any; ``what`` is the method.
    """
    if topology.shared:
        raise UnsupportedError(
            f"unsupported: {topology.name} has a shared capacity, {topology.shared[0].name!r}, "
            f"which {what} would overlook; leave it out of the network to see what there is "
            f"without it"
        )
