"""GraphML and DOT, read back as they were."""

import networkx as nx
import pytest
from hypothesis import given, settings

from forestcoll.errors import ExportError
from forestcoll.topology import TopologyBuilder, load_topology
from forestcoll.topology.exporters.graph_text import topology_dot, topology_graphml
from forestcoll.topology.importers.networks.dot_input import topology_from_dot
from forestcoll.topology.importers.networks.graphml_input import topology_from_graphml
from forestcoll.topology.model import Topology
from tests.strategies import topologies

SPECS = ["ring:nodes=5", "dgx_h100:boxes=2", "mi250:boxes=1", "hypercube:dimension=3"]


@pytest.mark.parametrize("spec", SPECS)
def test_families_come_back_equal(spec: str) -> None:
    given = load_topology(spec)
    assert topology_from_graphml(topology_graphml(given), "f", "n") == given
    assert topology_from_dot(topology_dot(given), "f", "n") == given


@given(topologies())
@settings(max_examples=40, deadline=None)
def test_any_network_comes_back_equal(network: Topology) -> None:
    assert topology_from_graphml(topology_graphml(network), "f", "n") == network
    assert topology_from_dot(topology_dot(network), "f", "n") == network


def odd() -> Topology:
    builder = TopologyBuilder()
    builder.gpu('a "<&\\', 1, 0)
    builder.gpu("b ]", 1, 7)
    builder.switch("graph", multicast=True, stores=True)
    builder.link('a "<&\\', "graph", "1/3", "0.5")
    builder.arc("graph", "b ]", 12)
    return builder.build("odd \\ \"names\" & 'marks'")


def test_odd_names_and_marks_come_back() -> None:
    assert topology_from_graphml(topology_graphml(odd()), "f", "n") == odd()
    assert topology_from_dot(topology_dot(odd()), "f", "n") == odd()


def test_networkx_reads_the_graphml() -> None:
    graph = nx.parse_graphml(topology_graphml(load_topology("ring:nodes=3,bandwidth=12.5")))
    assert graph.number_of_edges() == 6
    assert graph.edges["gpu0", "gpu1"]["bandwidth_gb_s"] == "12.5"
    assert graph.nodes["gpu0"]["kind"] == "compute"


def test_shared_capacities_are_in_graphml_only() -> None:
    network = load_topology("ring:nodes=3").with_shared("wire", ["gpu0 - gpu1", "gpu2 -> gpu0"], 1)
    assert topology_from_graphml(topology_graphml(network), "f", "n") == network
    with pytest.raises(ExportError, match="shared capacities, which DOT cannot hold"):
        topology_dot(network)
    odd_one = odd().with_shared("wire", ["graph -> *"], 1)
    with pytest.raises(ExportError, match="a space or one of"):
        topology_graphml(odd_one)
