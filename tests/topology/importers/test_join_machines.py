"""Machines and a fabric joined: which NIC is plugged in where, and what a GPU gets through it."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll import optimum
from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Topology, load_topology
from forestcoll.topology.importers.fabric import Cable, Fabric, Port
from forestcoll.topology.importers.host import Host, HostLimit, HostLink, HostSwitch, Nic, both_ways
from forestcoll.topology.importers.join_machines import join_machines
from forestcoll.topology.model import NodeKind


def box(name: str, nics: tuple[Nic, ...], gpus: int = 2, **more: object) -> Host:
    """Return GPUs on a switch of 100 GB/s."""
    names = tuple(f"gpu{i}" for i in range(gpus))
    links = [HostLink(*ends, Fraction(100)) for g in names for ends in ((g, "s"), ("s", g))]
    return Host(name, names, (HostSwitch("s", multicast=True),), tuple(links), nics, **more)


OWN = tuple(Nic(f"mlx5_{i}", Fraction(25), (f"gpu{i}",), Fraction(30), f"a{i}") for i in range(2))
SHARED = (Nic("mlx5_0", Fraction(25), ("gpu0", "gpu1"), Fraction(15)),)
BOTH = [box("n0", OWN), box("n1", OWN)]
LEAF = Fabric(
    ("leaf", "spine"),
    (Cable("leaf", "spine", Fraction(50)),),
    (Port("leaf", "n0", "mlx5_*"), Port("spine", "n1", "mlx5_0", bandwidth_gb_s=Fraction(10))),
    frozenset({"spine"}),
)


def widths(topology: Topology) -> dict[tuple[str, str], Fraction]:
    names = [node.name for node in topology.nodes]
    return {(names[link.tail], names[link.head]): link.bandwidth_gb_s for link in topology.links}


def test_a_machine_alone_needs_no_fabric_and_keeps_no_nics() -> None:
    made = join_machines([box("n0", OWN)], None)
    assert [node.name for node in made.topology.nodes] == ["n0.gpu0", "n0.gpu1", "n0.s"]
    assert made.topology.nodes[2].multicast
    assert made.notes == ("Without a network between machines, NICs are left out.",)


def test_a_nic_of_one_gpu_is_a_link_of_that_gpu() -> None:
    """As in the families of machines: the network has the optimum of the family's."""
    joined = join_machines(BOTH, "rails").topology
    assert widths(joined)["n0.gpu1", "rail1"] == 25
    family = load_topology(
        "rail_optimized:boxes=2,gpus_per_box=2,nvswitch_bandwidth=100,rail_bandwidth=25"
    )
    assert optimum(joined).algbw_gb_s == optimum(family).algbw_gb_s
    assert [(node.box, node.index) for node in joined.nodes if node.kind is NodeKind.COMPUTE] == [
        (0, 0), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip


def test_a_nic_of_several_gpus_is_a_node() -> None:
    """Each GPU reaches it at PCIe's 15 GB/s; the cable carries 25."""
    made = widths(join_machines([box("n0", SHARED), box("n1", SHARED)], "rails").topology)
    assert made["n0.gpu0", "n0.mlx5_0"] == 15
    assert made["n0.mlx5_0", "n0.gpu1"] == 15
    assert made["n0.mlx5_0", "rail0"] == 25


def test_a_nic_farther_than_the_others_is_noted() -> None:
    """GPUs 0 and 1 have NICs of their own; a third, equally far from both, may serve storage."""
    third = Nic("mlx5_2", Fraction(25), ("gpu0", "gpu1"), Fraction(15))
    hosts = [box("n0", (*OWN, third)), box("n1", (*OWN, third))]
    assert join_machines(hosts, "rails").notes == (
        "mlx5_2 of n0 (and 1 more) is farther from its GPUs than their other NICs; if it serves "
        "storage, leave it out with --nics.",
    )
    assert join_machines(hosts[:1], "rails").notes[0].startswith("mlx5_2 of n0 is farther")
    assert not join_machines(hosts, "rails", "mlx5_[01]").notes
    half = [box(name, (OWN[0], third)) for name in ("n0", "n1")]
    assert not join_machines(half, "rails").notes  # gpu1 has no other


def test_a_nic_on_a_shared_pcie_link_is_a_node_with_the_limit() -> None:
    nics = tuple(replace(nic, nodes=("gpu0",)) for nic in OWN)
    pairs = (("gpu0", "mlx5_0"), ("gpu0", "mlx5_1"))
    limits = (
        HostLimit("b out", pairs, Fraction(40)),
        HostLimit("b in", tuple((nic, gpu) for gpu, nic in pairs), Fraction(40)),
    )
    hosts = [box(name, nics, limits=limits) for name in ("n0", "n1")]
    topology = join_machines(hosts, "rails").topology
    assert [(one.name, one.bandwidth_gb_s) for one in topology.shared][:2] == [
        ("n0.b in", 40), ("n0.b out", 40),
    ]  # fmt: skip
    assert len(topology.shared[0].links) == 2
    alone = join_machines(hosts, "rails", nics="mlx5_0").topology
    assert [len(one.links) for one in alone.shared] == [1] * 4


def test_ports_of_a_file_are_found_by_name_and_pattern() -> None:
    """A port of 10 GB/s is narrower than its NIC; a NIC without a port is a note."""
    made = join_machines(BOTH, LEAF)
    assert widths(made.topology)["n0.gpu0", "leaf"] == 25
    assert widths(made.topology)["n1.gpu0", "spine"] == 10
    assert widths(made.topology)["leaf", "spine"] == 50
    assert ("n1.gpu1", "spine") not in widths(made.topology)
    assert [node.multicast for node in made.topology.nodes if node.name in LEAF.switches] == [
        False, True,
    ]  # fmt: skip
    assert made.notes == ("n1: no port for mlx5_1; left out.",)


def test_a_guid_goes_before_names() -> None:
    ports = (Port("leaf", guid="a0"), Port("leaf", "n0", "mlx5_0"), Port("leaf", "n0", "mlx5_1"))
    made = join_machines([box("n0", OWN), box("n1", OWN)], replace(LEAF, ports=ports))
    assert widths(made.topology)["n0.gpu0", "leaf"] == 25
    assert "Ports to machines or NICs that no file has: leaf to n0 mlx5_0." in made.notes


def test_parallel_cables_of_a_gpu_are_summed_up() -> None:
    nics = tuple(replace(nic, nodes=("gpu0",)) for nic in OWN)
    fabric = replace(LEAF, ports=(Port("leaf", "n?", "*"),))
    made = join_machines([box("n0", nics), box("n1", nics)], fabric).topology
    assert widths(made)["n0.gpu0", "leaf"] == 50


def test_ports_that_found_nobody_are_a_note_of_few_names() -> None:
    ports = (*LEAF.ports, *(Port("leaf", f"x{i}", "mlx5_0") for i in range(10)))
    note = join_machines(BOTH, replace(LEAF, ports=ports)).notes[-1]
    assert note.startswith("Ports to machines or NICs that no file has: leaf to x0 mlx5_0; ")
    assert note.endswith("leaf to x7 mlx5_0; and 2 more.")


def test_the_notes_of_machines_and_fabric_are_kept() -> None:
    hosts = [replace(BOTH[0], notes=("Hidden.",)), BOTH[1]]
    assert join_machines(hosts, replace(LEAF, notes=("Down.",))).notes[:2] == (
        "n0: Hidden.",
        "Down.",
    )


@pytest.mark.parametrize(
    ("hosts", "fabric", "nics", "message"),
    [
        (BOTH, None, "*", "2 machines and no network between them; add --fabric rails, or"),
        ([BOTH[0]] * 2, "rails", "*", "two machines are named 'n0'; name them, as in node1=FILE"),
        (BOTH, "rails", "ib*", "machine n0 has no NIC named ib*; it has mlx5_0, mlx5_1; choose"),
        ([box("n0", ()), BOTH[1]], "rails", "*", "machine n0 has no NICs; its file does not have"),
        (
            [box("n0", (OWN[0], replace(OWN[1], bandwidth_gb_s=Fraction(50)))), BOTH[1]],
            "rails", "*",
            "machine n0 has NICs of several speeds (mlx5_0 25 GB/s; mlx5_1 50 GB/s); choose those",
        ),
        (
            [box(n, tuple(replace(one, bandwidth_gb_s=None) for one in OWN)) for n in "ab"],
            "rails", "*",
            "machine a: its file has no speed for NIC mlx5_0; give it as --nic-speed, or the",
        ),
        (
            [box(n, (replace(SHARED[0], bandwidth_gb_s=None, pcie_gb_s=None),)) for n in "ab"],
            "rails", "*",
            "machine a: its file has no speed for NIC mlx5_0, which several GPUs share; give",
        ),
        (
            [box("other", OWN), BOTH[1]], LEAF, "*",
            "machine other: the fabric has no port for any of its NICs (mlx5_0, mlx5_1); name the",
        ),
    ],
)  # fmt: skip
def test_machines_that_form_no_network_are_refused(
    hosts: list[Host], fabric: Fabric | str | None, nics: str, message: str
) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)) as refused:
        join_machines(hosts, fabric, nics)
    assert "\n" not in str(refused.value)


