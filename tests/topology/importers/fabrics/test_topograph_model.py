"""Models of topograph, in both forms."""

import re
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.fabrics.topograph_model import fabric_from_topograph
from forestcoll.topology.importers.supplied import Supplied
from tests.topology.importers.small_files import TOPOGRAPH, TOPOGRAPH_OLD

GIVEN = Supplied(uplink_gb_s=Fraction(400))


def test_both_forms_are_one_tree_with_an_nvlink_domain() -> None:
    new, old = (fabric_from_topograph(text, "f", GIVEN) for text in (TOPOGRAPH, TOPOGRAPH_OLD))
    assert set(new.cables) == set(old.cables)
    assert len(new.cables) == 2
    assert new.ports == old.ports
    assert new.notes == old.notes
    assert new.domains == old.domains == (("nvl0", ("node00", "node01")),)
    assert new.notes[-1] == "Machines of an NVLink domain share its NVSwitches: 1 (nvl0 of 2)."


def test_the_innermost_of_nested_domains_counts() -> None:
    text = """
blocks:
- switch: leaf
  nodes: [a, b]
  annotations: {accelerator.topology.x/domain: outer, accelerator.topology.x/sub-domain: inner}
- switch: leaf
  nodes: [c, d]
  annotations: {accelerator.topology.x/domain: outer}
"""
    found = fabric_from_topograph(text, "f", GIVEN)
    assert found.domains == (("inner", ("a", "b")), ("outer", ("c", "d")))


def test_a_leaf_without_machines_needs_no_entry() -> None:
    found = fabric_from_topograph("switches: {core: {switches: [a]}}\n", "f", GIVEN)
    assert found.switches == ("core", "a")
    assert found.ports == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "must have the fields switches and blocks"),
        ("switches: 1", "switches must be a list or a mapping"),
        ("switches: [1]", "it must be a mapping with a name"),
        ("switches: {a: {switches: b}}", "switches.a.switches is 'b'; it must be a list of names"),
        ("switches: {}\nblocks: [1]", "blocks[0] must be a mapping with nodes"),
        ("switches: {}\nblocks: 1", "blocks must be a list"),
        (
            "switches: [{name: a, capacity_blocks: [b]}]",
            "has the block 'b', which is not described",
        ),
        ("switches: [{name: a}, {name: a}]", "is the second switch named 'a'"),
    ],
)
def test_wrong_models_are_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        fabric_from_topograph(text, "f", GIVEN)


def test_a_tree_needs_its_uplinks() -> None:
    with pytest.raises(InvalidTopologyError, match="--uplink"):
        fabric_from_topograph(TOPOGRAPH, "f", Supplied())
