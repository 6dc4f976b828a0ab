"""Networks with parts left out, scaled or added."""

from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Topology, load_topology
from forestcoll.topology.changes.edits import Changes

BOXES = load_topology("dgx_a100:boxes=2")


def widths(topology: Topology) -> dict[tuple[str, str], Fraction]:
    names = [node.name for node in topology.nodes]
    return {(names[e.tail], names[e.head]): e.bandwidth_gb_s for e in topology.links}


def checked(topology: Topology) -> Topology:
    """The same, with everything looked at again."""
    again = Topology(topology.name, topology.nodes, topology.links)
    assert again == topology
    return topology


def test_a_link_left_out_is_missing_and_all_else_is_as_it_was() -> None:
    left = checked(BOXES.without("b1.gpu2 - ib"))
    gone = {("b1.gpu2", "ib"), ("ib", "b1.gpu2")}
    assert widths(left) == {k: v for k, v in widths(BOXES).items() if k not in gone}
    assert left.nodes == BOXES.nodes


def test_a_node_left_out_takes_its_links_with_it() -> None:
    left = checked(BOXES.without("b0.gpu3", "b1.gpu2 -> ib"))
    assert left.num_compute == 15
    assert "b0.gpu3" not in left.position_of
    gone = {k for k in widths(BOXES) if "b0.gpu3" in k} | {("b1.gpu2", "ib")}
    assert widths(left) == {k: v for k, v in widths(BOXES).items() if k not in gone}


def test_a_node_scaled_has_all_its_links_scaled() -> None:
    slow = checked(BOXES.scaled("b0.gpu3", "1/2"))
    before = widths(BOXES)
    assert widths(slow) == {k: v / 2 if "b0.gpu3" in k else v for k, v in before.items()}
    assert BOXES.scaled(["b0.gpu3 -> ib", "b0.gpu3 -> b0.nvswitch"], 2).egress_gb_s[3] == 650


def test_links_added_run_beside_those_that_are_there() -> None:
    more = checked(BOXES.with_links({"b0.gpu0 - ib": 5, "b0.gpu0 -> b1.gpu0": "1/3"}))
    assert widths(more) == widths(BOXES) | {
        ("b0.gpu0", "ib"): Fraction(30),
        ("ib", "b0.gpu0"): Fraction(30),
        ("b0.gpu0", "b1.gpu0"): Fraction(1, 3),
    }


def test_names_describe_the_changes() -> None:
    assert BOXES.without("b1.gpu2 - ib").name == "dgx_a100:boxes=2 without b1.gpu2 - ib"
    many = BOXES.without("b1.gpu2", "b1.gpu3", "b1.gpu4", "b1.gpu5")
    assert many.name == "dgx_a100:boxes=2 without b1.gpu2, b1.gpu3 and 2 more"
    assert BOXES.scaled("* - ib", "1/2").name == "dgx_a100:boxes=2 with * - ib x 0.5"
    assert BOXES.scaled("*", 2).name == BOXES.name
    assert BOXES.with_links({"b0.gpu0 - ib": 5}).name == "dgx_a100:boxes=2 with b0.gpu0 - ib"


def test_links_are_added_then_scaled_then_left_out() -> None:
    changes = Changes(
        links={"b0.gpu0 - b1.gpu0": 4}, scale={"b0.gpu0": 3}, without=["b0.gpu0 -> ib"]
    )
    found = widths(changes.applied(BOXES))
    assert found["b0.gpu0", "b1.gpu0"] == 12
    assert found["ib", "b0.gpu0"] == 75
    assert ("b0.gpu0", "ib") not in found
    nothing = Changes(links={}, scale={}, without=[])
    assert not nothing
    assert nothing.applied(BOXES) == BOXES


@pytest.mark.parametrize("factor", [0, -1, "x"])
def test_factors_are_positive_numbers(factor: object) -> None:
    with pytest.raises(InvalidTopologyError, match="the factor is"):
        BOXES.scaled("b0.gpu0", factor)  # type: ignore[arg-type]


def test_impossible_changes_are_refused() -> None:
    with pytest.raises(InvalidTopologyError, match="nothing of dgx_a100:boxes=2 is left"):
        BOXES.without("*")
    with pytest.raises(InvalidTopologyError, match="joins a node to itself"):
        BOXES.with_links({"b0.gpu0 - b0.gpu0": 1})
    with pytest.raises(InvalidTopologyError, match="must be positive"):
        BOXES.with_links({"b0.gpu0 - ib": 0})


def test_blanks_do_not_get_into_names() -> None:
    assert BOXES.without("b1.gpu2  -\n ib ").name == "dgx_a100:boxes=2 without b1.gpu2 - ib"
    assert BOXES.scaled(" b1.gpu2", 2).name == "dgx_a100:boxes=2 with b1.gpu2 x 2"
