"""Rank files and environments."""

import pytest

from forestcoll.errors import ExportError
from forestcoll.topology import TopologyBuilder, load_topology
from forestcoll.topology.exporters.rank_files import topology_environment, topology_rank_file
from forestcoll.topology.model import Topology
from tests.hand_networks import network_of


def two_boxes(nics: tuple[str, ...] = (), orders: tuple[str, str] = ("10", "10")) -> Topology:
    builder = TopologyBuilder()
    for box in range(2):
        for index in map(int, orders[box]):
            builder.gpu(f"node{box}.gpu{index}", box, index)
        for i, nic in enumerate(nics):
            builder.switch(f"node{box}.{nic}", box, i)
    return builder.build("n")


def test_ranks_have_hosts_and_slots() -> None:
    assert topology_rank_file(two_boxes()).splitlines() == [
        "rank 0=node0 slot=0", "rank 1=node0 slot=1", "rank 2=node1 slot=0", "rank 3=node1 slot=1",
    ]  # fmt: skip
    assert topology_rank_file(load_topology("dgx_a100:boxes=1")).startswith("rank 0=b0 slot=0\n")


def test_the_environment_has_devices_and_nics() -> None:
    found = topology_environment(two_boxes(("mlx5_2", "mlx5_0"))).splitlines()
    assert found == [
        "CUDA_VISIBLE_DEVICES=1,0", "CUDA_DEVICE_ORDER=PCI_BUS_ID", "NCCL_IB_HCA==mlx5_2,mlx5_0",
    ]  # fmt: skip
    unknown = topology_environment(two_boxes()).splitlines()
    assert unknown[2].startswith("# NCCL_IB_HCA does not follow")


def test_undetermined_orders_of_ranks_are_refused() -> None:
    loose = network_of("a", "", "n")
    for make in (topology_rank_file, topology_environment):
        with pytest.raises(ExportError, match=r"a (is in no box|has no number in its box)"):
            make(loose)
    with pytest.raises(ExportError, match="boxes have different orders of GPUs"):
        topology_environment(two_boxes(orders=("10", "01")))
