"""Networks as graphs of networkx, and back."""

import networkx as nx

import forestcoll
from forestcoll.networkx import from_networkx, to_networkx
from forestcoll.topology import load_topology


def test_a_network_is_a_graph_and_a_graph_a_network() -> None:
    graph = to_networkx("dgx_a100:boxes=2")
    assert isinstance(graph, nx.DiGraph)
    assert from_networkx(graph) == load_topology("dgx_a100:boxes=2")
    plain = nx.path_graph(3)
    nx.set_edge_attributes(plain, 5, "bandwidth_gb_s")
    assert from_networkx(plain, "path").name == "path"
    assert (
        forestcoll.optimum(plain).algbw_gb_s == forestcoll.optimum(from_networkx(plain)).algbw_gb_s
    )


def test_it_is_found_by_looking() -> None:
    assert {"draw", "networkx"} <= set(dir(forestcoll))
    assert forestcoll.networkx.to_networkx is to_networkx
