"""Cables that are listed from both ends."""

from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.fabric import Cable, Port
from forestcoll.topology.importers.fabrics.infiniband_fabric import CableEnd, InfinibandFabric
from forestcoll.topology.importers.text_lines import Line

LINE = Line(7, "", "f")


def end(guid: str, port: int = 1, text: str = "", switch: bool = True) -> CableEnd:
    return CableEnd(switch, guid, port, text or guid)


def test_a_cable_counts_once_and_parallel_ones_are_summed() -> None:
    found = InfinibandFabric("f")
    for port in (1, 2):
        found.add(LINE, end("a", port), end("b", port), "4x", "NDR")
        found.add(LINE, end("b", port), end("a", port), "4x", "NDR")
    assert found.fabric().cables == (Cable("a", "b", Fraction(100)),)


def test_switches_of_one_name_keep_their_guids() -> None:
    found = InfinibandFabric("f")
    found.add(LINE, end("a", text="core"), end("b", text="core"), "4x", "NDR")
    assert found.fabric().switches == ("core_a", "core_b")


def test_an_adapter_is_named_by_its_image_unless_two_ports_share_that() -> None:
    """Ports c and d are of one adapter, e is alone."""
    found = InfinibandFabric("f")
    for port, (guid, image) in enumerate((("c", "1"), ("d", "1"), ("e", "2"))):
        found.add_image(guid, image)
        found.add_switch("a", "a")
        adapter = end(guid, text=f"node mlx5_{port}", switch=False)
        found.add(LINE, end("a", port), adapter, "4x", "HDR")
    ports = found.fabric().ports
    assert [port.guid for port in ports] == ["c", "d", "2"]
    assert ports[0] == Port("a", "node", "mlx5_0", "c", Fraction(25))


def test_both_ends_of_a_cable_must_agree() -> None:
    found = InfinibandFabric("f")
    found.add(LINE, end("a"), end("b"), "4x", "NDR")
    with pytest.raises(InvalidTopologyError, match=r"line 7: port 1 of 'b' is listed with another"):
        found.add(LINE, end("b"), end("a"), "4x", "HDR")
    with pytest.raises(InvalidTopologyError, match="has the unknown rate 4x LDR"):
        found.add(LINE, end("b", 2), end("a", 2), "4x", "LDR")


def test_a_fabric_has_a_switch() -> None:
    with pytest.raises(InvalidTopologyError, match="f: lists no switch"):
        InfinibandFabric("f").fabric()


def test_a_switch_that_only_an_adapter_lists_counts() -> None:
    found = InfinibandFabric("f")
    found.add(LINE, end("c", text="node mlx5_0", switch=False), end("a"), "4x", "NDR")
    assert found.fabric().switches == ("a",)
