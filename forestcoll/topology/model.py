"""The topology model: a network with its edits, descriptions and networkx graph as methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.changes import edits
from forestcoll.topology.describe import link_classes, shared_in_words
from forestcoll.topology.graph import IntegerCapacities, Link, NetworkGraph, Node, NodeKind
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.numbers import Exact, exact
from forestcoll.topology.shared_capacity import (
    SharedCapacity,
    groups_from_attribute,
    shared_attribute,
)

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["IntegerCapacities", "Link", "Node", "NodeKind", "SharedCapacity", "Topology"]


class Topology(NetworkGraph, InBrief):
    """A network: nodes in order, and the directed links between them.

    Parallel links are merged by summing their bandwidths (keeping the larger latency); links are
    kept sorted by (tail, head), so that the order in which they were given does not matter.

    Parameters
    ----------
    name : str
    nodes : sequence of Node
    links : sequence of Link
    shared : sequence of SharedCapacity
        Sets of links with a common limit; kept in order of their names.

    Raises
    ------
    InvalidTopologyError
        For a repeated, empty or unprintable name, a mark for switches on another node, a link to a
        node that does not exist or from a node to itself, a bandwidth that is not positive, a
        negative latency, a shared capacity of no link or of one that does not exist.
    """

    def without(self, *parts: str) -> Topology:
        """Return the network without some nodes or links: "b7.gpu0", "b3.gpu2 - ib", "b3.* -> ib".

        See :func:`forestcoll.topology.changes.edits.without`.
        """
        return edits.without(self, parts)

    def scaled(self, parts: str | Iterable[str], factor: Exact) -> Topology:
        """Return the network with the bandwidth of some links ("*": of all) multiplied.

        See :func:`forestcoll.topology.changes.edits.scaled`.
        """
        return edits.scaled(self, parts, factor)

    def with_links(self, links: Mapping[str, Exact]) -> Topology:
        """Return the network with links added: "A - B" (both ways) or "A -> B" to GB/s.

        See :func:`forestcoll.topology.changes.edits.with_links`.
        """
        return edits.with_links(self, links)

    def with_shared(self, name: str, links: str | Iterable[str], bandwidth_gb_s: Exact) -> Topology:
        """Return the network with a common limit on some links: "*.gpu* -> host", "a - b".

        See :func:`forestcoll.topology.changes.edits.with_shared`.
        """
        return edits.with_shared(self, name, links, bandwidth_gb_s)

    def in_a_line(self) -> str:
        """Return its name and its numbers of nodes and links."""
        gpus, switches, links = self.num_compute, len(self.switches), len(self.links)
        groups = len(self.shared)
        limits = f", {groups} shared capacit{'y' if groups == 1 else 'ies'}" if groups else ""
        return (
            f"{self.name}: {gpus} GPU{'s' * (gpus != 1)}, {switches} "
            f"switch{'es' * (switches != 1)}, {links} link{'s' * (links != 1)}{limits}"
        )

    def in_a_table(self) -> Mapping[str, object]:
        """Return the same, with its links by their kind."""
        boxes = {node.box for node in self.nodes if node.box is not None}
        return {
            "topology": self.name,
            "GPUs": self.num_compute,
            "boxes": len(boxes) or None,
            "switches": len(self.switches),
            "links": link_classes(self, self.links) or 0,
            "shared capacities": shared_in_words(self) or None,
        }

    def to_networkx(self) -> nx.DiGraph[str]:
        """Return a networkx graph keyed by node names.

        Nodes carry ``kind``, ``box``, ``index``, ``multicast``, ``stores``; links carry
        ``bandwidth_gb_s`` and ``latency_us`` as Fractions. Where there are shared capacities, the
        graph's attribute ``shared`` lists them as dicts of ``name``, ``links`` and
        ``bandwidth_gb_s``.
        """
        # Imported here, since networkx loads slowly.
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph(name=self.name)
        for node in self.nodes:
            graph.add_node(
                node.name,
                kind=str(node.kind),
                box=node.box,
                index=node.index,
                multicast=node.multicast,
                stores=node.stores,
            )
        for link in self.links:
            graph.add_edge(
                self.nodes[link.tail].name,
                self.nodes[link.head].name,
                bandwidth_gb_s=link.bandwidth_gb_s,
                latency_us=link.latency_us,
            )
        if self.shared:
            graph.graph["shared"] = shared_attribute(
                self.shared, [node.name for node in self.nodes]
            )
        return graph

    @classmethod
    def from_networkx(cls, graph: nx.Graph[str], name: str | None = None) -> Topology:
        """Read a networkx graph; the inverse of :meth:`to_networkx`.

        ``kind`` defaults to compute. An undirected edge stands for a link each way.

        Raises
        ------
        InvalidTopologyError
            For an edge without ``bandwidth_gb_s``, or anything :class:`Topology` refuses.
        """
        place = {key: i for i, key in enumerate(graph.nodes)}
        nodes = [_node_from_attributes(str(key), data) for key, data in graph.nodes(data=True)]
        # ``to_directed`` turns an undirected edge into a link each way.
        directed = graph if graph.is_directed() else graph.to_directed()
        links = []
        for tail, head, data in directed.edges(data=True):
            if "bandwidth_gb_s" not in data:
                raise InvalidTopologyError(f"edge {tail} -> {head} has no bandwidth_gb_s")
            where = f"edge {tail} -> {head}"
            links.append(
                Link(
                    place[tail],
                    place[head],
                    exact(data["bandwidth_gb_s"], f"{where}: bandwidth"),
                    exact(data.get("latency_us", 0), f"{where}: latency"),
                )
            )
        shared = groups_from_attribute(graph.graph.get("shared", []), place)
        return cls(name or graph.name or "networkx graph", tuple(nodes), tuple(links), shared)


def _node_from_attributes(name: str, data: Mapping[str, object]) -> Node:
    kind = data.get("kind", NodeKind.COMPUTE)
    if kind not in tuple(NodeKind):
        raise InvalidTopologyError(
            f"node {name}: kind is {kind!r}; it must be compute, switch or relay"
        )
    box, index = data.get("box"), data.get("index")
    return Node(
        name=name,
        kind=NodeKind(str(kind)),
        box=box if isinstance(box, int) else None,
        index=index if isinstance(index, int) else None,
        multicast=bool(data.get("multicast", False)),
        stores=bool(data.get("stores", False)),
    )
