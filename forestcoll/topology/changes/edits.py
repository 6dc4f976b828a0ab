"""Edits of a network: parts left out, slower, faster or added.

Problem: the network after failures or upgrades.
Input:   a topology and texts that name parts of it.
Output:  another topology, whose name says what was changed.
Cost:    linear in the nodes and links.
Source:  none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.changes.named_parts import ends_named, links_named, parts_named
from forestcoll.topology.graph import Link, NetworkGraph
from forestcoll.topology.numbers import Exact, exact, exact_text
from forestcoll.topology.shared_capacity import SharedCapacity, kept, moved

__all__ = ["Changes", "scaled", "with_links", "with_shared", "without"]

T = TypeVar("T", bound=NetworkGraph)
"""A topology: an edit returns the type that it is given."""

_SAID = 2  # parts that the network's name lists; it counts the others


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of a network, in the syntax of files and of the command line.

    Parameters
    ----------
    links : mapping of str to number
        New links, or more bandwidth of existing ones: "A - B" to GB/s each way.
    scale : mapping of str to number
        Parts to factors.
    without : sequence of str
        Parts to leave out.
    shared : mapping of str to (sequence of str, number)
        New shared capacities by their names: links, and their common limit in GB/s.
    """

    links: Mapping[str, Exact]
    scale: Mapping[str, Exact]
    without: Sequence[str]
    shared: Mapping[str, tuple[Sequence[str], Exact]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.links or self.scale or self.without or self.shared)

    def applied(self, topology: T) -> T:
        """Return the changed network: links and limits are added, then scaled, then left out.

        Raises
        ------
        InvalidTopologyError
            As :func:`with_links`, :func:`with_shared`, :func:`scaled` and :func:`without`.
        """
        if self.links:
            topology = with_links(topology, self.links)
        for name, (links, limit) in self.shared.items():
            topology = with_shared(topology, name, links, limit)
        for part, factor in self.scale.items():
            topology = scaled(topology, part, factor)
        return without(topology, self.without) if self.without else topology


def without(topology: T, parts: Iterable[str]) -> T:
    """Return the network without some nodes and their links, or some links or shared capacities.

    Ranks count the remaining GPUs. Shared capacities keep their limit for the remaining links.

    Parameters
    ----------
    topology : Topology
    parts : iterable of str
        As for :func:`forestcoll.topology.changes.named_parts.parts_named`, or the name of a shared
        capacity, whose limit is then lifted.

    Raises
    ------
    InvalidTopologyError
        If a part does not exist, or nothing is left.
    """
    names = _texts(parts)
    limits = {group.name: group for group in topology.shared}
    columns, gone_nodes = topology.columns, set[int]()
    remain = np.ones(len(columns), dtype=np.bool_)
    for part in names:
        if part in limits:
            continue
        named = parts_named(topology, part)
        gone_nodes.update(named.nodes)
        tail, head = np.array(named.links, dtype=np.int64).reshape(-1, 2).T
        remain[columns.places_of(tail, head)] = False
    left = [v for v in range(len(topology.nodes)) if v not in gone_nodes]
    if not left:
        raise InvalidTopologyError(f"nothing of {topology.name} is left; leave out less")
    columns = columns.take(np.flatnonzero(remain))
    groups = (group for group in topology.shared if group.name not in names)
    shared = kept(groups, columns.pairs()) if topology.shared else ()
    nodes = topology.nodes
    if gone_nodes:
        place = np.zeros(len(nodes), dtype=np.int32)
        place[left] = range(len(left))
        columns = replace(columns, tail=place[columns.tail], head=place[columns.head])
        shared = moved(shared, {old: new for new, old in enumerate(left)})
        nodes = tuple(nodes[v] for v in left)
    name = f"{topology.name} without {_in_short(names)}"
    return topology.like(name, nodes, columns, shared=shared)


