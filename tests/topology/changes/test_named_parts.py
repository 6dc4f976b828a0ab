"""Which nodes and links of a network a text names."""

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Link, Node, NodeKind, Topology, load_topology
from forestcoll.topology.changes.named_parts import ends_named, parts_named

BOXES = load_topology("dgx_a100:boxes=2")


def names(text: str) -> set[tuple[str, str]]:
    nodes = BOXES.nodes
    return {(nodes[a].name, nodes[b].name) for a, b in parts_named(BOXES, text).links}


def test_a_node_is_named_with_all_its_links() -> None:
    named = parts_named(BOXES, "b1.gpu7")
    assert [BOXES.nodes[v].name for v in named.nodes] == ["b1.gpu7"]
    assert names("b1.gpu7") == {
        ("b1.gpu7", "b1.nvswitch"),
        ("b1.nvswitch", "b1.gpu7"),
        ("b1.gpu7", "ib"),
        ("ib", "b1.gpu7"),
    }


def test_an_arrow_names_one_way_and_a_dash_both() -> None:
    assert names("b0.gpu0 -> ib") == {("b0.gpu0", "ib")}
    assert names("b0.gpu0 <- ib") == {("ib", "b0.gpu0")}
    assert (
        names("b0.gpu0 - ib")
        == {("b0.gpu0", "ib"), ("ib", "b0.gpu0")}
        == names("  ib <-> b0.gpu0 ")
    )


def test_patterns_name_all_that_match() -> None:
    assert len(parts_named(BOXES, "b1.gpu*").nodes) == 8
    assert names("b?.gpu3 -> ib") == {("b0.gpu3", "ib"), ("b1.gpu3", "ib")}
    assert len(names("*")) == len(BOXES.links)


def test_a_bidirectional_pattern_finds_a_link_of_one_direction() -> None:
    damaged = BOXES.without("b0.gpu0 -> ib")
    ends = parts_named(damaged, "b0.gpu0 - ib").links
    assert [damaged.nodes[v].name for v in ends[0]] == ["ib", "b0.gpu0"]
    assert len(ends) == 1


def test_names_with_signs_in_them_are_names_first() -> None:
    nodes = (Node("a - b", NodeKind.COMPUTE), Node("c[1]", NodeKind.COMPUTE))
    odd = Topology("odd", nodes, (Link(0, 1, 1), Link(1, 0, 1)))  # type: ignore[arg-type]
    assert parts_named(odd, "a - b").nodes == (0,)
    assert parts_named(odd, "c[1]").nodes == (1,)


def test_ends_are_named_of_links_that_are_not_there() -> None:
    ends = ends_named(BOXES, "b0.gpu0 - b1.gpu0")
    assert {(BOXES.nodes[a].name, BOXES.nodes[b].name) for a, b in ends} == {
        ("b0.gpu0", "b1.gpu0"),
        ("b1.gpu0", "b0.gpu0"),
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("b9.gpu0", "'b9.gpu0' is not a node of dgx_a100:boxes=2; did you mean 'b1.gpu0'?"),
        ("zzz", "'zzz' is not a node of dgx_a100:boxes=2; its nodes have names like 'b0.gpu0'"),
        ("b0.gpu0 - zzz", "'zzz' of 'b0.gpu0 - zzz' is not a node"),
        ("b0.gpu0 - b1.gpu0", "names no link of dgx_a100:boxes=2"),
        ("b0.gpu0 - ib - b1.gpu0", "more than one arrow"),
        ("", "'' is not a node"),
    ],
)
def test_missing_names_are_reported(text: str, shown: str) -> None:
    with pytest.raises(InvalidTopologyError, match=shown.replace("?", r"\?")):
        parts_named(BOXES, text)


def test_a_single_node_names_no_ends() -> None:
    with pytest.raises(InvalidTopologyError, match='write "A - B"'):
        ends_named(BOXES, "b0.gpu0")


def test_links_of_nodes_with_arrows_in_their_names_are_found() -> None:
    nodes = (Node("x - y", NodeKind.COMPUTE), Node("g -> h", NodeKind.COMPUTE))
    odd = Topology("odd", nodes, (Link(0, 1, 1), Link(1, 0, 1)))  # type: ignore[arg-type]
    assert parts_named(odd, "x - y - g -> h").links == ((0, 1), (1, 0))
    assert parts_named(odd, "g -> h -> x - y").links == ((1, 0),)
