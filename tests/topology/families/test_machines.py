"""Real machines, counted by hand."""

from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Topology, load_topology, validate
from forestcoll.topology.describe import shared_in_words
from forestcoll.topology.families.machines import dgx_a100, dgx_h100, mi250, nvl72, paper_example
from lp.allgather.linear_optimum import allgather_rate


def bandwidth(topology: Topology, tail: str, head: str) -> Fraction | None:
    position = topology.position_of
    link = topology.link_between.get((position[tail], position[head]))
    return link.bandwidth_gb_s if link else None


def ingress(topology: Topology, name: str) -> Fraction:
    return topology.ingress_gb_s[topology.position_of[name]]


def box_exit(topology: Topology, box: int) -> Fraction:
    """Bandwidth of the links from the nodes of a box to the others."""
    inside = {i for i, node in enumerate(topology.nodes) if node.box == box}
    return sum(
        (e.bandwidth_gb_s for e in topology.links if e.tail in inside and e.head not in inside),
        start=Fraction(0),
    )


def test_dgx_a100_by_hand():
    """4 boxes: 32 GPUs, 4 NVSwitches, 1 IB switch; a GPU has 300 + 25, a box 8 x 25 GB/s."""
    topology = dgx_a100(4)
    assert (topology.num_compute, len(topology.switches)) == (32, 5)
    assert len(topology.links) == 2 * (32 + 32)
    assert {topology.ingress_gb_s[v] for v in topology.compute} == {Fraction(325)}
    assert {box_exit(topology, box) for box in range(4)} == {Fraction(200)}
    assert topology.name == "dgx_a100:boxes=4"
    gpu = topology.nodes[topology.position_of["b2.gpu5"]]
    assert (gpu.box, gpu.index) == (2, 5)


def test_hgx_a800_by_hand():
    """Two GPUs to a NIC of 25 GB/s: a box sends 100 GB/s; a GPU has 180 + 25."""
    topology = load_topology("hgx_a800:boxes=4")
    assert (topology.num_compute, len(topology.switches)) == (32, 4 * (1 + 4) + 1)
    assert {topology.ingress_gb_s[v] for v in topology.compute} == {Fraction(180 + 25)}
    assert {box_exit(topology, box) for box in range(4)} == {Fraction(100)}
    assert bandwidth(topology, "b2.gpu5", "b2.nic2") == bandwidth(topology, "b2.nic2", "ib") == 25
    assert len(load_topology("hgx_a800:boxes=1").switches) == 1


def test_nvl72_by_hand():
    """72 GPUs, 18 chips, a link of 50 GB/s from each to each; racks by a NIC of each GPU."""
    rack = nvl72()
    assert (rack.num_compute, len(rack.switches), len(rack.links)) == (72, 18, 2 * 72 * 18)
    assert {rack.ingress_gb_s[v] for v in rack.compute} == {Fraction(900)}
    assert all(rack.nodes[v].multicast for v in rack.switches)
    half = rack.without("b0.nvswitch9", "b0.nvswitch1?")
    assert {half.ingress_gb_s[v] for v in half.compute} == {Fraction(450)}
    racks = nvl72(racks=2, gpus_per_rack=64)
    assert {box_exit(racks, box) for box in range(2)} == {Fraction(64 * 50)}


def test_one_box_has_no_network_outside_it():
    """8 GPUs and an NVSwitch; 16 GPUs and only xGMI."""
    for topology in (dgx_a100(1), dgx_a100(1, nics="nodes"), dgx_h100(1, ib_switches=2)):
        assert [topology.nodes[w].name for w in topology.switches] == ["b0.nvswitch"]
        assert len(topology.links) == 16
    assert mi250(1).switches == ()


def test_two_ib_switches_take_even_and_odd_nics():
    """GPU 4 is on ib0 and not on ib1, GPU 5 the other way round; box exits stay 200 GB/s."""
    topology = dgx_a100(2, ib_switches=2)
    assert bandwidth(topology, "b0.gpu4", "ib0") == 25
    assert bandwidth(topology, "b0.gpu4", "ib1") is None
    assert bandwidth(topology, "b1.gpu5", "ib1") == 25
    assert bandwidth(topology, "b1.gpu5", "ib0") is None
    assert ingress(topology, "ib0") == ingress(topology, "ib1") == 2 * 4 * 25
    assert box_exit(topology, 0) == 200


@pytest.mark.parametrize("ib_switches", [1, 2])
def test_nics_as_nodes_keep_the_bandwidth_of_gpu_and_box(ib_switches):
    """GPUs 2 and 3 share PCIe switch 1 with NICs 2 and 3; 325 GB/s a GPU, 200 GB/s a box."""
    topology = dgx_a100(2, ib_switches=ib_switches, nics="nodes")
    assert len(topology.switches) == 2 * (1 + 4 + 8) + ib_switches
    for name in ("gpu2", "gpu3", "nic2", "nic3"):
        assert bandwidth(topology, f"b0.{name}", "b0.pcie1") == 25
    assert bandwidth(topology, "b0.gpu2", "b0.nic2") is None
    assert bandwidth(topology, "b0.nic3", "ib" if ib_switches == 1 else "ib1") == 25
    assert {topology.ingress_gb_s[v] for v in topology.compute} == {Fraction(325)}
    assert {box_exit(topology, box) for box in range(2)} == {Fraction(200)}


def test_dgx_h100_by_hand():
    """450 + 50 GB/s into a GPU, 400 out of a box, and an NVSwitch that can multicast."""
    topology = dgx_h100(2)
    assert {topology.ingress_gb_s[v] for v in topology.compute} == {Fraction(500)}
    assert box_exit(topology, 1) == 400
    multicast = [node.name for node in topology.nodes if node.multicast]
    assert multicast == ["b0.nvswitch", "b1.nvswitch"]


