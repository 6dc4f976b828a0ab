"""Our own description of a fabric: what it means, and how faulty ones are refused."""

import re
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.described_fabric import (
    fabric_from_description,
    is_description,
)
from forestcoll.topology.importers.fabric import Cable, Fabric, Port
from forestcoll.topology.reading.documents import parse_yaml
from tests.command_line import ROOT

WHOLE = """\
switches: [leaf0, {name: spine0, sharp: true}]
cables:
  - {between: [leaf0, spine0], bandwidth: 400 Gb/s, count: 4}
  - {between: [spine0, leaf0], bandwidth: 25}
ports:
  - {switch: leaf0, machine: node0, nics: "mlx5_[0-3]"}
  - {switch: leaf0, machine: "node*", bandwidth: 200 Gb/s}
"""


def read(text: str) -> Fabric:
    return fabric_from_description(parse_yaml(text, "net.yaml"))


def test_the_description_of_the_page_is_read() -> None:
    """Four cables of 400 Gb/s are 200 GB/s."""
    page = (ROOT / "docs/how-to/import.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(switches:.*?)```", page, re.S)
    found = read(block)
    assert [cable.bandwidth_gb_s for cable in found.cables] == [200, 200]
    assert [port.bandwidth_gb_s for port in found.ports] == [None, 25]
    assert found.multicast == {"spine"}


def test_a_whole_description() -> None:
    """Parallel cables are summed up, whichever way they are named."""
    assert read(WHOLE) == Fabric(
        ("leaf0", "spine0"),
        (Cable("leaf0", "spine0", Fraction(225)),),
        (
            Port("leaf0", "node0", "mlx5_[0-3]"),
            Port("leaf0", "node*", "*", bandwidth_gb_s=Fraction(25)),
        ),
        frozenset({"spine0"}),
    )


def test_it_is_known_by_its_lists() -> None:
    assert is_description(parse_yaml(WHOLE, "net.yaml"))
    assert not is_description(parse_yaml("name: a\nnodes: []\n", "net.yaml"))
    assert not is_description(parse_yaml("[1]", "net.yaml"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("switches: [leaf0,", "switches: [leaf0, leaf0,", "switches[1] is the second switch named"),
        ("sharp: true", "sharp: 1", "switches[1].sharp is 1; it must be true or false"),
        ("sharp: true", "shrap: true", "switches[1].shrap is no field; did you mean sharp?"),
        ("{name: spine0, sharp", "{name: 5, sharp", "switches[1].name must be the name"),
        ("switches: [leaf0", "switches: [[leaf0]", "switches[0] must be a mapping of name, sharp"),
        ("cables:", "cabels:", "cabels is no field; did you mean cables?"),
        ("[leaf0, spine0], b", "[leaf0, spin0], b", "which is no switch; did you mean spine0?"),
        ("[leaf0, spine0], b", "[leaf0, leaf0], b", "cables[0].between must be a list of two"),
        ("count: 4", "count: 0", "cables[0].count is 0; it must be a number of cables, from 1"),
        ("count: 4", "count: true", "cables[0].count is True; it must be a number of cables"),
        ("bandwidth: 400 Gb/s, ", "", "cables[0].bandwidth is missing; add it, such as 400 Gb/s"),
        ("400 Gb/s", "400 Gbs", "cables[0].bandwidth is '400 Gbs', whose unit"),
        ("bandwidth: 25", "bandwidth: 0", "cables[1].bandwidth is 0; it must be above 0"),
        ("machine: node0", "machine: [1]", "ports[0].machine must be a name, or a pattern"),
        (", machine: node0", "", "ports[0].machine must be a name, or a pattern"),
        ("switch: leaf0, machine: node0", "switch: x, machine: a", "ports[0].switch is 'x', which"),
        ("switch: leaf0, machine: node0", "machine: a", "ports[0].switch is None, which"),
    ],
)
def test_faults_name_their_field(old: str, new: str, message: str) -> None:
    assert old in WHOLE
    with pytest.raises(InvalidTopologyError, match=re.escape(message)) as refused:
        read(WHOLE.replace(old, new, 1))
    assert str(refused.value).startswith("net.yaml")
    assert "\n" not in str(refused.value)


def test_lists_must_be_lists() -> None:
    with pytest.raises(InvalidTopologyError, match="ports must be a list"):
        read("switches: [a]\nports: 5\n")
