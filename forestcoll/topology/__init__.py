"""Networks: the topology model, files, families of generators, validation and changes.

To read: ``numbers`` (exact input), ``shared_capacity`` (common limits of links), ``link_columns``
(links as arrays), ``graph``; on these ``changes/`` (left out or added), ``describe``, ``in_brief``,
``in_rows`` (displays in notebooks); ``model``, the class with these as methods. Then ``builder``
(networks node by node) and ``families/`` (networks by name). Files: ``reading/`` (to plain data),
``format``, ``changed_file``, ``files`` (YAML, JSON), ``importers/``, ``exporters/`` (other tools).
``spec`` makes any of these from one word, ``expanded`` families of networks made of networks.
Functions on networks: ``validation``, ``groups``, ``operations``, ``differences``,
``shortest_paths``, ``symmetry/``.
"""

from forestcoll.topology import expanded as expanded
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families import FAMILIES, Family
from forestcoll.topology.families import direct_connect as direct_connect
from forestcoll.topology.families import fabrics as fabrics
from forestcoll.topology.files import read_topology, write_topology
from forestcoll.topology.format import topology_document, topology_from_document
from forestcoll.topology.groups import group, members_from_text
from forestcoll.topology.model import Link, Node, NodeKind, SharedCapacity, Topology
from forestcoll.topology.numbers import exact, exact_text
from forestcoll.topology.operations import (
    both_ways,
    cartesian_power,
    cartesian_product,
    degree_expansion,
    line_graph,
)
from forestcoll.topology.spec import Network, as_topology, load_topology
from forestcoll.topology.validation import validate

__all__ = [
    "FAMILIES", "Family", "Link", "Network", "Node", "NodeKind", "SharedCapacity", "Topology",
    "TopologyBuilder", "as_topology", "both_ways", "cartesian_power", "cartesian_product",
    "degree_expansion", "exact", "exact_text", "group", "line_graph", "load_topology",
    "members_from_text", "read_topology", "topology_document", "topology_from_document", "validate",
    "write_topology",
]  # fmt: skip
