"""Shared capacities in topology files: conversion of fields to groups of links, and back.

Problem: name sets of links in a file briefly and without loss.
Input:   checked fields of a file and the network without its shared capacities; or a network.
Output:  the groups; or plain data for a file.
Cost:    linear in the links, and a pattern match for each text.
Source:  none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.changes.named_parts import links_named, parts_named
from forestcoll.topology.reading.documents import Document
from forestcoll.topology.shared_capacity import SharedCapacity

if TYPE_CHECKING:
    from forestcoll.topology.model import Topology
    from forestcoll.topology.reading.topology_entries import LinkEntry, SharedEntry

__all__ = ["group_document", "groups_of_entries", "half_duplex_groups", "half_duplex_links"]

Ends = tuple[int, int]


def groups_of_entries(
    document: Document, entries: Iterable[SharedEntry], topology: Topology
) -> list[SharedCapacity]:
    """Return the groups that the field ``shared`` of a file lists.

    Raises
    ------
    InvalidTopologyError
        In one line: the file, the line if known, the field, the value found and the remedy.
    """
    groups = []
    for i, entry in enumerate(entries):
        found: set[Ends] = set()
        for part in entry.links:
            try:
                found.update(_links(topology, entry.name, part))
            except InvalidTopologyError as error:
                raise document.fault(("shared", i, "links"), f"is wrong: {error}") from None
        groups.append(SharedCapacity(entry.name, tuple(sorted(found)), entry.bandwidth_gb_s))
    return groups


def _links(topology: Topology, name: str, part: str | Mapping[str, Any]) -> Iterable[Ends]:
    """Return the links of a text, or of the names ``from`` and ``to``, which are no patterns."""
    if isinstance(part, str):
        return links_named(topology, name, [part])
    for end in (part["from"], part["to"]):
        if end not in topology.position_of:
            raise InvalidTopologyError(f"shared capacity {name!r}: {end!r} is not a node")
    ends = topology.position_of[part["from"]], topology.position_of[part["to"]]
    return [ends, ends[::-1]] if part.get("both") else [ends]


def half_duplex_groups(
    document: Document, links: Iterable[LinkEntry], topology: Topology
) -> list[SharedCapacity]:
    """Return a group of both directions for each pair of nodes with a half-duplex link.

    Parallel full-duplex links add their bandwidth in each direction to the group's limit, because
    data is divided freely over parallel links.
    """
    links = tuple(links)
    if not any(link.half_duplex for link in links):
        return []
    names: dict[Ends, str] = {}
    limit: dict[Ends, Fraction] = {}
    for i, link in enumerate(links):
        ends = topology.position_of[link.tail], topology.position_of[link.head]
        pair = min(ends, ends[::-1])
        if link.half_duplex and not link.both:
            raise document.fault(
                ("links", i, "half_duplex"),
                "is true on a link in one direction; write both: true, or leave it out",
            )
        if link.half_duplex:
            names.setdefault(pair, f"{link.tail} - {link.head}")
        times = 1 if link.half_duplex or not link.both else 2
        limit[pair] = limit.get(pair, Fraction(0)) + times * link.bandwidth_gb_s
    return [
        SharedCapacity(name, tuple(sorted((pair, pair[::-1]))), limit[pair])
        for pair, name in names.items()
    ]


def half_duplex_links(topology: Topology) -> dict[Ends, SharedCapacity]:
    """Return the groups that a file can write as half-duplex links, by their first direction.

    Such a group holds both directions of a link, has the bandwidth of each and the name that
    reading gives it.
    """
    names = [node.name for node in topology.nodes]
    found = {}
    for group in topology.shared:
        tail, head = group.links[0]
        widths = [topology.link_between[ends] for ends in group.links]
        if (
            group.links == ((tail, head), (head, tail))
            and group.name == f"{names[tail]} - {names[head]}"
            and {link.bandwidth_gb_s for link in widths} == {group.bandwidth_gb_s}
            and widths[0].latency_us == widths[1].latency_us
        ):
            found[tail, head] = group
    return found


def group_document(topology: Topology, group: SharedCapacity) -> dict[str, Any]:
    """Return the fields of a group but for its bandwidth; links as texts such as "a -> b"."""
    return {"name": group.name, "links": list(_parts(topology, group))}


def _parts(topology: Topology, group: SharedCapacity) -> Iterable[str | dict[str, Any]]:
    """Yield each link, both directions as one where the group has both; exact names if needed."""
    names, members = [node.name for node in topology.nodes], set(group.links)
    for tail, head in group.links:
        both = (head, tail) in members
        if both and head < tail:
            continue
        text = f"{names[tail]} {'-' if both else '->'} {names[head]}"
        ends = {(tail, head), (head, tail)} if both else {(tail, head)}
        if _means(topology, text, ends):
            yield text
        else:
            entry: dict[str, Any] = {"from": names[tail], "to": names[head]}
            yield {**entry, "both": True} if both else entry


def _means(topology: Topology, text: str, ends: set[Ends]) -> bool:
    """Whether a text names these links: names with arrows or stars in them may not."""
    try:
        return set(parts_named(topology, text).links) == ends
    except InvalidTopologyError:
        return False
