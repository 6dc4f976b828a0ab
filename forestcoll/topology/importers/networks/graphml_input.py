"""Importer of GraphML, as networkx and graph editors write it.

Problem: a network as nodes, edges and typed attributes.
Input:   ``<key>`` declarations, a ``<graph>`` of ``<node>`` and ``<edge>`` with ``<data>``; the
         attributes are those of :mod:`graph_parts`. ``shared`` of the graph, our own, is a list in
         JSON of shared capacities.
Output:  a topology.
Cost:    linear in elements, of which there may be 600,000.
Source:  the GraphML primer. Entities are refused; document types are not loaded.
"""

from __future__ import annotations

from collections.abc import Mapping

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.networks.graph_parts import Edge, GraphParts, Vertex
from forestcoll.topology.importers.xml_elements import Element, parse_elements
from forestcoll.topology.model import Topology
from forestcoll.topology.reading.documents import parse_json

__all__ = ["topology_from_graphml"]

_MOST_ELEMENTS = 600_000


def topology_from_graphml(text: str, source: str, name: str) -> Topology:
    """Read a GraphML file.

    Raises
    ------
    InvalidTopologyError
        If it is not GraphML with one graph, or an attribute is missing or wrong.
    """
    top = parse_elements(text, source, _MOST_ELEMENTS)
    graphs = _named(top, "graph")
    if _plain(top) != "graphml" or len(graphs) != 1:
        raise top.fault("is not GraphML with one graph; save the network as such")
    graph = graphs[0]
    directed = graph.attributes.get("edgedefault", "directed") == "directed"
    keys, defaults = _keys(top)
    parts = GraphParts()
    for node in _named(graph, "node"):
        called = node.text("id", "name it")
        found = {**defaults.get("node", {}), **_data(node, keys)}
        if _named(node, "graph"):
            raise node.fault("has a graph inside; give all nodes in one graph")
        parts.vertices.append(Vertex(called, found, node.fault))
    for edge in _named(graph, "edge"):
        ends = edge.text("source", "name its node"), edge.text("target", "name its node")
        one_way = edge.attributes.get("directed", str(directed).lower()) == "true"
        found = {**defaults.get("edge", {}), **_data(edge, keys)}
        parts.edges.append(Edge(*ends, found, not one_way, edge.fault))
    facts = _data(graph, keys)
    if "shared" in facts:
        parts.shared = _shared(facts["shared"], graph)
    return parts.topology(facts.get("name") or name, graph.fault)


def _plain(element: Element) -> str:
    """Return the tag without a prefix of a namespace."""
    return element.tag.rpartition(":")[2]


def _named(element: Element, tag: str) -> list[Element]:
    return [child for child in element.children if _plain(child) == tag]


def _keys(top: Element) -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """Return the names of the attributes by key, and default values by what they are of."""
    names: dict[str, str] = {}
    defaults: dict[str, dict[str, str]] = {}
    for key in _named(top, "key"):
        called = key.text("id", "name it")
        names[called] = key.attributes.get("attr.name", called)
        for default in _named(key, "default"):
            of = key.attributes.get("for", "all")
            for what in ("node", "edge") if of == "all" else (of,):
                defaults.setdefault(what, {})[names[called]] = default.content.strip()
    return names, defaults


def _data(element: Element, keys: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for data in _named(element, "data"):
        key = data.text("key", "name the attribute")
        if key not in keys:
            raise data.fault(f"has the key {key[:40]!r}, which no key declares; declare it")
        found[keys[key]] = data.content.strip()
    return found


def _shared(text: str, graph: Element) -> list[tuple[str, tuple[str, ...], str]]:
    """Read shared capacities: a list of name, links and bandwidth_gb_s."""
    document = parse_json(text, f"{graph.source}, line {graph.line}: shared", InvalidTopologyError)
    entries = document.data if isinstance(document.data, list) else [None]
    found = []
    for i, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("links"), list):
            raise document.fault((i,), "must have name, links and bandwidth_gb_s")
        links = [link for link in entry["links"] if isinstance(link, str)]
        name, limit = entry.get("name"), entry.get("bandwidth_gb_s")
        if not isinstance(name, str) or len(links) < len(entry["links"]):
            raise document.fault((i,), "must have name, links and bandwidth_gb_s, all text")
        found.append((name, tuple(links), str(limit)))
    return found