def test_mi250_by_hand():
    """350 GB/s of xGMI and 16 of InfiniBand into a GPU; 256 GB/s out of a box; symmetric."""
    topology = mi250(2)
    assert (topology.num_compute, len(topology.switches)) == (32, 1)
    assert len(topology.links) == 2 * (2 * 28 + 32)
    assert {topology.ingress_gb_s[v] for v in topology.compute} == {Fraction(366)}
    assert box_exit(topology, 0) == 256
    assert bandwidth(topology, "b1.gpu0", "b1.gpu1") == 200
    assert bandwidth(topology, "b1.gpu7", "b1.gpu3") == 100
    assert bandwidth(topology, "b1.gpu9", "b1.gpu2") == 50
    assert topology.reversed() == topology


def test_half_of_an_mi250_box():
    """GPUs 0 to 7; the OAM of GPUs 0 and 1 has 100 + 50 of xGMI and 32 of InfiniBand: 182."""
    topology = mi250(2, gpus_per_box=8)
    assert topology.num_compute == 16
    oam = {topology.position_of[name] for name in ("b0.gpu0", "b0.gpu1")}
    into = [e.bandwidth_gb_s for e in topology.links if e.head in oam and e.tail not in oam]
    assert sum(into) == 182
    assert box_exit(topology, 0) == 128


def test_the_paper_example_by_hand():
    """10b from GPU to box switch, b to the switch between: 11b a GPU, 4b a box."""
    topology = paper_example("2.5")
    assert (topology.num_compute, len(topology.switches)) == (8, 3)
    assert bandwidth(topology, "c1.1", "w1") == bandwidth(topology, "w2", "c2.4") == 25
    assert bandwidth(topology, "c1.1", "w2") is None
    assert bandwidth(topology, "c2.3", "w0") == Fraction(5, 2)
    assert box_exit(topology, 0) == 10


def test_other_sources_numbers_are_parameters():
    """NCCL counts 240 GB/s of NVLink on an A100; eight 200 Gb/s NICs are 12.5 GB/s a GCD."""
    assert ingress(dgx_a100(1, nvswitch_bandwidth=240), "b0.gpu0") == 240
    assert box_exit(mi250(2, ib_bandwidth="12.5"), 0) == 200


def test_every_machine_validates_for_every_collective():
    machines = [dgx_a100(2, 2, "nodes"), dgx_h100(3), mi250(2), mi250(1, 8), paper_example()]
    for topology in machines:
        validate(topology, "allreduce")


def test_one_socket_by_hand() -> None:
    """8 GPUs on PCIe 5.0 x16, 4096/65 GB/s each way; 8 links read from memory of 153.6 GB/s."""
    box = load_topology("pcie_box")
    validate(box)
    assert (box.num_compute, len(box.switches), len(box.links)) == (8, 1, 16)
    assert {link.bandwidth_gb_s for link in box.links} == {Fraction(4096, 65)}
    (memory,) = box.shared
    assert (memory.name, len(memory.links)) == ("b0.memory0", 8)
    assert memory.bandwidth_gb_s == Fraction("153.6")
    host = box.position_of["b0.socket0"]
    assert {tail for tail, _ in memory.links} == {host}
    assert {node.box for node in box.nodes} == {0}


def test_sockets_share_the_gpus_out_and_are_linked_each_to_each() -> None:
    """7 GPUs on 3 sockets: 3, 2 and 2; three pairs of sockets, whose links no memory holds."""
    box = load_topology("pcie_box:gpus=7,sockets=3,pcie=4,lanes=8,socket_bandwidth=40")
    assert [len(group.links) for group in box.shared] == [3, 2, 2]
    assert len(box.links) == 2 * (7 + 3)
    widths = sorted({link.bandwidth_gb_s for link in box.links})
    assert widths == [8 * Fraction(128, 65), 40]
    assert [str(one) for one in shared_in_words(box)][1:] == [
        "b0.memory1: 153.6 GB/s shared by 2 links from switch b0.socket1 to GPUs 3-4 of box 0",
        "b0.memory2: 153.6 GB/s shared by 2 links from switch b0.socket2 to GPUs 5-6 of box 0",
    ]


def test_gpus_with_peer_access_bypass_host_memory() -> None:
    assert load_topology("pcie_box:gpus=2,peer_access=true").shared == ()


@pytest.mark.parametrize(
    ("spec", "due"),
    [
        ("pcie_box:memory_bandwidth=150", 150 / 7),  # 56 transfers of a shard
        ("pcie_box:gpus=4,memory_bandwidth=150", 4 * 150 / 12),
        ("pcie_box:gpus=4,memory_bandwidth=1000", 4 * 4096 / 65 / 3),  # 3 shards enter a GPU
        ("pcie_box:sockets=2,memory_bandwidth=150", 300 / 7),  # 28 transfers a memory
        ("pcie_box:sockets=2,memory_bandwidth=150,socket_bandwidth=10", 20),  # 4 shards cross
    ],
)
def test_an_allgather_through_host_memory(spec: str, due: float) -> None:
    """Shards of 8 GPUs are received 56 times, each time through memory; 21.43 GB/s of 150."""
    assert allgather_rate(load_topology(spec), seconds=30).algbw_gb_s == pytest.approx(due)


def test_a_box_with_more_sockets_than_gpus_is_refused() -> None:
    with pytest.raises(InvalidTopologyError, match="2 sockets for 1 GPUs; every socket needs"):
        load_topology("pcie_box:gpus=1,sockets=2")
