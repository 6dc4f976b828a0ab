"""Paths between GPUs through switches."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from baselines.networks.switch_paths import Router, build_forest
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import Path
from forestcoll.schedule.forest import Routes
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.hand_networks import network_of


def named(topology: Topology, tail: str, head: str) -> list[list[str]]:
    """The equal-cost paths between two GPUs by the names of their nodes."""
    place = topology.position_of
    paths = Router(topology).paths(place[tail], place[head])
    return [[topology.nodes[v].name for v in path] for path in paths]


def test_nvswitch_comes_before_the_nic() -> None:
    """Both ways between two GPUs of a box have two hops; the GPU leaves by its widest port."""
    topology = load_topology("dgx_a100:boxes=2")
    assert named(topology, "b0.gpu0", "b0.gpu7") == [["b0.gpu0", "b0.nvswitch", "b0.gpu7"]]
    assert named(topology, "b0.gpu0", "b1.gpu3") == [["b0.gpu0", "ib", "b1.gpu3"]]


def test_fewer_hops_come_before_wider_ports() -> None:
    """Two GPUs with a direct link of 1 GB/s use it, though a switch with 9 GB/s joins them too."""
    assert named(network_of("a b [w]", "a - b, a b - w: 9", "shortcut"), "a", "b") == [["a", "b"]]


def test_all_spines_are_used() -> None:
    """Between leaves there is one path per spine; on one leaf only the leaf."""
    topology = load_topology("fat_tree:leaves=2,hosts=2,spines=3")
    across = named(topology, "leaf0.gpu0", "leaf1.gpu1")
    assert [path[2] for path in across] == ["spine0", "spine1", "spine2"]
    assert named(topology, "leaf0.gpu0", "leaf0.gpu1") == [["leaf0.gpu0", "leaf0", "leaf0.gpu1"]]


def test_data_stay_in_a_box_though_a_leaf_is_nearer() -> None:
    """Two PCIe switches meet at sockets (5 links), and at a leaf (4 links); boxes at the leaf."""
    names = [("a0", 0), ("b0", 0), ("a1", 1), ("b1", 1)]
    builder = TopologyBuilder()
    for name, box in names:
        builder.gpu(f"gpu.{name}", box=box)
        builder.switch(f"pcie.{name}", box=box)
        builder.switch(f"socket.{name}", box=box)
    builder.switch("leaf")
    for name, _ in names:
        builder.link(f"gpu.{name}", f"pcie.{name}", 30)
        builder.link(f"pcie.{name}", f"socket.{name}", 30)
        builder.link(f"pcie.{name}", "leaf", 10)
    for box in "01":
        builder.link(f"socket.a{box}", f"socket.b{box}", 20)
    topology = builder.build("pcie")
    (inside,) = named(topology, "gpu.a0", "gpu.b0")
    assert inside[2:4] == ["socket.a0", "socket.b0"]
    (across,) = named(topology, "gpu.a0", "gpu.b1")
    assert across[2] == "leaf"
    (around,) = named(topology.without("socket.a0 - socket.b0"), "gpu.a0", "gpu.b0")
    assert around[2] == "leaf"


def test_a_gpu_forwards_nothing() -> None:
    """On a torus only neighbours are joined, since any other path leads through a GPU."""
    topology = load_topology("torus:dims=4x4")
    router = Router(topology)
    assert [router.hops(0, gpu) for gpu in (0, 1, 4, 5)] == [0, 1, 1, None]
    with pytest.raises(UnsupportedError, match=r"no path from gpu0\.0 to gpu1\.1"):
        router.paths(0, 5)


def test_hops_are_counted_through_any_number_of_tiers() -> None:
    """GPU, PCIe switch, NIC, InfiniBand, NIC, PCIe switch, GPU: 6 links, over 2 x 2 NICs."""
    topology = load_topology("dgx_a100:boxes=2,nics=nodes")
    place = topology.position_of
    assert Router(topology).hops(place["b0.gpu0"], place["b1.gpu5"]) == 6
    assert len(named(topology, "b0.gpu0", "b1.gpu5")) == 4


@pytest.mark.parametrize(
    "spec",
    [
        "fat_tree:leaves=2,hosts=2,spines=3",
        "dgx_a100:boxes=2,nics=nodes",
        "dgx_h100:boxes=2",
        "mi250:boxes=2",
        "complete:nodes=4",
    ],
)
def test_nodes_of_one_kind_have_the_same_switches_between_them(spec: str) -> None:
    """The paths between all pairs, each searched by itself, whatever was asked before."""
    topology = load_topology(spec)
    router = Router(topology)
    for tail, head in permutations(topology.compute, 2):
        assert router.paths(tail, head) == Router(topology)._found(tail, head)


def test_kinds_differ_by_widths_and_boxes() -> None:
    """Two switches join four GPUs in two boxes; a has a wider link to t, and d only one to s."""
    net = network_of("a@0 b@0 c@1 d@1 [s] [t]", "a b c d - s: 2, b c - t: 2, a - t: 4", "kinds")
    assert [path[1] for path in named(net, "a", "b")] == ["t"]
    assert [path[1] for path in named(net, "a", "d")] == ["s"]
    for tail, heads in {"b": "ac", "c": "ab"}.items():
        for head in heads:
            assert [path[1] for path in named(net, tail, head)] == ["s", "t"]
    router = Router(net)
    tails, heads = router._kinds
    assert len(set(tails[:4])) == len(set(heads[:4])) == 4


def test_trees_are_dealt_out_evenly() -> None:
    """7 trees over 3 spines: 3, 2 and 2, the odd one on the spine whose turn it is by the tail."""
    topology = load_topology("fat_tree:leaves=2,hosts=2,spines=3")
    carried = Router(topology).carry({(0, 2): 7, (1, 2): 7}).paths()
    assert [path.multiplicity for path in carried[0, 2]] == [3, 2, 2]
    assert [path.multiplicity for path in carried[1, 2]] == [2, 3, 2]


def test_paths_without_trees_are_left_out() -> None:
    """One tree takes one spine."""
    topology = load_topology("fat_tree:leaves=2,hosts=2,spines=3")
    (path,) = Router(topology).carry({(0, 2): 1}).paths()[0, 2]
    assert path.multiplicity == 1


def test_congestion_is_the_worst_load_over_bandwidth() -> None:
    """Two GPUs exchange 3 trees each way, over 5 GB/s and 4 GB/s: 3/4 exceeds 3/5."""
    forest = build_forest(
        network_of("a b", "a > b: 5, b > a: 4", "pair"),
        "by hand",
        root=np.array([0, 1], dtype=np.int32),
        multiplicity=np.array([3, 3]),
        parent=np.array([[-1, 0], [1, -1]], dtype=np.int32),
        paths=Routes.from_paths({(0, 1): [Path((0, 1), 3)], (1, 0): [Path((1, 0), 3)]}),
    )
    assert (forest.k, forest.congestion) == (3, Fraction(3, 4))
