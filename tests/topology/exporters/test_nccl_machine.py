"""NCCL's topology files of one machine, read back."""

import re

import pytest

from forestcoll.errors import ExportError
from forestcoll.topology import load_topology
from forestcoll.topology.exporters.nccl_machine import topology_nccl
from forestcoll.topology.importers.join_machines import join_machines
from forestcoll.topology.importers.link_rates import rate_table
from forestcoll.topology.importers.nccl_topology import host_from_nccl
from forestcoll.topology.model import Topology

NOMINAL = rate_table("nominal")


def again(network: Topology, gpu: str) -> Topology:
    host = host_from_nccl(topology_nccl(network, gpu, NOMINAL), "f", "b0", NOMINAL)
    return join_machines([host], None).topology


@pytest.mark.parametrize(
    ("spec", "gpu"),
    [
        ("dgx_h100:boxes=1", "sm_90"),
        ("dgx1", "sm_70"),
        ("dgx_a100:boxes=1", "sm_80"),
        ("mi250:boxes=1", "gfx90a"),
        ("mi300x", "gfx942"),
        ("mi355x", "gfx950"),
    ],
)
def test_a_machine_comes_back_isomorphic(spec: str, gpu: str) -> None:
    """Nodes keep their order, GPUs before switches; names and latencies are new."""
    network = load_topology(spec)
    made = again(network, gpu)
    assert [node.kind for node in made.nodes] == [node.kind for node in network.nodes]
    assert [node.multicast for node in made.nodes] == [node.multicast for node in network.nodes]
    assert {(one.tail, one.head): one.bandwidth_gb_s for one in made.links} == {
        (one.tail, one.head): one.bandwidth_gb_s for one in network.links
    }


def test_amd_counts_xgmi() -> None:
    """A mesh of four GPUs with one link of 64 GB/s a pair."""
    text = topology_nccl(_boxed("complete:nodes=4,bandwidth=64"), "gfx942", NOMINAL)
    assert text.count('<xgmi target="0000:10:00.0" count="1" tclass="0x038000"/>') == 3
    assert 'gcn="942"' in text


def _boxed(spec: str) -> Topology:
    return load_topology(spec)


@pytest.mark.parametrize(
    ("network", "gpu", "message"),
    [
        (load_topology("dgx_h100:boxes=2"), "sm_90", "has several boxes, or nodes outside of one"),
        (load_topology("dgx_h100:boxes=1"), "sm_100", None),
        (
            load_topology("ring:nodes=4,bandwidth=30"),
            "sm_90",
            "bandwidth=30: gpu0 -> gpu1 has 30 GB/s, which is not a whole number",
        ),
        (
            load_topology("ring:nodes=4").with_shared("wire", "gpu0 - gpu1", 1),
            "sm_90",
            "has shared capacities",
        ),
        (load_topology("ring:nodes=65"), "sm_90", "has over 64 GPUs or switches"),
        (
            load_topology("dgx_h100:boxes=1").without("b0.gpu0 -> b0.nvswitch"),
            "sm_90",
            "has a switch whose links are not those of GPUs, equal both ways",
        ),
        (load_topology("ring:nodes=4"), "sm_99", "has no nvlink.sm_99"),
    ],
)
def test_networks_beyond_the_nccl_format_are_refused(
    network: Topology, gpu: str, message: str | None
) -> None:
    """450 GB/s are 9 links of a B200."""
    if message is None:
        assert 'count="9"' in topology_nccl(network, gpu, NOMINAL)
        return
    with pytest.raises(ExportError, match=re.escape(message)):
        topology_nccl(network, gpu, NOMINAL)
