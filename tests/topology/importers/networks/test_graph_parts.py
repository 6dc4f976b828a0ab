"""Attributes of nodes and edges that make a network."""

from collections.abc import Mapping

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.networks.graph_parts import Edge, GraphParts, Vertex
from forestcoll.topology.model import NodeKind, Topology

WIDE = {"bandwidth_gb_s": "25/2"}


def network(
    nodes: Mapping[str, Mapping[str, str]], edge: Mapping[str, str], both: bool = True
) -> Topology:
    parts = GraphParts()
    parts.vertices = [Vertex(name, found, InvalidTopologyError) for name, found in nodes.items()]
    first, second = list(nodes)[:2]
    parts.edges = [Edge(first, second, edge, both, InvalidTopologyError)]
    return parts.topology("n", InvalidTopologyError)


def test_kinds_marks_and_numbers() -> None:
    found = network(
        {"a": {"kind": "GPU", "box": "3", "index": "1"}, "s": {"kind": "switch", "stores": "True"}},
        {"bandwidth": "100 Gb/s", "latency": "500 ns", "color": "red"},
    )
    gpu, switch = found.nodes
    assert (gpu.kind, gpu.box, gpu.index) == (NodeKind.COMPUTE, 3, 1)
    assert (switch.kind, switch.stores, switch.multicast) == (NodeKind.SWITCH, True, False)
    assert [str(link.bandwidth_gb_s) for link in found.links] == ["25/2", "25/2"]
    assert str(found.links[0].latency_us) == "1/2"


def test_an_edge_of_a_directed_graph_is_one_link() -> None:
    assert len(network({"a": {}, "b": {}}, WIDE, both=False).links) == 1


@pytest.mark.parametrize(
    ("nodes", "edge", "message"),
    [
        ({"a": {"kind": "router"}, "b": {}}, WIDE, "kind is 'router'; it must be compute, gpu"),
        ({"a": {"box": "x"}, "b": {}}, WIDE, "box is 'x'; it must be a whole number"),
        ({"a": {"kind": "switch", "multicast": "x"}, "b": {}}, WIDE, "multicast is 'x'"),
        ({"a": {}, "b": {}}, {}, "has no bandwidth; add the attribute bandwidth_gb_s"),
        ({"a": {}, "b": {}}, {"bandwidth": "4 Gbps"}, "may be bits or bytes"),
        ({"a": {}, "b": {}}, {"bandwidth_gb_s": "x"}, "bandwidth_gb_s is 'x'"),
        ({"a": {}, "b": {}}, {"bandwidth_gb_s": "0"}, "positive"),
    ],
)
def test_wrong_attributes_are_refused(
    nodes: dict[str, dict[str, str]], edge: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidTopologyError, match=message):
        network(nodes, edge)
