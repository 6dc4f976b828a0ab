"""Specifications of families: names, parameters and lists of values."""

from __future__ import annotations

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.families.family_spec import family_topology, names_family, parse_spec
from forestcoll.topology.families.machines import dgx_a100


def test_a_family_is_named_before_the_colon():
    assert names_family("ring:nodes=4")
    assert names_family("paper_example")
    assert not names_family("ring.yaml")
    assert not names_family("")


def test_values_are_those_of_the_parameters_given():
    entry, values = parse_spec("dgx_a100: boxes = 2 , nics=nodes")
    assert (entry.name, values) == ("dgx_a100", {"boxes": 2, "nics": "nodes"})
    assert family_topology("dgx_a100:boxes=2,nics=nodes") == dgx_a100(2, nics="nodes")


def test_a_file_is_no_family():
    with pytest.raises(InvalidTopologyError, match=r"'ring\.yaml' names no topology family"):
        parse_spec("ring.yaml")


@pytest.mark.parametrize("spec", ["line_graph:of=(ring:nodes=4", "line_graph:of=ring)"])
def test_parentheses_must_close(spec: str):
    with pytest.raises(InvalidTopologyError, match="has parentheses that do not close"):
        parse_spec(spec)
