"""What a network is: the model, files, families of generators, validation.

To read: ``model`` (nodes and links), ``shared_capacity`` (common limits of links), ``numbers``
(exact ones), ``builder`` (networks by naming things) and ``families/`` (by name); ``format``,
``documents`` and ``files`` (in YAML and JSON), ``importers/`` (in files of other tools); ``spec``
(any of these from one word), ``expanded`` (families of networks made of networks); then what is
asked of networks: ``validation``, ``groups``, ``operations``, ``differences``, ``describe``,
``in_brief`` (what a notebook shows); ``changes/`` (parts dead or added), ``symmetry/``.
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
    "FAMILIES",
    "Family",
    "Link",
    "Network",
    "Node",
    "NodeKind",
    "SharedCapacity",
    "Topology",
    "TopologyBuilder",
    "as_topology",
    "both_ways",
    "cartesian_power",
    "cartesian_product",
    "degree_expansion",
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
