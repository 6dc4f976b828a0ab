"""Links of a PCIe tree, chains of bridges as one."""

import re
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.link_rates import rate_table
from forestcoll.topology.importers.machines.hwloc_pcie_tree import PciDevice, PcieTree, pcie_gb_s
from forestcoll.topology.importers.supplied import Supplied
from forestcoll.topology.importers.xml_elements import Element, parse_elements


def pci(kind: str, speed: str, *inside: str) -> str:
    bus = 'pci_busid="b"'
    return f'<object type="{kind}" {bus} pci_link_speed="{speed}">{"".join(inside)}</object>'


def tree(text: str) -> tuple[PcieTree, Element]:
    """Return the tree of a machine whose PCIDev are GPUs g0, g1..."""
    top = parse_elements(f"<topology>{text}</topology>", "f")
    devices = []

    def walk(element: Element, above: tuple[Element, ...]) -> None:
        inside = above
        if element.attributes.get("type") in ("Bridge", "PCIDev"):
            inside = (*above, element)
        if element.attributes.get("type") == "PCIDev":
            devices.append(PciDevice(f"g{len(devices)}", element, 0, inside))
        for child in element.children:
            walk(child, inside)

    walk(top, ())
    made = PcieTree(devices, [])
    made.add(top, None, None)
    return made, top


def ends(made: PcieTree) -> dict[tuple[str, str], Fraction]:
    return {(link.tail, link.head): link.bandwidth_gb_s for link in made.links}


def test_a_chain_of_bridges_has_the_narrowest_of_its_links() -> None:
    text = pci("Bridge", "16", pci("Bridge", "8", pci("PCIDev", "32")))
    made, _ = tree(f'<object type="Package">{text}</object>')
    assert ends(made) == {("g0", "socket0"): 8, ("socket0", "g0"): 8}


def test_a_bridge_with_two_branches_is_a_switch() -> None:
    text = pci("Bridge", "16", pci("PCIDev", "32"), pci("PCIDev", "4"))
    made, _ = tree(f'<object type="Package">{text}</object>')
    found = ends(made)
    assert found["pcie0", "socket0"] == 16
    assert (found["g0", "pcie0"], found["g1", "pcie0"]) == (32, 4)


def test_devices_below_no_socket_are_below_the_machine() -> None:
    made, _ = tree(pci("PCIDev", "4") + pci("PCIDev", "4"))
    assert [switch.name for switch in made.switches] == ["machine"]


def test_sockets_are_joined_at_the_rate_of_their_kind() -> None:
    """16 GB/s of AMD, 22 of a Sapphire Rapids, 6 of ARM and of Intel's before."""
    for info, rate in (
        (("CPUVendor", "AuthenticAMD"), 16),
        (("CPUModelNumber", "143"), 22),
        (("CPUModel", "Neoverse-V2"), 6),
        (("CPUModel", "Xeon"), 6),
    ):
        name, value = info
        socket = f'<info name="{name}" value="{value}"/>{pci("PCIDev", "4")}'
        made, _ = tree(f'<object type="Package">{socket}</object>' * 2)
        made.join_sockets(Supplied(rate_table("runtime")), "f")
        assert ends(made)["socket0", "socket1"] == rate


def test_speeds() -> None:
    (one,) = parse_elements(f"<a>{pci('PCIDev', '15.753846')}</a>", "f").children
    assert pcie_gb_s(one) == Fraction("15.753846")
    (none,) = parse_elements(f"<a>{pci('PCIDev', '0.000000')}</a>", "f").children
    assert pcie_gb_s(none) is None
    (wrong,) = parse_elements(f"<a>{pci('PCIDev', 'fast')}</a>", "f").children
    with pytest.raises(InvalidTopologyError, match=re.escape("pci_link_speed='fast'")):
        pcie_gb_s(wrong)
    with pytest.raises(InvalidTopologyError, match="has no pci_link_speed, and g0 no other link"):
        tree(pci("PCIDev", ""))
