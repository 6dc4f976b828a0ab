"""Trees of switches."""

import re
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.fabric import Cable, Port
from forestcoll.topology.importers.fabrics.switch_tree import Branch, tree_fabric


def branch(switches: list[str], machines: list[str]) -> Branch:
    return Branch(switches, machines, InvalidTopologyError)


def test_a_tree_has_uplinks_and_ports() -> None:
    found = tree_fabric({"top": branch(["a"], []), "a": branch([], ["m", "n"])}, Fraction(9), "f")
    assert found.cables == (Cable("a", "top", Fraction(9)),)
    assert found.ports == (Port("a", "m", "*"), Port("a", "n", "*"))
    assert len(found.notes) == 2
    assert len(tree_fabric({"a": branch([], ["m"])}, Fraction(9), "f").notes) == 1


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"a": (["b"], [])}, "has the switch 'b' below it; describe it, too"),
        ({"a": (["c"], []), "b": (["c"], []), "c": ([], [])}, "as 'a' has; the file must be a"),
        ({"a": ([], ["m"]), "b": ([], ["m"])}, "has the machine 'm', as 'a' has"),
        ({"a": (["b"], []), "b": (["a"], [])}, "is below itself"),
        ({"a": (["a"], [])}, "is below itself"),
    ],
)
def test_switches_that_form_no_tree_are_refused(
    tree: dict[str, tuple[list[str], list[str]]], message: str
) -> None:
    branches = {name: branch(*both) for name, both in tree.items()}
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        tree_fabric(branches, Fraction(1), "f")