def test_a_port_gives_the_speed_that_a_file_lacks() -> None:
    hosts = [box(n, tuple(replace(one, bandwidth_gb_s=None) for one in OWN)) for n in ("n0", "n1")]
    fabric = replace(LEAF, ports=(Port("leaf", "*", "*", bandwidth_gb_s=Fraction(50)),))
    assert widths(join_machines(hosts, fabric).topology)["n0.gpu0", "leaf"] == 30


def test_a_port_of_the_file_has_the_speed_that_a_nic_lacks() -> None:
    """Also of a NIC that several GPUs share; another without a port does not count."""
    nics = (
        replace(SHARED[0], bandwidth_gb_s=None, pcie_gb_s=None),
        Nic("storage", None, ("gpu0", "gpu1")),
    )
    port = Port("leaf", "n0", "mlx5_0", bandwidth_gb_s=Fraction(12))
    made = join_machines([box("n0", nics)], Fabric(("leaf",), (), (port,)))
    assert widths(made.topology)["n0.gpu1", "n0.mlx5_0"] == 12
    assert widths(made.topology)["n0.mlx5_0", "leaf"] == 12
    assert made.notes[0] == "n0: no port for storage; left out."


def test_a_guid_that_two_nics_share_names_none_of_them() -> None:
    nics = tuple(replace(nic, guid="a0") for nic in OWN)
    ports = (
        Port("leaf", "n0", "mlx5_1", "a0", Fraction(25)),
        Port("leaf", "n0", "mlx5_0", "b0", Fraction(25)),
    )
    made = join_machines([box("n0", nics)], Fabric(("leaf",), (), ports)).topology
    assert widths(made)["n0.gpu0", "leaf"] == widths(made)["n0.gpu1", "leaf"] == 25


def test_machines_of_an_nvlink_domain_share_its_nvswitches() -> None:
    """Two trays of two GPUs are one switch of four; a third tray has its own."""
    hosts = []
    for name in ("n0", "n1", "n2"):
        links = [
            arc for gpu in ("gpu0", "gpu1") for arc in both_ways(gpu, "nvswitch0", Fraction(9))
        ]
        made = box(name, OWN)
        hosts.append(replace(made, switches=(HostSwitch("nvswitch0", True),), links=tuple(links)))
    ports = tuple(Port("leaf", f"n{i}", "mlx5_*") for i in range(3))
    domains = (("nvl", ("n0", "n1")),)
    topology = join_machines(hosts, Fabric(("leaf",), (), ports, domains=domains)).topology
    found = widths(topology)
    assert found["n0.gpu0", "nvl.nvswitch0"] == found["nvl.nvswitch0", "n1.gpu1"] == 9
    assert found["n2.gpu0", "n2.nvswitch0"] == 9
    (common,) = (node for node in topology.nodes if node.name == "nvl.nvswitch0")
    assert (common.box, common.multicast) == (None, True)
