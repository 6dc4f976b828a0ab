"""Topology files of SimAI and ns-3."""

import re
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.networks.simai_topology import topology_from_simai
from tests.topology.importers.small_files import SIMAI


def test_nvswitches_come_before_switches_and_rates_are_in_bits() -> None:
    found = topology_from_simai(SIMAI, "f", "n")
    names = [node.name for node in found.nodes]
    assert names == ["gpu0", "gpu1", "gpu2", "gpu3", "nvswitch4", "nvswitch5", "switch6"]
    assert [found.nodes[i].box for i in range(4)] == [0, 0, 1, 1]
    link = found.link_between[0, 4]
    assert (link.bandwidth_gb_s, link.latency_us) == (360, Fraction(1, 40))
    assert found.link_between[1, 6].latency_us == Fraction(1, 2)
    assert len(found.links) == 16


def test_the_form_of_ns3_has_three_counts() -> None:
    found = topology_from_simai("3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n", "f", "n")
    assert [node.name for node in found.nodes] == ["gpu0", "gpu1", "switch2"]
    assert found.links[0].bandwidth_gb_s == Fraction("12.5")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("7 2 2 1 8 H100", "7 3 2", "line 1: counts 2 links, but 8 follow"),
        ("7 2 2 1 8 H100", "7 2", "line 1: '7 2' is not a first line of counts"),
        ("7 2 2 1 8", "3 2 2 1 8", "line 1: counts 0 GPUs, 2 a server"),
        ("7 2 2 1 8", "7 2 2 1 9", "line 1: counts 9 links, but 8 follow; it may be cut off"),
        ("4 5 6\n", "4 5 5\n", "line 2: lists switches twice"),
        ("4 5 6\n", "4 5 9\n", "line 2: '9' is not a node; they are 0 to 6"),
        ("0 4 2880Gbps", "4 4 2880Gbps", "line 3: is a link from a node to itself"),
        ("0 4 2880Gbps", "0 4 2880", "line 3: '2880' is not a rate, such as 400Gbps"),
        ("0 4 2880Gbps", "0 4 0Gbps", "line 3: is a link without bandwidth"),
        ("500ns", "0.5", "line 8: '0.5' is not a delay, such as 0.0005ms"),
        ("500ns 0", "500ns", "line 8: has 4 fields"),
        ("7 2 2 1 8", "9999999 2 2 1 8", "makes over 1000000 nodes"),
    ],
)
def test_wrong_files_are_refused(old: str, new: str, message: str) -> None:
    assert old in SIMAI
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        topology_from_simai(SIMAI.replace(old, new), "f", "n")


def test_too_few_switches_are_refused() -> None:
    with pytest.raises(InvalidTopologyError, match="counts 2 switches, but 1 follow"):
        topology_from_simai("3 2 0\n1\n", "f", "n")
    with pytest.raises(InvalidTopologyError, match="f: is empty"):
        topology_from_simai("", "f", "n")
