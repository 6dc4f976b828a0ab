"""Topology files of NCCL and RCCL: links, NVSwitches, NICs and PCIe, by small machines."""

import re
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.host import Host, HostLink, HostSwitch
from forestcoll.topology.importers.link_rates import rate_table
from forestcoll.topology.importers.nccl_topology import host_from_nccl
from tests.topology.importers.nccl_dumps import bridge, cpu, gpu, nic, system

GEN5 = 16 * Fraction(256, 65)


def read(*parts: str, rates: str = "nominal") -> Host:
    return host_from_nccl(system(*parts), "dump.xml", "node", rate_table(rates))


def widths(host: Host) -> dict[tuple[str, str], Fraction]:
    return {(link.tail, link.head): link.bandwidth_gb_s for link in host.links}


def test_links_are_counted_at_the_rate_of_the_table() -> None:
    """Two V100s joined by two NVLinks: 2 x 25 by the data sheet, 2 x 20 by NCCL."""
    pair = [cpu(0, gpu(0, {"GPU1": 2}, kind='sm="70"'), gpu(1, {"gpu0": 2}, kind='sm="70"'))]
    assert widths(read(*pair)) == {("gpu0", "gpu1"): 50, ("gpu1", "gpu0"): 50}
    assert widths(read(*pair, rates="runtime")) == {("gpu0", "gpu1"): 40, ("gpu1", "gpu0"): 40}


def test_unequal_planes_stay_apart() -> None:
    """5, 5, 4 and 4 of the 18 NVLinks of an H100 go to one NVSwitch each, and back."""
    planes = [("s1", 5), ("s2", 5), ("s3", 4), ("s4", 4)]
    host = read(cpu(0, *(gpu(i, switches=planes) for i in range(2))))
    assert host.switches == tuple(HostSwitch(f"nvswitch{i}", multicast=True) for i in range(4))
    for i, width in enumerate((125, 125, 100, 100)):
        for g in ("gpu0", "gpu1"):
            assert HostLink(g, f"nvswitch{i}", Fraction(width)) in host.links
            assert HostLink(f"nvswitch{i}", g, Fraction(width)) in host.links
    assert len(host.links) == 16
    assert host.notes == ()


def test_hidden_nvswitches_are_one_switch_and_a_note() -> None:
    """A virtual machine's file has one target for all 18 links."""
    hidden = [("fffffff:ff:ff.0", 18)]
    host = read(cpu(0, *(gpu(i, switches=hidden, kind='sm="100"') for i in range(2))))
    assert widths(host)["gpu0", "nvswitch0"] == 900
    assert host.notes == ("The NVSwitches are hidden from this machine: they count as one.",)


def test_nvswitches_before_hopper_do_not_multicast() -> None:
    host = read(cpu(0, *(gpu(i, switches=[("s", 12)], kind='sm="80"') for i in range(2))))
    assert host.switches == (HostSwitch("nvswitch0"),)
    assert widths(host)["nvswitch0", "gpu1"] == 300


@pytest.mark.parametrize(
    ("gcn", "nominal", "runtime"),
    [
        ("910", 50, 36),
        ("gfx90a", 50, 36),
        ("gfx942", 64, 48),
        ("gfx942:sramecc+", 64, 48),
        ("942", 64, 48),
        ("950", Fraction("76.8"), 48),
    ],
)
def test_xgmi_has_the_rate_of_its_architecture(
    gcn: str, nominal: int | Fraction, runtime: int
) -> None:
    kind = f'sm="104" gcn="{gcn}"'
    parts = [cpu(0, gpu(0, {"gpu1": 4}, kind=kind), gpu(1, {"gpu0": 4}, kind=kind))]
    assert widths(read(*parts))["gpu0", "gpu1"] == 4 * nominal
    assert widths(read(*parts, rates="runtime"))["gpu0", "gpu1"] == 4 * runtime


def test_gpus_are_in_the_order_of_their_numbers() -> None:
    host = read(cpu(0, gpu(2, {"gpu0": 1}), gpu(0, {"gpu2": 1, "gpu10": 1})), cpu(1, gpu(10)))
    assert host.gpus == ("gpu0", "gpu2", "gpu10")


def test_links_counted_differently_at_both_ends_are_a_note() -> None:
    host = read(cpu(0, gpu(0, {"gpu1": 2}), gpu(1, {"gpu0": 1})))
    assert widths(host) == {("gpu0", "gpu1"): 50, ("gpu1", "gpu0"): 25}
    assert "gpu0 and gpu1 count different links to each other." in host.notes


