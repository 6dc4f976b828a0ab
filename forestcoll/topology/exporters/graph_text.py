"""Exporter of networks to GraphML and DOT.

Problem: give a network to graph libraries and editors, and get it back unchanged.
Input:   a topology.
Output:  text with the attributes of :meth:`Topology.to_networkx`; numbers as exact text.
Cost:    linear in nodes and links.
Source:  the GraphML primer; the DOT grammar on graphviz.org.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from forestcoll.errors import ExportError
from forestcoll.topology.model import Node, Topology
from forestcoll.topology.numbers import exact_text
from forestcoll.topology.shared_capacity import shared_attribute

__all__ = ["topology_dot", "topology_graphml"]

_NODE_KEYS = {
    "kind": "string", "box": "int", "index": "int", "multicast": "boolean", "stores": "boolean",
}  # fmt: skip
_EDGE_KEYS = {"bandwidth_gb_s": "string", "latency_us": "string"}


def topology_graphml(topology: Topology) -> str:
    """Return the network as GraphML.

    Raises
    ------
    ExportError
        If a shared capacity has a link whose nodes cannot be named in its list.
    """
    return "\n".join(_graphml(topology)) + "\n"


def _graphml(topology: Topology) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    keys = {"node": _NODE_KEYS, "edge": _EDGE_KEYS, "graph": {"name": "string", "shared": "string"}}
    for what, names in keys.items():
        for name, kind in names.items():
            key = f"{what}_{name}"
            yield f'  <key id="{key}" for="{what}" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <graph edgedefault="directed">'
    yield f"    {_data('graph_name', topology.name)}"
    if topology.shared:
        yield f"    {_data('graph_shared', json.dumps(_shared(topology)))}"
    for node in topology.nodes:
        data = "".join(_data(f"node_{key}", value) for key, value in _attributes(node).items())
        yield f"    <node id={quoteattr(node.name)}>{data}</node>"
    for tail, head, values in _links(topology):
        data = "".join(_data(f"edge_{key}", value) for key, value in values.items())
        yield f"    <edge source={quoteattr(tail)} target={quoteattr(head)}>{data}</edge>"
    yield "  </graph>"
    yield "</graphml>"


def topology_dot(topology: Topology) -> str:
    """Return the network as a digraph in DOT.

    Raises
    ------
    ExportError
        If the network has shared capacities, which DOT has no place for.
    """
    if topology.shared:
        raise ExportError(
            f"{topology.name} has shared capacities, which DOT cannot hold; write GraphML or YAML"
        )
    lines = [f"digraph {_quoted(topology.name)} {{"]
    for node in topology.nodes:
        lines.append(f"  {_quoted(node.name)} [{_pairs(_attributes(node))}];")
    for tail, head, values in _links(topology):
        lines.append(f"  {_quoted(tail)} -> {_quoted(head)} [{_pairs(values)}];")
    return "\n".join((*lines, "}")) + "\n"


def _attributes(node: Node) -> dict[str, str]:
    """Return what differs from a GPU in no box."""
    found = {"kind": str(node.kind)}
    for name in ("box", "index"):
        value = getattr(node, name)
        if value is not None:
            found[name] = str(value)
    for name in ("multicast", "stores"):
        if getattr(node, name):
            found[name] = "true"
    return found


def _links(topology: Topology) -> Iterator[tuple[str, str, dict[str, str]]]:
    names = topology.node_names
    for link in topology.links:
        values = {"bandwidth_gb_s": exact_text(link.bandwidth_gb_s)}
        if link.latency_us:
            values["latency_us"] = exact_text(link.latency_us)
        yield names[link.tail], names[link.head], values


def _shared(topology: Topology) -> list[Mapping[str, object]]:
    """Return shared capacities with links as the importer names them."""
    found: list[Mapping[str, object]] = []
    for group in shared_attribute(topology.shared, topology.node_names):
        for ends in group["links"]:
            if any(letter in name for name in ends for letter in "*?[") or any(
                " " in name for name in ends
            ):
                raise ExportError(
                    f"the link {ends[0]} -> {ends[1]} has a node with a space or one of *?[ in its "
                    f"name; rename it, or write YAML"
                )
        found.append(
            {
                "name": group["name"],
                "links": [f"{tail} -> {head}" for tail, head in group["links"]],
                "bandwidth_gb_s": exact_text(group["bandwidth_gb_s"]),
            }
        )
    return found


def _data(key: str, value: str) -> str:
    return f'<data key="{key}">{escape(value)}</data>'


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _pairs(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={_quoted(value)}" for name, value in values.items())
