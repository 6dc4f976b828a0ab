"""GraphML of networkx, of others, and hostile."""

import re
from pathlib import Path

import networkx as nx
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology
from forestcoll.topology.importers.networks.graphml_input import topology_from_graphml
from tests.topology.importers.small_files import GRAPHML


def test_an_undirected_graph_with_default_kinds() -> None:
    found = topology_from_graphml(GRAPHML, "f", "n")
    assert found.num_compute == 2
    assert [node.name for node in found.nodes] == ["a", "b", "s"]
    assert {link.bandwidth_gb_s for link in found.links} == {50}


def test_files_of_networkx_are_read(tmp_path: Path) -> None:
    """Fractions become text first, as networkx writes plain values only."""
    ring = load_topology("ring:nodes=4,bandwidth=12.5")
    graph = nx.DiGraph()
    for name, data in ring.to_networkx().nodes(data=True):
        graph.add_node(name, **{key: value for key, value in data.items() if value is not None})
    for tail, head, data in ring.to_networkx().edges(data=True):
        graph.add_edge(tail, head, bandwidth_gb_s=float(data["bandwidth_gb_s"]))
    nx.write_graphml(graph, tmp_path / "a.graphml")
    text = (tmp_path / "a.graphml").read_text(encoding="utf-8")
    assert topology_from_graphml(text, "f", ring.name) == ring


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("graphml", "graph_ml", "is not GraphML with one graph"),
        ("</graph>", '</graph><graph edgedefault="directed"/>', "is not GraphML with one graph"),
        ('key="d0"', 'key="d7"', "line 9: data has the key 'd7', which no key declares"),
        ("50</data>", "</data>", "line 10: edge"),
        ('target="b"', 'target="z"', "line 10: edge no node is named 'z'"),
        ('<node id="b"/>', '<node id="a"/>', "line 7: node two nodes are named 'a'"),
        ('<node id="b"/>', "<node/>", "line 7: node has no id"),
        ('<node id="b"/>', '<node id="b"><graph/></node>', "line 7: node has a graph inside"),
        ("encoding='utf-8'?>", "?><!DOCTYPE a [<!ENTITY b 'c'>]>", "declares an entity"),
    ],
)
def test_wrong_and_hostile_files_are_refused(old: str, new: str, message: str) -> None:
    assert old in GRAPHML
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        topology_from_graphml(GRAPHML.replace(old, new), "f", "n")


def test_shared_capacities_are_a_list_of_the_graph() -> None:
    key = '<key id="g" for="graph" attr.name="shared" attr.type="string"/><graph '
    text = GRAPHML.replace("<graph ", key)
    shared = '<data key="g">[{"name": "wire", "links": ["a -> s"], "bandwidth_gb_s": "30"}]</data>'
    found = topology_from_graphml(text.replace("<node", shared + "<node", 1), "f", "n")
    assert [(one.name, one.links, one.bandwidth_gb_s) for one in found.shared] == [
        ("wire", ((0, 2),), 30)
    ]
    for wrong in ("[1]", '[{"links": [1]}]', '[{"name": "a", "links": [1]}]', '"x"', "["):
        bad = f'<data key="g">{wrong}</data><node'
        with pytest.raises(InvalidTopologyError, match="shared"):
            topology_from_graphml(text.replace("<node", bad, 1), "f", "n")
