"""File format of topologies: conversion to and from a Topology, and the JSON schema.

docs/formats/topology.md documents the format; :func:`topology_schema` gives the JSON schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.changed_file import CHANGED_SCHEMA
from forestcoll.topology.model import Link, Node, NodeKind, Topology
from forestcoll.topology.numbers import Exact, exact_text
from forestcoll.topology.reading.documents import Document
from forestcoll.topology.reading.shared_groups import (
    group_document,
    groups_of_entries,
    half_duplex_groups,
    half_duplex_links,
)

if TYPE_CHECKING:
    from forestcoll.topology.reading.topology_entries import LinkEntry, NodeEntry

__all__ = ["topology_document", "topology_from_document", "topology_schema"]


def topology_from_document(document: Document) -> Topology:
    """Check the data of a file against the format and make the topology.

    Raises
    ------
    InvalidTopologyError
        In one line: the file, the line if known, the field, the value found and the remedy.
    """
    if document.data is None:
        raise document.fault(
            (), "the file is empty; see docs/formats/topology.md for what to write"
        )
    from forestcoll.topology.reading.topology_entries import checked_entry  # loads pydantic

    entry = checked_entry(document)
    position = _positions(document, entry.nodes)
    links: list[Link] = []
    for i, link in enumerate(entry.links):
        links += _links(document, i, link, position)
    nodes = tuple(
        Node(n.name, NodeKind(n.kind), n.box, n.index, n.multicast, n.stores) for n in entry.nodes
    )
    try:
        made = Topology(entry.name, nodes, tuple(links))
    except InvalidTopologyError as error:
        raise document.fault((), str(error)) from None
    groups = half_duplex_groups(document, entry.links, made)
    groups += groups_of_entries(document, entry.shared, made)
    try:
        return replace(made, shared=tuple(groups)) if groups else made
    except InvalidTopologyError as error:
        raise document.fault(("shared",), f"is wrong: {error}") from None


def topology_document(topology: Topology) -> dict[str, Any]:
    """Return the topology as plain data in the file format: text, whole numbers, booleans.

    A link and an equal link in the other direction are written once, with ``both``. Fields that
    equal their default are left out, and so is an empty ``shared``.
    """
    names = [node.name for node in topology.nodes]
    half_duplex = half_duplex_links(topology)
    links = []
    for link in topology.links:
        twin = topology.link_between.get((link.head, link.tail))
        both = twin is not None and (twin.bandwidth_gb_s, twin.latency_us) == (
            link.bandwidth_gb_s,
            link.latency_us,
        )
        if both and link.head < link.tail:
            continue
        entry: dict[str, Any] = {"from": names[link.tail], "to": names[link.head]}
        entry["bandwidth_gb_s"] = _plain(link.bandwidth_gb_s)
        if link.latency_us:
            entry["latency_us"] = _plain(link.latency_us)
        if both:
            entry["both"] = True
        if (link.tail, link.head) in half_duplex:
            entry["half_duplex"] = True
        links.append(entry)
    document = {"name": topology.name, "nodes": list(map(_node, topology.nodes)), "links": links}
    in_short = list(half_duplex.values())
    shared = [
        {**group_document(topology, group), "bandwidth_gb_s": _plain(group.bandwidth_gb_s)}
        for group in topology.shared
        if group not in in_short
    ]
    return {**document, "shared": shared} if shared else document


def topology_schema() -> dict[str, Any]:
    """Return the JSON schema of the format (of JSON files, and of YAML ones read as such)."""
    from forestcoll.topology.reading.topology_entries import TopologyEntry  # loads pydantic

    schema = TopologyEntry.model_json_schema()
    definitions = schema.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "anyOf": [schema, dict(CHANGED_SCHEMA)],
        "$defs": definitions,
    }


def _node(node: Node) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": node.name, "kind": str(node.kind)}
    if node.box is not None:
        entry["box"] = node.box
    if node.index is not None:
        entry["index"] = node.index
    for mark in ("multicast", "stores"):
        if getattr(node, mark):
            entry[mark] = True
    return entry


def _plain(number: Fraction) -> Exact:
    return number.numerator if number.denominator == 1 else exact_text(number)


def _positions(document: Document, nodes: Sequence[NodeEntry]) -> dict[str, int]:
    position: dict[str, int] = {}
    for i, node in enumerate(nodes):
        if node.name in position:
            problem = f"is {node.name!r}, as is nodes[{position[node.name]}].name; rename one"
            raise document.fault(("nodes", i, "name"), problem)
        for mark, verb in (("multicast", "multicast"), ("stores", "store")):
            if getattr(node, mark) and node.kind != "switch":
                problem = f"is true on a {node.kind} node; only a switch can {verb}"
                raise document.fault(("nodes", i, mark), problem)
        position[node.name] = i
    return position


def _links(document: Document, i: int, link: LinkEntry, position: dict[str, int]) -> list[Link]:
    for key, name in (("from", link.tail), ("to", link.head)):
        if name not in position:
            remedy = did_you_mean(name, position, "add it under nodes", repr)
            raise document.fault(("links", i, key), f"is {name!r}, which is not a node; {remedy}")
    if link.tail == link.head:
        problem = f"is {link.head!r}, where the link comes from; remove the link"
        raise document.fault(("links", i, "to"), problem)
    tail, head = position[link.tail], position[link.head]
    there = Link(tail, head, link.bandwidth_gb_s, link.latency_us)
    back = Link(head, tail, link.bandwidth_gb_s, link.latency_us)
    return [there, back] if link.both else [there]
