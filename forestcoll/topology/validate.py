"""Whether a collective can run on a network at all, and at full speed through its switches.

Problem: every GPU must reach every other; a switch must not be asked for more than it gets.
Input:   a topology and a collective.
Output:  nothing, or the first fault as a typed error.
Cost:    two breadth-first searches and one pass over the links.
Source:  ForestColl's model asks for balance at every node. What its switch removal (Theorem 5)
         needs is less: for allgather, that no switch sends more than it receives; for
         reduce-scatter, the mirror image, the reverse. GPUs may be unbalanced.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, get_args

from forestcoll.errors import (
    DisconnectedError,
    InvalidTopologyError,
    UnbalancedError,
    UnsupportedError,
)
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import exact_text

__all__ = ["COLLECTIVES", "Collective", "validate"]

Collective = Literal["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce"]

COLLECTIVES: tuple[str, ...] = get_args(Collective)
"""The collectives that :func:`validate` knows."""


def validate(topology: Topology, collective: str = "allgather") -> None:
    """Raise unless the collective can run on the network.

    Parameters
    ----------
    topology : Topology
    collective : str
        One of COLLECTIVES. Broadcast asks what allgather does, reduce what reduce-scatter does;
        allreduce asks both.

    Raises
    ------
    InvalidTopologyError
        With fewer than two compute nodes.
    DisconnectedError
        If some compute node cannot reach another; names one such pair.
    UnbalancedError
        If a switch sends more than it receives (allgather) or the reverse (reduce-scatter).
    UnsupportedError
        For a collective that is not one of COLLECTIVES.
    """
    if collective not in COLLECTIVES:
        raise UnsupportedError(
            f"collective is {collective!r}; it must be one of {', '.join(COLLECTIVES)}"
        )
    if topology.num_compute < 2:
        raise InvalidTopologyError(
            f"{topology.name} has {_plural(topology.num_compute, 'GPU')}; "
            f"a collective needs at least 2 nodes of kind compute"
        )
    _check_connected(topology)
    _check_balanced(topology, collective)


def _check_connected(topology: Topology) -> None:
    """Every GPU is reached from the first one and reaches it; hence all reach each other."""
    first = topology.compute[0]
    successors: list[list[int]] = [[] for _ in topology.nodes]
    predecessors: list[list[int]] = [[] for _ in topology.nodes]
    for link in topology.links:
        successors[link.tail].append(link.head)
        predecessors[link.head].append(link.tail)
    for gpu in _missed(topology, successors):
        raise _disconnected(topology, first, gpu)
    for gpu in _missed(topology, predecessors):
        raise _disconnected(topology, gpu, first)


def _missed(topology: Topology, neighbours: Sequence[Sequence[int]]) -> list[int]:
    """Compute nodes that a search from the first one does not find."""
    first = topology.compute[0]
    seen = {first}
    frontier = [first]
    while frontier:
        for neighbour in neighbours[frontier.pop()]:
            if neighbour not in seen:
                seen.add(neighbour)
                frontier.append(neighbour)
    return [gpu for gpu in topology.compute if gpu not in seen]


def _disconnected(topology: Topology, start: int, end: int) -> DisconnectedError:
    return DisconnectedError(
        f"{topology.name}: GPU {topology.nodes[start].name!r} cannot reach GPU "
        f"{topology.nodes[end].name!r}; add the missing links (a link is one direction only, "
        f"unless it says both)"
    )


def _check_balanced(topology: Topology, collective: str) -> None:
    sends_shards = collective in ("allgather", "broadcast", "allreduce")
    sends_sums = collective in ("reduce-scatter", "reduce", "allreduce")
    for switch in topology.switches:
        into, out = topology.ingress_gb_s[switch], topology.egress_gb_s[switch]
        name = topology.nodes[switch].name
        if sends_shards and out > into:
            raise _unbalanced(topology, name, collective, into, out)
        if sends_sums and into > out:
            raise _unbalanced(topology, name, collective, into, out)


def _unbalanced(
    topology: Topology, switch: str, collective: str, into: Fraction, out: Fraction
) -> UnbalancedError:
    low, high = sorted((into, out))
    larger, smaller = ("out", "in") if out > into else ("in", "out")
    return UnbalancedError(
        f"{topology.name}: switch {switch!r} has {exact_text(into)} GB/s in and "
        f"{exact_text(out)} GB/s out, which {collective} cannot use in full; lower its "
        f"{larger}-links to {exact_text(low)} GB/s in all or raise its {smaller}-links to "
        f"{exact_text(high)} GB/s"
    )


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count or 'no'} {what}s"
