"""Both forms of ibnetdiscover."""

import re
from collections.abc import Callable
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.fabric import Cable, Fabric, Port
from forestcoll.topology.importers.fabrics.infiniband_listing import (
    fabric_from_listing,
    fabric_from_ports,
)
from tests.topology.importers.small_files import IB, IB_PORTS


def test_the_default_form() -> None:
    """Two parallel cables of 50 GB/s; the adapter without a name has the GUID of its image."""
    found = fabric_from_listing(IB, "f")
    assert found.switches == ("leaf-1", "spine-1")
    assert found.cables == (Cable("leaf-1", "spine-1", Fraction(100)),)
    assert found.ports == (
        Port("leaf-1", "node0", "mlx5_0", "a0", Fraction(50)),
        Port("leaf-1", "node1", "*_0", "a1", Fraction(50)),
        Port("leaf-1", "", "", "a2f", Fraction(25)),
    )
    assert [note.split(" ")[0] for note in found.notes] == ["SHARP", "Adapters", "HCA-1"]


def test_the_form_of_ports() -> None:
    found = fabric_from_ports(IB_PORTS, "f")
    assert found.cables == (Cable("leaf1", "spine1", Fraction(25)),)
    assert found.ports == (Port("leaf1", "node0", "*_0", "a0", Fraction("12.5")),)
    assert found.notes[0] == "Ports that are down are left out: 1 (leaf1 1)."


def test_messages_of_the_tool_are_noted() -> None:
    message = "src/query_smp.c:199; umad (DR path slid 0; 0,1,19) bad status 110; timed out\n"
    for found in (
        fabric_from_listing(message + IB, "f"),
        fabric_from_ports(message + IB_PORTS, "f"),
    ):
        assert found.notes[0].startswith("The listing has 1 messages on parts that did not answer")


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (fabric_from_listing, "hello", "line 1: 'hello' is not a line of ibnetdiscover"),
        (fabric_from_listing, IB.split("\n", 10)[10], "line 1: is a port before any switch"),
        (fabric_from_listing, "# nothing", "f: lists no switch"),
        (fabric_from_ports, IB_PORTS[:-20] + "\n", "line 4: 'SW  1719 37"),
        (fabric_from_ports, IB_PORTS.replace("4x EDR - SW", "4x HDR - SW"), "another rate"),
    ],
)
def test_wrong_listings_are_refused(
    read: Callable[[str, str], Fabric], text: str, message: str
) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        read(text, "f")