def test_links_to_a_processor_are_left_out_with_a_note() -> None:
    """As on POWER9, whose sockets have NVLinks."""
    to_cpu = '<nvlink target="0000:00:01.0" count="3" tclass="0x068001"/>'
    parts = gpu(0, {"gpu1": 1}).replace("</gpu>", f"{to_cpu}</gpu>")
    host = read(cpu(0, parts, gpu(1, {"gpu0": 1})))
    assert len(host.links) == 2
    assert host.notes == ("Links to 0000:00:01.0 (class 0x068001) are left out.",)


# NICs.

LINKED = ({"gpu1": 1}, {"gpu0": 1})


def test_a_nic_serves_the_gpus_of_its_pcie_switch() -> None:
    host = read(cpu(0, *(bridge(f"b{i}", gpu(i, LINKED[i]), nic(i)) for i in range(2))))
    assert [(one.name, one.nodes) for one in host.nics] == [
        ("mlx5_0", ("gpu0",)),
        ("mlx5_1", ("gpu1",)),
    ]
    assert [one.bandwidth_gb_s for one in host.nics] == [50, 50]
    assert [one.pcie_gb_s for one in host.nics] == [GEN5, GEN5]
    assert [one.guid for one in host.nics] == ["abc0", "abc1"]
    assert host.limits == ()


def test_nics_of_a_switch_are_assigned_to_its_gpus_in_order() -> None:
    host = read(cpu(0, bridge("b", *(gpu(i, LINKED[i]) for i in range(2)), nic(0, ports=4))))
    assert [one.nodes for one in host.nics] == [("gpu0",), ("gpu0",), ("gpu1",), ("gpu1",)]


def test_a_nic_of_several_gpus_keeps_them_all() -> None:
    host = read(cpu(0, bridge("b", *(gpu(i, LINKED[i]) for i in range(2)), nic(0))))
    assert host.nics[0].nodes == ("gpu0", "gpu1")


def test_a_nic_without_a_near_gpu_serves_those_of_its_socket() -> None:
    host = read(cpu(0, bridge("b", gpu(0, LINKED[0])), nic(0)), cpu(1, gpu(1, LINKED[1])))
    assert host.nics[0].nodes == ("gpu0",)


def test_the_narrowest_pcie_link_on_the_way_counts() -> None:
    """The bridge above both is not on the way; the GPU's own link at 8 GT/s is."""
    slow = gpu(0, LINKED[0], speed="8 GT/s")
    host = read(cpu(0, bridge("b", slow, nic(0), speed="2.5 GT/s", width=1), gpu(1, LINKED[1])))
    assert host.nics[0].pcie_gb_s == 16 * Fraction(64, 65)


def test_nics_that_share_a_pcie_link_have_a_common_limit() -> None:
    """Two ports of 50 GB/s are plugged into 16 lanes of 32 GT/s, 63 GB/s, each way."""
    host = read(cpu(0, bridge("b", gpu(0, LINKED[0]), nic(0, ports=2)), gpu(1, LINKED[1])))
    pairs = (("gpu0", "mlx5_0"), ("gpu0", "mlx5_1"))
    out, back = (limit for limit in host.limits if limit.name.startswith("nic0"))
    assert (out.name, out.links, out.bandwidth_gb_s) == ("nic0 out", pairs, GEN5)
    assert (back.name, back.links) == ("nic0 in", tuple((nic, gpu) for gpu, nic in pairs))
    assert {limit.name for limit in host.limits} == {
        "nic0 out", "nic0 in", "GPU0 out", "GPU0 in",
    }  # fmt: skip


def test_an_unknown_pcie_speed_is_a_note_and_a_port_without_speed_unknown() -> None:
    host = read(cpu(0, *(gpu(i, LINKED[i], speed="") for i in range(2)), nic(0, None, speed="")))
    assert host.nics[0].bandwidth_gb_s is None
    assert host.nics[0].pcie_gb_s is None
    assert [note for note in host.notes if "nic0 has no speed in the file" in note]


# Machines without NVLink.


def test_a_machine_with_pcie_only_is_its_tree() -> None:
    """Two GPUs share a PCIe switch below socket 0; one stands alone on socket 1."""
    host = read(
        cpu(0, bridge("b", gpu(0), gpu(1), nic(0))), cpu(1, gpu(2)), rates="nominal,runtime"
    )
    pcie = Fraction(16 * 3)
    assert host.switches == (HostSwitch("socket0"), HostSwitch("pcie0"), HostSwitch("socket1"))
    assert widths(host) == {
        **dict.fromkeys([("gpu0", "pcie0"), ("pcie0", "gpu0")], pcie),
        **dict.fromkeys([("gpu1", "pcie0"), ("pcie0", "gpu1")], pcie),
        **dict.fromkeys([("pcie0", "socket0"), ("socket0", "pcie0")], pcie),
        **dict.fromkeys([("gpu2", "socket1"), ("socket1", "gpu2")], pcie),
        **dict.fromkeys([("socket0", "socket1"), ("socket1", "socket0")], Fraction(22)),
    }
    assert host.nics[0].nodes == ("pcie0",)
    assert host.nics[0].pcie_gb_s == pcie


