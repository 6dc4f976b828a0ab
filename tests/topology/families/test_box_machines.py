"""Machines of 8 GPUs, counted by hand."""

from fractions import Fraction

import pytest

from forestcoll import optimum
from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Topology, load_topology, validate
from forestcoll.topology.families.machine_table import MACHINES


def width(topology: Topology, tail: str, head: str) -> Fraction | None:
    place = topology.position_of
    link = topology.link_between.get((place[tail], place[head]))
    return link.bandwidth_gb_s if link else None


def box_exit(topology: Topology, box: int) -> Fraction:
    inside = {i for i, node in enumerate(topology.nodes) if node.box == box}
    return sum(
        (e.bandwidth_gb_s for e in topology.links if e.tail in inside and e.head not in inside),
        start=Fraction(0),
    )


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
@pytest.mark.parametrize("fabric", ["single", "rails:spines=2", "(leaf-spine:leaves=2,spines=2)"])
def test_every_box_has_its_nics_in_every_fabric(machine, fabric):
    """Three boxes; a box sends what its NICs do; half the GPUs have half the NICs (not on PCIe)."""
    spec = f"{machine.name}:boxes=3,fabric={fabric}"
    topology = load_topology(spec)
    validate(topology)
    assert topology.name == spec.removesuffix(",fabric=single")
    assert topology.num_compute == 24
    assert {box_exit(topology, box) for box in range(3)} == {machine.nics * machine.nic.value}
    half = load_topology(f"{machine.name}:boxes=3,gpus_per_box=4,fabric={fabric}")
    share = 1 if machine.inside == "pcie" else Fraction(1, 2)
    assert box_exit(half, 1) == share * machine.nics * machine.nic.value


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_one_box_has_no_network_outside_it(machine):
    topology = load_topology(machine.name)
    assert topology.num_compute == 8
    assert {node.box for node in topology.nodes} == {0}


def test_switched_boxes():
    """A B200 has 900 + 50 GB/s; its NVSwitch multicasts unless told otherwise."""
    topology = load_topology("hgx_b200:boxes=2")
    assert {topology.ingress_gb_s[v] for v in topology.compute} == {Fraction(950)}
    assert topology.nodes[topology.position_of["b1.nvswitch"]].multicast
    plain = load_topology("hgx_b200:boxes=2,nvls=false")
    assert not any(node.multicast for node in plain.nodes)


def test_meshes():
    """Every pair of a box has a link; a GPU of four keeps three of its seven."""
    topology = load_topology("mi300x:boxes=2")
    assert width(topology, "b0.gpu0", "b0.gpu7") == 64
    assert width(topology, "b0.gpu0", "b1.gpu0") is None
    assert {topology.ingress_gb_s[v] for v in topology.compute} == {Fraction(7 * 64 + 50)}
    four = load_topology("mi300x:gpus_per_box=4")
    assert {four.ingress_gb_s[v] for v in four.compute} == {Fraction(3 * 64)}


def test_several_nics_of_a_gpu_are_on_several_rails():
    """NICs 4i to 4i + 3 of a p5 belong to GPU i."""
    topology = load_topology("aws_p5:boxes=2,fabric=rails")
    assert len(topology.switches) == 2 + 32
    assert width(topology, "b1.gpu2", "rail8") == width(topology, "b1.gpu2", "rail11") == 12.5
    assert width(topology, "b1.gpu2", "rail12") is None
    assert width(load_topology("aws_p5:boxes=2"), "b1.gpu2", "ib") == 50


def test_gpus_that_share_a_nic():
    """GPUs 2 and 3 of a p4d are at NIC 1; 12.5 GB/s to it from each, and out of it."""
    topology = load_topology("aws_p4d:boxes=2,fabric=rails")
    assert width(topology, "b0.gpu2", "b0.nic1") == width(topology, "b0.gpu3", "b0.nic1") == 12.5
    assert width(topology, "b0.nic1", "rail1") == 12.5
    assert len(load_topology("aws_p4d").switches) == 1


def test_bridges():
    """Cards 2i and 2i + 1; the four first cards are on socket 0."""
    topology = load_topology("h100_pcie")
    assert width(topology, "b0.gpu2", "b0.gpu3") == 300
    assert width(topology, "b0.gpu3", "b0.gpu4") is None
    assert width(topology, "b0.gpu3", "b0.socket0") == width(topology, "b0.socket1", "b0.gpu4")
    assert width(load_topology("h100_pcie:gpus_per_box=3"), "b0.gpu1", "b0.gpu0") == 300


def test_host_memory_binds_cards_without_peer_access():
    """Of 8 cards on two sockets: 4 x 7 shards are read out of each memory of 153.6 GB/s."""
    assert len(load_topology("rtx_5090").shared) == 2
    assert load_topology("rtx_5090:peer_access=true").shared == ()
    assert optimum("rtx_5090").algbw_gb_s == 8 * Fraction("153.6") / 28


def test_two_sparks_have_a_cable_and_more_a_switch():
    two = load_topology("dgx_spark")
    assert (len(two.switches), width(two, "b0.gpu0", "b1.gpu0")) == (0, 25)
    assert len(load_topology("dgx_spark:boxes=3").switches) == 1
    assert len(load_topology("dgx_spark:fabric=rails").switches) == 1
    with pytest.raises(InvalidTopologyError, match="whole number from 2"):
        load_topology("dgx_spark:boxes=1")
