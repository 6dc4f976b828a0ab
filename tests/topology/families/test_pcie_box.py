"""Boxes of GPUs on PCIe, counted by hand."""

from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology, validate
from forestcoll.topology.describe import shared_in_words
from lp.allgather.linear_optimum import allgather_rate


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


def test_peers_that_see_each_other_pass_memory_by() -> None:
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