def scaled(topology: T, parts: str | Iterable[str], factor: Exact) -> T:
    """Return the network with the bandwidth of some links or shared capacities multiplied.

    A shared capacity changes only if it is named: faster links do not make host memory faster.

    Parameters
    ----------
    topology : Topology
    parts : str or iterable of str
        As for :func:`forestcoll.topology.changes.named_parts.parts_named`, where a node stands for
        all its links; or the name of a shared capacity. "*" is all links; the network then keeps
        its name.
    factor : int, Fraction or str
        Positive.

    Raises
    ------
    InvalidTopologyError
        If a part does not exist or the factor is not positive.
    """
    names, by = _texts(parts), exact(factor, "the factor")
    if by <= 0:
        raise InvalidTopologyError(
            f"the factor is {by}; it must be positive (leave a dead part out: without)"
        )
    limits = {group.name for group in topology.shared}
    of_links = [part for part in names if part not in limits]
    chosen = {ends for part in of_links for ends in parts_named(topology, part).links}
    links = (
        replace(link, bandwidth_gb_s=link.bandwidth_gb_s * by)
        if (link.tail, link.head) in chosen
        else link
        for link in topology.links
    )
    suffix = "" if names == ("*",) else f" with {_in_short(names)} x {exact_text(by)}"
    shared = tuple(
        replace(group, bandwidth_gb_s=group.bandwidth_gb_s * by) if group.name in names else group
        for group in topology.shared
    )
    return topology.like(f"{topology.name}{suffix}", topology.nodes, tuple(links), shared=shared)


def with_links(topology: T, links: Mapping[str, Exact]) -> T:
    """Return the network with links added.

    Parameters
    ----------
    topology : Topology
    links : mapping of str to number
        "A - B" (both ways) or "A -> B" to GB/s in each direction. An existing link gets that much
        more bandwidth and keeps its latency; a new one has latency 0.

    Raises
    ------
    InvalidTopologyError
        If an end is not a node, a node would be joined to itself, or a bandwidth is not positive.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> ring = with_links(load_topology("ring:nodes=4"), {"gpu0 - gpu2": 5})
    >>> ring.link_between[2, 0].bandwidth_gb_s
    Fraction(5, 1)
    """
    added: list[Link] = []
    for text, bandwidth in links.items():
        width: Fraction = exact(bandwidth, f"{text}: bandwidth")
        added += [Link(tail, head, width) for tail, head in ends_named(topology, text)]
    name = f"{topology.name} with {_in_short(_texts(links))}"
    return replace(topology, name=name, links=(*topology.links, *added))


def with_shared(topology: T, name: str, links: str | Iterable[str], bandwidth_gb_s: Exact) -> T:
    """Return the network with one more shared capacity, under the same name.

    Parameters
    ----------
    topology : Topology
    name : str
        Name of the shared capacity.
    links : str or iterable of str
        As for :func:`forestcoll.topology.changes.named_parts.parts_named`; a node stands for all
        its links.
    bandwidth_gb_s : int, Fraction or str
        The limit on all the links together, in GB/s.

    Raises
    ------
    InvalidTopologyError
        If a text names no link, the name is taken or the bandwidth is not positive.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> wire = with_shared(load_topology("ring:nodes=4"), "wire", "gpu0 - gpu1", "1/2")
    >>> wire.shared
    (SharedCapacity(name='wire', links=((0, 1), (1, 0)), bandwidth_gb_s=Fraction(1, 2)),)
    """
    members = links_named(topology, name, (links,) if isinstance(links, str) else links)
    limit = exact(bandwidth_gb_s, f"shared capacity {name!r}: bandwidth")
    group = SharedCapacity(name, members, limit)
    return replace(topology, shared=(*topology.shared, group))


def _texts(parts: str | Iterable[str]) -> tuple[str, ...]:
    given = (parts,) if isinstance(parts, str) else tuple(parts)
    return tuple(" ".join(part.split()) for part in given)  # they become part of a name


def _in_short(parts: Sequence[str]) -> str:
    """Name a few parts, and count the others."""
    if len(parts) <= _SAID:
        return " and ".join(parts)
    return f"{', '.join(parts[:_SAID])} and {len(parts) - _SAID} more"
