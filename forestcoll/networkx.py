"""Conversion between topologies and networkx graphs.

Problem: analyse a network with a familiar graph library.
Input:   a topology, or a graph whose links have ``bandwidth_gb_s``.
Output:  the other one.
Cost:    linear.
Source:  none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["from_networkx", "to_networkx"]


def to_networkx(topology: Network) -> nx.DiGraph[str]:
    """Return a network as a directed graph, keyed by the names of its nodes.

    Like :meth:`Topology.to_networkx`, but also accepts a specification or the path of a file.
    """
    return as_topology(topology).to_networkx()


def from_networkx(graph: nx.Graph[str], name: str | None = None) -> Topology:
    """Make a topology from a graph, like :meth:`Topology.from_networkx`."""
    return Topology.from_networkx(graph, name)
