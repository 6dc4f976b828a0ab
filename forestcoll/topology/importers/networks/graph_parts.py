"""A topology from nodes and edges with attributes, as graph files have them.

Problem: GraphML and DOT have any attributes; which of them make a network.
Input:   nodes with ``kind`` (compute or gpu, switch, relay), ``box``, ``index``, ``multicast``,
         ``stores``; edges with ``bandwidth_gb_s`` (GB/s) or ``bandwidth`` (with a unit, such as
         400 Gb/s), and ``latency_us`` or ``latency``. All attributes are text.
Output:  a topology; other attributes, such as colours, do not matter.
Source:  the attributes are those of :meth:`Topology.to_networkx`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TypeVar

from forestcoll.errors import ForestCollError, InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import exact
from forestcoll.topology.reading.units import bandwidth_gb_s, latency_us

__all__ = ["Edge", "GraphParts", "Vertex"]

_KINDS = {"compute": False, "gpu": False, "switch": True, "relay": True}
_TRUE = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}
Made = TypeVar("Made")
_Fault = Callable[[str], ForestCollError]


@dataclass(frozen=True, slots=True)
class Vertex:
    """A node with its attributes; ``fault`` makes errors about it."""

    name: str
    attributes: Mapping[str, str]
    fault: _Fault


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge with its attributes; ``both`` if it stands for a link each way."""

    tail: str
    head: str
    attributes: Mapping[str, str]
    both: bool
    fault: _Fault


@dataclass(slots=True)
class GraphParts:
    """What a graph file holds."""

    vertices: list[Vertex] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    shared: list[tuple[str, tuple[str, ...], str]] = field(default_factory=list)

    def topology(self, name: str, fault: _Fault) -> Topology:
        """Return the network.

        Raises
        ------
        ForestCollError
            If an attribute is wrong, a bandwidth is missing, or an edge leads to no node.
        """
        builder = TopologyBuilder()
        for vertex in self.vertices:
            _guarded(vertex.fault, partial(_add_vertex, builder, vertex))
        for edge in self.edges:
            _guarded(edge.fault, partial(_add_edge, builder, edge))
        for called, parts, limit in self.shared:
            _guarded(fault, partial(builder.share, called, parts, limit))
        return _guarded(fault, partial(builder.build, name))


def _guarded(fault: _Fault, make: Callable[[], Made]) -> Made:
    try:
        return make()
    except InvalidTopologyError as error:
        raise fault(str(error)) from None


def _add_vertex(builder: TopologyBuilder, vertex: Vertex) -> None:
    kind = vertex.attributes.get("kind", "compute").lower()
    if kind not in _KINDS:
        raise InvalidTopologyError(f"kind is {kind[:40]!r}; it must be {', '.join(_KINDS)}")
    box, index = (_whole(vertex.attributes.get(name, ""), name) for name in ("box", "index"))
    if not _KINDS[kind]:
        builder.gpu(vertex.name, box, index)
        return
    marks = {name: _mark(vertex.attributes.get(name, ""), name) for name in ("multicast", "stores")}
    builder.switch(vertex.name, box, index, **marks)


def _whole(text: str, what: str) -> int | None:
    if text in ("", "None"):
        return None
    if not text.isdecimal() or len(text) > 9:
        raise InvalidTopologyError(f"{what} is {text[:40]!r}; it must be a whole number")
    return int(text)


def _mark(text: str, what: str) -> bool:
    if text.lower() not in _TRUE:
        raise InvalidTopologyError(f"{what} is {text[:40]!r}; it must be true or false")
    return _TRUE[text.lower()]


def _add_edge(builder: TopologyBuilder, edge: Edge) -> None:
    width = _one_of(edge.attributes, "bandwidth_gb_s", "bandwidth", bandwidth_gb_s)
    if width is None:
        raise InvalidTopologyError(
            "has no bandwidth; add the attribute bandwidth_gb_s, in GB/s per direction"
        )
    delay = _one_of(edge.attributes, "latency_us", "latency", latency_us) or Fraction(0)
    make = builder.link if edge.both else builder.arc
    make(edge.tail, edge.head, width, delay)


def _one_of(
    attributes: Mapping[str, str], plain: str, united: str, read: Callable[[str], Fraction]
) -> Fraction | None:
    """Return a number from the attribute in our unit, or from that with a unit of its own."""
    if plain in attributes:
        return exact(attributes[plain], plain)
    return read(attributes[united]) if united in attributes else None
