"""hwloc's XML: direct links from its matrix, else the PCIe tree."""

import re
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.link_rates import rate_table
from forestcoll.topology.importers.machines.hwloc_topology import host_from_hwloc
from forestcoll.topology.importers.supplied import Supplied
from tests.topology.importers.small_files import HWLOC, HWLOC_PCIE, NVLINK_MATRIX, hwloc

RUNTIME = rate_table("runtime")


def test_the_matrix_has_direct_links_in_mb_s() -> None:
    """Two V100s have two NVLinks; a third object is a socket, whose link is left out."""
    found = host_from_hwloc(HWLOC, "f", "m", Supplied(nic_gb_s=Fraction(12)))
    assert found.gpus == ("gpu0", "gpu1")
    links = [(link.tail, link.head, link.bandwidth_gb_s) for link in found.links]
    assert links == [("gpu0", "gpu1", 50), ("gpu1", "gpu0", 50)]
    nic = found.nics[1]
    assert (nic.name, nic.nodes, nic.guid) == ("mlx5_1", ("gpu1",), "2c90300000001")
    assert (nic.bandwidth_gb_s, nic.pcie_gb_s) == (12, Fraction("7.876923"))
    assert found.notes[1] == "Direct links between GPUs and processors are left out."


def test_nvswitches_are_pci_devices_of_the_matrix() -> None:
    text = HWLOC.replace("Package:2", "PCIDev:77").replace(
        "1000000 50000 25000 50000 1000000 </", "1000000 0 25000 0 1000000 </"
    )
    text = text.replace(">0 25000 0 1000000 <", ">25000 25000 25000 1000000 <")
    found = host_from_hwloc(text, "f", "m", Supplied())
    assert [switch.name for switch in found.switches] == ["nvswitch0"]
    assert {(link.tail, link.head) for link in found.links} == {
        ("gpu0", "nvswitch0"), ("nvswitch0", "gpu0"), ("gpu1", "nvswitch0"), ("nvswitch0", "gpu1"),
    }  # fmt: skip


def test_gpus_that_no_direct_link_joins_meet_by_pcie() -> None:
    """The third GPU is not in the matrix; its way leads over its socket."""
    found = host_from_hwloc(hwloc(3, NVLINK_MATRIX), "f", "m", Supplied(RUNTIME))
    links = {(link.tail, link.head): link.bandwidth_gb_s for link in found.links}
    assert links["gpu0", "gpu1"] == 50
    assert links["socket0", "socket2"] == 16
    assert ("gpu2", "pcie2") in links
    assert found.notes[-1].startswith("gpu0 and gpu2 meet by PCIe only")


def test_nvswitches_that_no_listed_link_joins_are_refused() -> None:
    """A DGX-2 has links between NVSwitches, which hwloc does not list."""
    text = HWLOC.replace("Package:2", "PCIDev:7").replace("50000 25000 50000", "0 25000 0")
    with pytest.raises(InvalidTopologyError, match="no path from gpu0 to gpu1: hwloc does not"):
        host_from_hwloc(text, "f", "m", Supplied(RUNTIME))


def test_without_a_matrix_the_pcie_tree_counts() -> None:
    """Each GPU and NIC share a bridge with 15.75 GB/s to a socket; sockets of AMD share 16 GB/s."""
    found = host_from_hwloc(HWLOC_PCIE, "f", "m", Supplied(RUNTIME))
    links = {(link.tail, link.head): link.bandwidth_gb_s for link in found.links}
    assert links["socket0", "socket1"] == 16
    assert links["pcie0", "socket0"] == Fraction("15.753846")
    assert links["gpu1", "pcie1"] == Fraction("31.507692")
    assert len(links) == 10
    assert [nic.nodes for nic in found.nics] == [("pcie0",), ("pcie1",)]


def test_one_socket_needs_no_rates() -> None:
    text = re.sub(r'<object type="Package" gp_index="3">.*?</object></object>\n', "", HWLOC_PCIE)
    text = re.sub(r'<object type="Package" gp_index="3">.*\n', "", text)
    found = host_from_hwloc(text, "f", "m", Supplied())
    assert found.gpus == ("gpu0",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<topology", "<topologie", "is not the element topology"),
        ("nvml", "xvml", "has no GPUs (nvml0, cuda0 or rsmi0)"),
        ("50000 25000", "50000", "has 8 values for 3 objects"),
        ("25000 50000", "25000 -1", "has the value '-1'; it must be a number of MB/s"),
        ("mlx5_1", "mlx5_0", "has two NICs of one name"),
        ("50000", "0", "has no link between GPUs"),
    ],
)
def test_wrong_files_are_refused(old: str, new: str, message: str) -> None:
    text = HWLOC.replace("cuda", "dev")
    assert old in text
    text = text.replace("</topology>", "</topologie>") if "ie" in new else text
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        host_from_hwloc(text.replace(old, new), "f", "m", Supplied(RUNTIME))


def test_a_gpu_without_the_only_pcie_speed_is_refused() -> None:
    text = HWLOC_PCIE.replace('pci_link_speed="31.507692"', 'pci_link_speed="0.000000"')
    text = text.replace('pci_link_speed="15.753846"', "")
    with pytest.raises(InvalidTopologyError, match="has no pci_link_speed, and pcie0 no other"):
        host_from_hwloc(text, "f", "m", Supplied(RUNTIME))


def test_a_file_without_direct_links_says_where_they_would_be() -> None:
    """An hwloc that was built without NVML lists the PCIe links of a machine with NVLinks only."""
    found = host_from_hwloc(hwloc(2), "f", "m", Supplied(RUNTIME))
    assert found.notes[0].endswith("import a dump of NCCL_TOPO_DUMP_FILE instead.")