def test_a_chain_of_single_bridges_is_one_link_as_wide_as_its_narrowest() -> None:
    host = read(cpu(0, bridge("b", bridge("c", gpu(0)), speed="16 GT/s"), gpu(1)))
    assert widths(host)["gpu0", "socket0"] == 16 * Fraction(128, 65)


def test_pairs_on_bridges_meet_over_pcie() -> None:
    """As A100 PCIe cards do: NVLinks join two and two, the socket all four."""
    pairs = [gpu(i, {f"gpu{i ^ 1}": 12}, kind='sm="80"') for i in range(4)]
    host = read(cpu(0, *pairs))
    made = widths(host)
    assert made["gpu0", "gpu1"] == made["gpu3", "gpu2"] == 300
    assert made["gpu0", "socket0"] == made["socket0", "gpu3"] == GEN5
    assert host.switches == (HostSwitch("socket0"),)
    assert host.notes == ("Direct links do not join all GPUs: PCIe and the sockets do.",)


def test_the_link_of_two_sockets_is_that_of_the_first_with_devices() -> None:
    """Socket 0 has none; sockets 1 and 2 are of AMD."""
    sockets = [cpu(0), *(cpu(i + 1, gpu(i), vendor="AuthenticAMD") for i in range(2))]
    made = widths(read(*sockets, rates="nominal,runtime"))
    assert made["socket1", "socket2"] == 16


@pytest.mark.parametrize(
    ("vendor", "model", "link"),
    [("AuthenticAMD", 1, "amd"), ("GenuineIntel", 85, "intel_skylake"),
     ("GenuineIntel", 106, "intel_skylake"), ("GenuineIntel", 143, "intel_sapphire_rapids"),
     ("GenuineIntel", 207, "intel_emerald_rapids"), ("GenuineIntel", 79, "intel_broadwell")],
)  # fmt: skip
def test_the_table_must_have_the_link_between_sockets(vendor: str, model: int, link: str) -> None:
    sockets = [cpu(i, gpu(i), vendor=vendor, model=model) for i in range(2)]
    with pytest.raises(InvalidTopologyError, match=f"dump.xml: .* 'nominal' has no socket.{link};"):
        read(*sockets)


# Refusals.

SPARE = gpu(1, {"gpu0": 1})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([cpu(0, nic(0))], "system has no gpu, so it describes PCIe only; dump it on the machine"),
        ([cpu(0, gpu(0, {"gpu9": 1}))], "nvlink leads to gpu9, which no pci of the file has"),
        ([cpu(0, gpu(0), gpu(0))], "gpu is the second of the name gpu0"),
        ([cpu(0, gpu(0, {"gpu1": 1}, kind='sm="42"'), SPARE)], "has no nvlink.sm_42;"),
        ([cpu(0, gpu(0, {"gpu1": 1}, kind="")), SPARE], "gpu has no sm; dump it"),
        ([cpu(0, gpu(0, {"gpu1": 1}, kind='sm="x"'))], "gpu has sm='x'; it must be a number"),
        ([cpu(0, gpu(0, {"gpu1": 10**9}), SPARE)], "nvlink has count='1000000000'; it must be"),
        (
            [cpu(0, gpu(0, LINKED[0], speed="7 GT/s"), SPARE, nic(0))],
            "pci has link_speed='7 GT/s'; it must be one of 2.5, 5, 8, 16, 32, 64 GT/s",
        ),
        ([cpu(0, gpu(0, speed=""), gpu(1))], "pci has no link speed, and gpu0 no other link"),
        ([cpu(0, *(gpu(i) for i in range(601)))], "has over 600 GPUs and ports; give one file"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(parts: list[str], message: str) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)) as refused:
        read(*parts)
    assert str(refused.value).startswith("dump.xml")
    assert "\n" not in str(refused.value)


def test_another_document_is_refused() -> None:
    with pytest.raises(InvalidTopologyError, match="line 1: graphs is not the element system"):
        host_from_nccl("<graphs/>", "dump.xml", "node", rate_table("nominal"))
