"""Slurm's files of switches."""

import re
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.fabric import Cable
from forestcoll.topology.importers.fabrics.slurm_tree import (
    fabric_from_slurm_conf,
    fabric_from_slurm_yaml,
)
from forestcoll.topology.importers.supplied import Supplied
from tests.topology.importers.small_files import SLURM_CONF, SLURM_YAML

GIVEN = Supplied(uplink_gb_s=Fraction(400))


def test_both_files_are_one_tree() -> None:
    conf = fabric_from_slurm_conf(SLURM_CONF, "f", GIVEN)
    yaml = fabric_from_slurm_yaml(SLURM_YAML, "f", GIVEN)
    assert set(conf.cables) == set(yaml.cables) == {
        Cable("leaf0", "core", Fraction(400)), Cable("leaf1", "core", Fraction(400)),
    }  # fmt: skip
    assert conf.ports == yaml.ports
    assert [port.machine for port in conf.ports] == [
        "node00", "node01", "node02", "node03", "login",
    ]  # fmt: skip
    assert conf.notes[-1] == "LinkSpeed has no unit in Slurm and is not used."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BlockName=b Nodes=a", "line 1: describes blocks and no switches"),
        ("SwitchName=a", "line 1: has neither Nodes nor Switches"),
        ("Nodes=a", "line 1: has no SwitchName"),
        ("SwitchName=a Node=b", "'Node=b' is not a field of topology.conf, or is there twice; did"),
        ("SwitchName=a Nodes=b Nodes=c", "is there twice"),
        ("SwitchName=a Nodes=b\nSwitchName=a Nodes=c", "line 2: is the second line of the switch"),
        ("SwitchName=a Nodes=b[1", "is not a list of names"),
        ("SwitchName=a Nodes=b", "give that from a switch to the one above as --uplink"),
    ],
)
def test_wrong_lines_are_refused(text: str, message: str) -> None:
    given = Supplied() if "uplink" in message else GIVEN
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        fabric_from_slurm_conf(text, "f", given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1", "must be a list of topologies"),
        ("- topology: a\n  flat: true", "f: has no tree of switches"),
        ("- {topology: a, tree: {}}\n- {topology: b, tree: {}}", "has 2 trees of switches and no"),
        ("- {topology: a, tree: {switches: 1}}", "[0].tree.switches must be the list"),
        ("- {topology: a, tree: {switches: [{a: 1}]}}", "must have a field switch, its name"),
        ("- {topology: a, tree: {switches: [{switch: a, nodes: 1}]}}", "the fields are switch,"),
        (
            "- {topology: a, tree: {switches: [{switch: a, nodes: b}, {switch: a, nodes: c}]}}",
            "is the second switch 'a'",
        ),
    ],
)
def test_wrong_yaml_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        fabric_from_slurm_yaml(text, "f", GIVEN)
