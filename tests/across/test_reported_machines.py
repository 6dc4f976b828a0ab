"""Machines that people reported, with what they measured or asked, and the right answers."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

import pytest

from experiments.advice.expected import Expected, expected
from forestcoll import generate, group, load_topology, optimum, verify
from forestcoll.topology import Topology
from tests.hand_networks import network_of

PCIE = 32
"""GB/s of PCIe 4.0 x16, each way."""


def box_of_eight(between: int, direct: int, pairs: Iterable[tuple[int, int]]) -> Topology:
    """Eight GPUs on two sockets by PCIe, joined at ``between``; pairs by links of their own."""
    gpus = " ".join(f"b0.g{i}@0.{i}" for i in range(8))
    links = [f"b0.g0..3 - cpu0: {PCIE}, b0.g4..7 - cpu1: {PCIE}, cpu0 - cpu1: {between}"]
    links += [f"b0.g{a} - b0.g{b}: {direct}" for a, b in pairs]
    return network_of(f"{gpus} [cpu0] [cpu1]", ", ".join(links), "a box of eight")


def a100_pcie() -> Topology:
    """Eight A100 PCIe with NVLink bridges of 240 GB/s on pairs (nccl-tests#178)."""
    return box_of_eight(64, 240, [(0, 1), (2, 3), (4, 5), (6, 7)])


def busbw(found: Expected) -> set[Fraction | None]:
    """Return that of all bounds and of ForestColl, which are to be the same."""
    return {one.busbw_gb_s for one in (*found.bounds, found.rates[0])}


@pytest.mark.parametrize(("idle", "algbw"), [("absent", 32), ("forward", 64)])
def test_three_gpus_of_a_pcie_box(idle: Literal["absent", "forward"], algbw: int) -> None:
    """GPU 2 alone has PCIe, 32 GB/s: all of S must enter and leave it, so algbw 32, busbw 42.7.

    If GPU 3, its NVLink peer, forwards, twice as much gets to it: 64 and 85.3, which no library
    does.
    """
    found = expected(a100_pcie(), members=["b0.g0", "b0.g1", "b0.g2"], idle=idle)
    assert busbw(found) == {Fraction(4, 3) * algbw}
    assert found.idle == idle
    assert found.topology.num_compute == 3


def test_two_gpus_of_a_pcie_box_have_their_bridge() -> None:
    """208 GB/s are measured: the bridge's 240 and PCIe's 32 at best."""
    found = expected(a100_pcie(), members=["b0.g0", "b0.g1"])
    assert busbw(found) == {Fraction(272)}


@pytest.mark.parametrize(("idle", "busbw_gb_s"), [("absent", 50), ("forward", 400)])
def test_one_gpu_of_each_box(idle: Literal["absent", "forward"], busbw_gb_s: int) -> None:
    """One NIC of 50 GB/s each (nccl-tests#232), or all eight of the box through the others."""
    network = load_topology("dgx_h100:boxes=2")
    found = expected(network, members=["b0.gpu0", "b1.gpu0"], idle=idle)
    assert busbw(found) == {Fraction(busbw_gb_s)}


def test_idle_gpus_are_absent_by_default_in_expected_only() -> None:
    """``expected`` is of libraries, so idle GPUs are absent; without a group nobody is."""
    network = load_topology("dgx_h100:boxes=2")
    assert expected(network, members=["b0.gpu0", "b1.gpu0"]).idle == "absent"
    assert expected(network).idle is None
    pair = group(network, ["b0.gpu0", "b1.gpu0"], idle="absent")
    assert optimum(pair).algbw_gb_s == 100
    assert optimum(group(network, ["b0.gpu0", "b1.gpu0"])).algbw_gb_s == 800


def one_gpu_four_nics() -> Topology:
    """Two nodes of one H100, whose four NICs of 50 GB/s are behind its PCIe switch and the CPU."""
    nodes = [f"b{i}.g0@{i}.0 [b{i}.pcie] [b{i}.cpu] [b{i}.nic0..3]" for i in range(2)]
    links = [
        f"b{i}.pcie - b{i}.g0 b{i}.cpu: 63, b{i}.nic0 - b{i}.pcie: 50, "
        f"b{i}.nic1..3 - b{i}.cpu: 50, b{i}.nic0..3 - fabric: 50"
        for i in range(2)
    ]
    return network_of(" ".join(["[fabric]", *nodes]), ", ".join(links), "1 GPU and 4 NICs a node")


def test_one_gpu_with_four_nics_is_bound_by_its_own_pcie() -> None:
    """200 GB/s of NICs help nothing: 63 GB/s enter and leave the GPU (nccl-tests#232)."""
    found = expected(one_gpu_four_nics())
    assert busbw(found) == {Fraction(63)}
    for bound in found.binding:
        (line,) = bound.widest.exit_classes()
        assert str(line).startswith("1 x 63 GB/s from ")
        assert ".pcie" in str(line)
        assert "GPU 0 of box" in str(line)


def test_two_hives_are_bound_by_the_link_between_the_sockets() -> None:
    """Two hives of four MI100, xGMI 46 GB/s a link, 54 between the sockets (rccl#901).

    Each half of the data crosses to the other hive once and comes back summed: 54 GB/s algbw, busbw
    7/4 of it. Of an allgather, four of eight shards cross each way: 108.
    """
    hives = [(a + h, b + h) for h in (0, 4) for a in range(4) for b in range(a + 1, 4)]
    network = box_of_eight(54, 46, hives)
    assert busbw(expected(network)) == {Fraction(7, 4) * 54}
    assert optimum(network).algbw_gb_s == 108


def test_a_torus_that_wraps_in_one_dimension_is_bound_by_its_corners() -> None:
    """TPU v5e, 8 x 16, links of 45 GB/s: a corner of the mesh dimension has 3, so busbw is 135."""
    network = load_topology("torus:dims=8x16,bandwidth=45,wrap=false,true")
    best = optimum(network)
    assert best.algbw_gb_s * Fraction(127, 128) == 135
    assert len(best.bottleneck.nodes) == 127


def through_memory() -> Topology:
    """Eight RTX 5090 without peer access: all traffic passes host memory, 150 GB/s (nccl#1639)."""
    gpus = " ".join(f"b0.g{i}@0.{i}" for i in range(8))
    links = "in > out: 150, b0.g0..7 > in: 64, out > b0.g0..7: 64"
    return network_of(f"[in] [out] {gpus}", links, "8 GPUs through host memory")


def test_host_memory_is_passed_seven_times_by_each_shard() -> None:
    """``out`` receives 150 GB/s and may send 512: algbw 150/7, busbw 18.75 (28 were measured)."""
    network = through_memory()
    assert busbw(expected(network, "allgather")) == {Fraction("18.75")}
    for collective, algbw in (
        ("allgather", Fraction(150, 7)),
        ("reduce-scatter", Fraction(150, 7)),
        ("allreduce", Fraction(75, 7)),
    ):
        verdict = verify(generate(network, collective=collective).schedule)
        assert (verdict.algbw_gb_s, verdict.optimal) == (algbw, True)


def test_a_nic_that_receives_at_half_speed_binds_one_direction() -> None:
    """Two GPUs on each of two PCIe switches at 24 GB/s; 24 one way between these, 12 the other.

    Two of four shards cross each way, so algbw is 24 for allgather and reduce-scatter.
    """
    network = network_of(
        "[sa] [sb] a0@0.0 a1@0.1 b0@1.0 b1@1.1",
        "a0 a1 - sa: 24, b0 b1 - sb: 24, sa > sb: 24, sb > sa: 12",
        "half speed to receive",
    )
    for collective, algbw in (("allgather", 24), ("reduce-scatter", 24), ("allreduce", 12)):
        verdict = verify(generate(network, collective=collective).schedule)
        assert (verdict.algbw_gb_s, verdict.optimal) == (algbw, True)


def test_servers_that_add_take_a_quarter_each() -> None:
    """4 GPUs and 4 reducing servers, a NIC of 12.5 GB/s each, at one plain switch (osrg/optcast).

    Every GPU sends quarter i to server i and gets the sum back: 12.5 GB/s.
    """
    nodes = "[fabric] g0 [r0*] g1 [r1*] g2 [r2*] g3 [r3*]"
    net = network_of(nodes, "g0..3 r0..3 - fabric: 12.5", "4 servers that reduce")
    made = generate(net, collective="allreduce", multicast=True).schedule
    verdict = verify(made)
    assert (verdict.algbw_gb_s, verdict.optimal) == (Fraction("12.5"), True)


@pytest.mark.parametrize(
    ("spec", "collective", "row", "algbw"),
    [
        # A GPU's own part passes the switch too: n / (n + 1) of 450, and all of S is sent.
        ("dgx_h100:boxes=1", "allreduce", "NCCL NVLS", 400),
        ("dgx_h100:boxes=1", "reduce-scatter", "NCCL NVLS", 450),
        ("dgx_h100:boxes=1", "reduce-scatter", "NCCL ring", Fraction(8 * 450, 7)),
        # NCCL broadcasts along a ring: 8 NICs of 25 GB/s into each box.
        ("dgx_a100:boxes=16", "broadcast", "NCCL ring", 200),
    ],
)
def test_rows_of_nccl(spec: str, collective: str, row: str, algbw: int) -> None:
    """Why NVLS is slower than a ring in a reduce-scatter: nccl#1083; broadcasts: nccl#590."""
    rates = {one.what: one.algbw_gb_s for one in expected(load_topology(spec), collective).rates}
    assert rates[row] == algbw
