"""What a network is: the model, files, families of generators, validation."""

from forestcoll.topology import direct_connect as direct_connect
from forestcoll.topology import fabrics as fabrics
from forestcoll.topology import families as families
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.files import read_topology, write_topology
from forestcoll.topology.format import topology_document, topology_from_document
from forestcoll.topology.groups import group, members_from_text
from forestcoll.topology.model import Link, Node, NodeKind, Topology
from forestcoll.topology.numbers import exact, exact_text
from forestcoll.topology.operations import cartesian_power, cartesian_product, line_graph
from forestcoll.topology.registry import FAMILIES, Family
from forestcoll.topology.spec import load_topology
from forestcoll.topology.validate import validate

__all__ = [
    "FAMILIES",
    "Family",
    "Link",
    "Node",
    "NodeKind",
    "Topology",
    "TopologyBuilder",
    "cartesian_power",
    "cartesian_product",
    "exact",
    "exact_text",
    "group",
    "line_graph",
    "load_topology",
    "members_from_text",
    "read_topology",
    "topology_document",
    "topology_from_document",
    "validate",
    "write_topology",
]
