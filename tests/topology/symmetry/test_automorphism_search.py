"""Searches for automorphisms: line graphs by their roots, and what the roots do not know."""

from dataclasses import replace

import pytest

from forestcoll.topology import line_graph, load_topology
from forestcoll.topology.symmetry.automorphism import check_orbits, find_orbits
from forestcoll.topology.symmetry.automorphism_search import LabelledGraph

LINE_GRAPHS = (
    "complete_bipartite:degree=2",
    "diamond",
    "modified_de_bruijn:degree=2,length=3",
    "generalized_kautz:degree=2,nodes=10",
    "circulant:nodes=7,offsets=1+2",
    "torus:dims=3x3",
)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("spec", LINE_GRAPHS)
@pytest.mark.each_value_once
def test_symmetries_of_a_line_graph_are_those_of_its_root(
    spec: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search on the root finds the orbits that the search on the line graph itself finds."""
    topology = line_graph(load_topology(spec), times)
    assert LabelledGraph.of(topology).root() is not None
    by_root = find_orbits(topology)
    check_orbits(topology, by_root)
    monkeypatch.setattr(LabelledGraph, "root", lambda self: None)
    itself = find_orbits(topology)
    assert by_root.node.tolist() == itself.node.tolist()
    assert by_root.link.tolist() == itself.link.tolist()


def test_marks_of_a_line_graph_are_kept() -> None:
    """The line graph of three GPUs, all linked: its six nodes are one orbit.

    With one node marked, no other symmetry of the root keeps its arc: each node is by itself.
    """
    topology = line_graph(load_topology("complete:nodes=3"))
    assert find_orbits(topology).node.tolist() == [0] * 6
    marked = find_orbits(topology, marks=[1, 0, 0, 0, 0, 0])
    assert marked.node.tolist() == list(range(6))


def test_unequal_links_and_shared_capacities_are_searched_without_the_root() -> None:
    """The root has no place for bandwidths of its pairs of arcs."""
    topology = line_graph(load_topology("complete:nodes=3"))
    ends = [topology.nodes[v].name for v in (topology.links[0].tail, topology.links[0].head)]
    shared = topology.with_shared("x", [" -> ".join(ends)], 1)
    assert LabelledGraph.of(shared).root() is None
    first, *others = topology.links
    links = (replace(first, bandwidth_gb_s=2 * first.bandwidth_gb_s), *others)
    wider = topology.like("wider", topology.nodes, links, shared=())
    assert LabelledGraph.of(wider).root() is None
    assert find_orbits(wider).node.tolist() != [0] * 6
