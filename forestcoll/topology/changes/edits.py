"""A network with parts left out, made slower or faster, or added.

Problem: what the network is, or would be, with some of it dead or better.
Input:   a topology and texts that name parts of it.
Output:  another topology, whose name says what was changed.
Cost:    linear in the nodes and links.
Source:  none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.changes.named_parts import ends_named, parts_named
from forestcoll.topology.numbers import Exact, exact, exact_text

if TYPE_CHECKING:
    from forestcoll.topology.model import Topology

__all__ = ["Changes", "scaled", "with_links", "without"]

_SAID = 2  # parts that a name names


@dataclass(frozen=True, slots=True)
class Changes:
    """What a network differs by from another, in the words of files and of the command line.

    Parameters
    ----------
    links : mapping of str to number
        New ones, or more of those there are: "A - B" to GB/s each way.
    scale : mapping of str to number
        Parts to factors.
    without : sequence of str
        Parts that are not there.
    """

    links: Mapping[str, Exact]
    scale: Mapping[str, Exact]
    without: Sequence[str]

    def __bool__(self) -> bool:
        return bool(self.links or self.scale or self.without)

    def applied(self, topology: Topology) -> Topology:
        """Return the network changed: links are added, then scaled, then left out.

        Raises
        ------
        InvalidTopologyError
            As of :func:`with_links`, :func:`scaled` and :func:`without`.
        """
        if self.links:
            topology = with_links(topology, self.links)
        for part, factor in self.scale.items():
            topology = scaled(topology, part, factor)
        return without(topology, self.without) if self.without else topology


def without(topology: Topology, parts: Iterable[str]) -> Topology:
    """Return the network without some nodes, and their links, or some links.

    Ranks count the GPUs that are left.

    Parameters
    ----------
    topology : Topology
    parts : iterable of str
        As of :func:`forestcoll.topology.changes.named_parts.parts_named`.

    Raises
    ------
    InvalidTopologyError
        If a part is not there, or nothing is left.
    """
    said = _texts(parts)
    gone_nodes: set[int] = set()
    gone_links: set[tuple[int, int]] = set()
    for part in said:
        named = parts_named(topology, part)
        gone_nodes.update(named.nodes)
        gone_links.update(named.links)
    kept = [v for v in range(len(topology.nodes)) if v not in gone_nodes]
    if not kept:
        raise InvalidTopologyError(f"nothing of {topology.name} is left; leave out less")
    links = (link for link in topology.links if (link.tail, link.head) not in gone_links)
    if gone_nodes:
        place = {old: new for new, old in enumerate(kept)}
        links = (replace(link, tail=place[link.tail], head=place[link.head]) for link in links)
    nodes = tuple(topology.nodes[v] for v in kept) if gone_nodes else topology.nodes
    return topology.like(f"{topology.name} without {_in_short(said)}", nodes, tuple(links))


def scaled(topology: Topology, parts: str | Iterable[str], factor: Exact) -> Topology:
    """Return the network with the bandwidth of some links multiplied.

    Parameters
    ----------
    topology : Topology
    parts : str or iterable of str
        As of :func:`forestcoll.topology.changes.named_parts.parts_named`; of a node, all its
        links. "*" is all there are, and leaves the name as it is.
    factor : int, Fraction or str
        Positive.

    Raises
    ------
    InvalidTopologyError
        If a part is not there or the factor is not positive.
    """
    said, by = _texts(parts), exact(factor, "the factor")
    if by <= 0:
        raise InvalidTopologyError(
            f"the factor is {by}; it must be positive (leave a dead part out: without)"
        )
    chosen = {ends for part in said for ends in parts_named(topology, part).links}
    links = (
        replace(link, bandwidth_gb_s=link.bandwidth_gb_s * by)
        if (link.tail, link.head) in chosen
        else link
        for link in topology.links
    )
    suffix = "" if said == ("*",) else f" with {_in_short(said)} x {exact_text(by)}"
    return topology.like(f"{topology.name}{suffix}", topology.nodes, tuple(links))


def with_links(topology: Topology, links: Mapping[str, Exact]) -> Topology:
    """Return the network with links added.

    Parameters
    ----------
    topology : Topology
    links : mapping of str to number
        "A - B" (both ways) or "A -> B" to GB/s in each direction. Where there is a link already it
        gets as much faster; the latency stays, or is 0.

    Raises
    ------
    InvalidTopologyError
        If an end is no node, a node would be joined to itself, or a bandwidth is not positive.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> ring = with_links(load_topology("ring:nodes=4"), {"gpu0 - gpu2": 5})
    >>> ring.link_between[2, 0].bandwidth_gb_s
    Fraction(5, 1)
    """
    from forestcoll.topology.model import Link

    added: list[Link] = []
    for text, bandwidth in links.items():
        width: Fraction = exact(bandwidth, f"{text}: bandwidth")
        added += [Link(tail, head, width) for tail, head in ends_named(topology, text)]
    name = f"{topology.name} with {_in_short(_texts(links))}"
    return replace(topology, name=name, links=(*topology.links, *added))


def _texts(parts: str | Iterable[str]) -> tuple[str, ...]:
    given = (parts,) if isinstance(parts, str) else tuple(parts)
    return tuple(" ".join(part.split()) for part in given)  # they become part of a name


def _in_short(parts: Sequence[str]) -> str:
    """Name a few parts, and count the others."""
    if len(parts) <= _SAID:
        return " and ".join(parts)
    return f"{', '.join(parts[:_SAID])} and {len(parts) - _SAID} more"
