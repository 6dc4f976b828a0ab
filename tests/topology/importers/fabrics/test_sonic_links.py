"""SONiC's tables of links."""

import re
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.fabric import Cable, Port
from forestcoll.topology.importers.fabrics.sonic_links import fabric_from_sonic
from tests.topology.importers.small_files import SONIC


def test_speeds_are_in_mbit_s_and_parallel_cables_are_summed() -> None:
    """Two cables of 400 Gb/s, one of them written 400G."""
    found = fabric_from_sonic(SONIC, "f")
    assert found.switches == ("leaf0", "spine0")
    assert found.cables == (Cable("leaf0", "spine0", Fraction(100)),)
    assert found.ports[0] == Port("leaf0", "node0", "mlx5_0", bandwidth_gb_s=Fraction(25))
    assert found.notes == ("Machines of the table: 2, by the names of their ports.",)


def test_cables_between_machines_are_left_out() -> None:
    found = fabric_from_sonic(SONIC + "node0,p1,node1,p1,100G,,\n", "f")
    assert found.notes[1] == "Cables between machines are left out: 1."


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("EndPort", "Port", "line 1: has no column EndPort"),
        ("200000,,Trunk", "fast,,", "line 4: has the BandWidth 'fast'; write Mbit/s"),
        ("Ethernet12", "Ethernet8", "line 5: port Ethernet8 of leaf0 has a second cable"),
        ("leaf0,Ethernet0,spine0", "leaf0,Ethernet0,leaf0", "line 2: is a cable from leaf0 to"),
        ("leaf0,Ethernet0,spine0", "lea f0,Ethernet0,spine0", "is not a device and port"),
        ("leaf0,Ethernet8,node0,mlx5_0,200000,,Trunk", "leaf0,Ethernet8", "line 4: has 2 columns"),
        ("leaf0,Ethernet8", '"leaf0,Ethernet8', "line 4: is not a line of CSV"),
        ("Ethernet", "Port", "f: has no switch"),
    ],
)
def test_wrong_tables_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        fabric_from_sonic(SONIC.replace(old, new), "f")


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(InvalidTopologyError, match="f: has no links"):
        fabric_from_sonic("", "f")
