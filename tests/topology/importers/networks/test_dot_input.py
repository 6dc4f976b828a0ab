"""Graphs in DOT."""

import re
import time
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.networks.dot_input import topology_from_dot
from forestcoll.topology.model import Topology
from tests.topology.importers.small_files import DOT


def read(text: str) -> Topology:
    return topology_from_dot(text, "f", "n")


def test_defaults_chains_and_attributes() -> None:
    """The chain a -- s -- b has the default of edges; a -- b has its own."""
    found = read(DOT)
    assert found.name == "two GPUs"
    assert [node.name for node in found.nodes] == ["s", "a", "b"]
    assert found.nodes[0].multicast
    assert {str(link.bandwidth_gb_s) for link in found.links} == {"50", "25/2"}
    assert found.link_between[1, 2].latency_us == Fraction(1, 2)


def test_a_digraph_has_arcs_and_nodes_may_follow_their_edges() -> None:
    text = (
        'strict digraph { "a \\"b" -> c [bandwidth_gb_s="1/3"]\n# note\nc [kind="switch"] /* x */ }'
    )
    found = read(text)
    assert found.name == "n"
    assert [node.name for node in found.nodes] == ['a "b', "c"]
    assert len(found.links) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the end of the file instead of graph or digraph"),
        ("graph {", "line 1: the end of the file instead of a statement; the file may be cut off"),
        ("graph { a -> b }", "line 1: -> is not an edge of a graph; exchange one"),
        ("digraph { a -- b }", "line 1: -- is not an edge of a digraph"),
        ("graph {\nsubgraph x { a } }", "line 2: subgraphs are not read"),
        ("graph { { a } }", "line 1: subgraphs, ports and HTML text are not read"),
        ("graph { a:p -- b }", "line 1: subgraphs, ports and HTML text are not read"),
        ("graph { a [label=<b>] }", "subgraphs, ports and HTML text are not read"),
        ("graph { a [b] }", "line 1: ']' instead of '='"),
        ("graph { a ] }", "line 1: ']' instead of a statement"),
        ("graph { a [b=c }", "line 1: '}' instead of the name of an attribute"),
        ("graph { a } graph { b }", "line 1: something follows the graph"),
        ("graph { a\n-- b }", "line 2: has no bandwidth; add the attribute"),
        ("graph { a [kind=x] }", "line 1: kind is 'x'"),
        ('graph { "a }', "is not DOT; the file may be cut off"),
        ("graph { a @ b }", "line 1: '@ b }' is not DOT"),
        ("graph { a /* b }", "'/* b }' is not DOT"),
        ("graph { a -- a [bandwidth_gb_s=1] }", "line 1: "),
    ],
)
def test_wrong_graphs_are_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        read(text)


@pytest.mark.parametrize("text", ["graph {" + "a [" * 300_000, 'graph { "' + "\\a" * 1_000_000])
def test_hostile_graphs_end_soon(text: str) -> None:
    begin = time.process_time()
    with pytest.raises(InvalidTopologyError):
        read(text)
    assert time.process_time() - begin < 10
