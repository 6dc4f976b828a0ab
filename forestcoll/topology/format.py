"""File format of topologies: conversion to and from a Topology, and the JSON schema.

docs/formats/topology.md documents the format; :func:`topology_schema` gives the JSON schema.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from forestcoll.errors import ForestCollError, InvalidTopologyError, did_you_mean
from forestcoll.topology.changed_file import CHANGED_SCHEMA
from forestcoll.topology.link_columns import LinkColumns, LinkNumbers
from forestcoll.topology.model import Node, NodeKind, Topology
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
    from forestcoll.topology.shared_capacity import Ends

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
    columns = _columns(document, entry.links, position)
    nodes = tuple(
        Node(n.name, NodeKind(n.kind), n.box, n.index, n.multicast, n.stores) for n in entry.nodes
    )
    try:
        made = Topology.of_columns(entry.name, nodes, columns)
    except InvalidTopologyError as error:
        raise document.fault((), str(error)) from None
    groups = half_duplex_groups(document, entry.links, made)
    groups += groups_of_entries(document, entry.shared, made)
    try:
        if not groups:
            return made
        return Topology.of_columns(made.name, nodes, made.columns, tuple(groups))
    except InvalidTopologyError as error:
        raise document.fault(("shared",), f"is wrong: {error}") from None


def topology_document(topology: Topology) -> dict[str, Any]:
    """Return the topology as plain data in the file format: text, whole numbers, booleans.

    A link and an equal link in the other direction are written once, with ``both``. Fields that
    equal their default are left out, and so is an empty ``shared``.
    """
    half_duplex = half_duplex_links(topology)
    links = _link_entries(topology, half_duplex)
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
    entry: dict[str, Any] = {"name": node.name, "kind": node.kind.value}
    if node.box is not None:
        entry["box"] = node.box
    if node.index is not None:
        entry["index"] = node.index
    if node.multicast:
        entry["multicast"] = True
    if node.stores:
        entry["stores"] = True
    return entry


def _link_entries(topology: Topology, half_duplex: Collection[Ends]) -> list[dict[str, Any]]:
    names, columns = topology.node_names, topology.columns
    places, both = columns.without_twins()
    written = columns.take(places)
    ends = list(zip(written.tail.tolist(), written.head.tolist(), strict=True))
    fields = [(_numbers(kind), {**_numbers(kind), "both": True}) for kind in columns.kinds]
    entries = [
        {"from": names[tail], "to": names[head], **fields[kind][twin]}
        for (tail, head), kind, twin in zip(ends, written.kind.tolist(), both.tolist(), strict=True)
    ]
    if half_duplex:
        place = {pair: i for i, pair in enumerate(ends)}
        for pair in half_duplex:
            entries[place[pair]]["half_duplex"] = True
    return entries


def _numbers(numbers: LinkNumbers) -> dict[str, Any]:
    bandwidth, latency = numbers
    entry: dict[str, Any] = {"bandwidth_gb_s": _plain(bandwidth)}
    return {**entry, "latency_us": _plain(latency)} if latency else entry


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


def _columns(
    document: Document, links: Sequence[LinkEntry], position: dict[str, int]
) -> LinkColumns:
    tail = [position.get(link.tail, -1) for link in links]
    head = [position.get(link.head, -1) for link in links]
    for i, (one, other) in enumerate(zip(tail, head, strict=True)):
        if one < 0 or other < 0 or one == other:
            raise _wrong_end(document, i, links[i], position)
    numbers = [(link.bandwidth_gb_s, link.latency_us) for link in links]
    both = np.array([link.both for link in links], dtype=bool)
    return LinkColumns.of_lists(tail, head, numbers).both_ways(both)


def _wrong_end(
    document: Document, i: int, link: LinkEntry, position: dict[str, int]
) -> ForestCollError:
    for key, name in (("from", link.tail), ("to", link.head)):
        if name not in position:
            remedy = did_you_mean(name, position, "add it under nodes", repr)
            return document.fault(("links", i, key), f"is {name!r}, which is not a node; {remedy}")
    problem = f"is {link.head!r}, where the link comes from; remove the link"
    return document.fault(("links", i, "to"), problem)
