"""The machines of TE-CCL, counted by hand."""

from fractions import Fraction

import pytest

from forestcoll import generate, verify
from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Topology, load_topology, validate
from forestcoll.topology.families.chassis import dgx1, dgx2, mi250_teccl, ndv2
from forestcoll.topology.families.machines import mi250


def arc(topology: Topology, tail: str, head: str) -> tuple[Fraction, Fraction] | None:
    """Bandwidth and latency of a link, if there is one."""
    position = topology.position_of
    link = topology.link_between.get((position[tail], position[head]))
    return (link.bandwidth_gb_s, link.latency_us) if link else None


def between(topology: Topology) -> dict[tuple[str, str], tuple[Fraction, Fraction]]:
    """Links that leave a chassis or enter one."""
    nodes = topology.nodes
    return {
        (nodes[e.tail].name, nodes[e.head].name): (e.bandwidth_gb_s, e.latency_us)
        for e in topology.links
        if nodes[e.tail].box != nodes[e.head].box
    }


@pytest.mark.parametrize(
    ("spec", "nodes", "gpus", "links"),
    [
        ("dgx1", 8, 8, 32),
        ("ndv2:chassis=1", 8, 8, 32),
        ("ndv2:chassis=2", 2 * 8 + 1, 16, 2 * 32 + 2 * 2),
        ("ndv2:chassis=2,between=direct", 2 * 8, 16, 2 * 32 + 2),
        ("ndv2:chassis=4", 4 * 8 + 1, 32, 4 * 32 + 4 * 2),
        ("dgx2:chassis=1", 17, 16, 32),
        ("dgx2:chassis=2", 34, 32, 2 * 32 + 2 * 8),
        ("mi250_teccl:chassis=1", 16, 16, 56),
        ("mi250_teccl:chassis=2", 2 * 24 + 1, 32, 2 * (56 + 2 * 16 + 2 * 8)),
    ],
)
def test_nodes_and_links_are_those_of_table_2(spec, nodes, gpus, links):
    """8/32 for DGX1 and NDv2, 17/32 for DGX2, 16/56 for AMD, and what joins the chassis."""
    topology = load_topology(spec)
    assert (len(topology.nodes), topology.num_compute, len(topology.links)) == (nodes, gpus, links)
    assert topology.name == spec


def test_dgx1_by_hand():
    """2 x 50 + 2 x 25 GB/s into every GPU, 0.7 us; 0 and 1 have two links, 0 and 2 one."""
    topology = dgx1()
    assert {topology.ingress_gb_s[v] for v in topology.compute} == {Fraction(150)}
    assert {link.latency_us for link in topology.links} == {Fraction(7, 10)}
    assert arc(topology, "b0.gpu0", "b0.gpu1") == (50, Fraction(7, 10))
    assert arc(topology, "b0.gpu2", "b0.gpu0") == (25, Fraction(7, 10))
    assert arc(topology, "b0.gpu0", "b0.gpu5") is None
    assert topology.reversed() == topology


def test_one_ndv2_chassis_is_a_dgx1():
    assert (ndv2(1).nodes, ndv2(1).links) == (dgx1().nodes, dgx1().links)


@pytest.mark.parametrize("chassis", [2, 3, 4])
def test_gpu_0_of_an_ndv2_chassis_sends_and_gpu_1_receives(chassis):
    """12.5 GB/s and 1.3 us from GPU 0 to the switch, from the switch to GPU 1; all are GPUs."""
    topology = ndv2(chassis)
    link = (Fraction(25, 2), Fraction(13, 10))
    assert between(topology) == {
        ends: link
        for number in range(chassis)
        for ends in ((f"b{number}.gpu0", "ib"), ("ib", f"b{number}.gpu1"))
    }
    assert [topology.nodes[v].name for v in topology.switches] == ["ib"]


def test_two_ndv2_chassis_joined_directly():
    """GPU 0 of one to GPU 1 of the other, both ways."""
    link = (Fraction(25, 2), Fraction(13, 10))
    assert between(ndv2(2, between="direct")) == {
        ("b0.gpu0", "b1.gpu1"): link,
        ("b1.gpu0", "b0.gpu1"): link,
    }


def test_three_ndv2_chassis_joined_directly_are_refused():
    """The one NIC of a chassis has one link. One chassis alone needs none."""
    with pytest.raises(InvalidTopologyError, match="must be 'switch', or chassis at most 2"):
        ndv2(3, between="direct")
    assert ndv2(1, between="direct").links == ndv2(1).links


def test_odd_gpus_of_a_dgx2_send_to_even_ones_of_the_other():
    """125 GB/s and 0.35 us each way to the NVSwitch; 8 links of 12.5 GB/s and 2.6 us across."""
    topology = dgx2(2)
    assert arc(topology, "b0.gpu3", "b0.nvswitch") == (125, Fraction(7, 20))
    assert arc(topology, "b1.nvswitch", "b1.gpu0") == (125, Fraction(7, 20))
    assert between(topology) == {
        (f"b{a}.gpu{2 * i + 1}", f"b{1 - a}.gpu{2 * i}"): (Fraction(25, 2), Fraction(13, 5))
        for a in range(2)
        for i in range(8)
    }


def test_a_third_dgx2_is_refused_with_the_reason():
    """It would take a second NIC of every GPU."""
    with pytest.raises(InvalidTopologyError, match=r"from 1 to 2 .*a third finds no NIC free"):
        load_topology("dgx2:chassis=3")


def test_amd_has_the_xgmi_of_an_mi250_and_two_tiers_of_switches():
    """Every link of a switch 25 GB/s: GPUs 2 and 3 on switch 1, 8 of these on one: 200 GB/s out."""
    topology = mi250_teccl(2)
    xgmi = {(e.tail, e.head, e.bandwidth_gb_s) for e in mi250_teccl(1).links}
    assert xgmi == {(e.tail, e.head, e.bandwidth_gb_s) for e in mi250(1).links}
    assert arc(topology, "b0.gpu0", "b0.gpu1") == (200, Fraction(3, 5))
    for ends in (("b1.gpu2", "b1.switch1"), ("b1.gpu3", "b1.switch1"), ("b1.switch1", "switch")):
        assert arc(topology, *ends) == arc(topology, *ends[::-1]) == (25, Fraction(3, 4))
    assert {topology.ingress_gb_s[v] for v in topology.compute} == {Fraction(375)}
    assert len(between(topology)) == 2 * 2 * 8
    assert topology.reversed() == topology


def test_switches_copy_only_if_asked_to():
    for spec in ("ndv2:chassis=2", "dgx2:chassis=2", "mi250_teccl:chassis=2"):
        assert not any(node.multicast for node in load_topology(spec).nodes)
        topology = load_topology(f"{spec},multicast=true")
        assert all(topology.nodes[v].multicast for v in topology.switches)


def test_latencies_and_bandwidths_are_parameters():
    """No latency at all, as in TE-CCL's table 7; 21.75 GB/s an NVLink is 43.5 a pair."""
    assert {link.latency_us for link in dgx1(nvlink_latency=0).links} == {0}
    topology = load_topology("ndv2:chassis=2,nvlink_bandwidth=21.75,nic_latency=1.5")
    assert arc(topology, "b0.gpu0", "b0.gpu1") == (Fraction("43.5"), Fraction(7, 10))
    assert arc(topology, "b0.gpu0", "ib") == (Fraction(25, 2), Fraction(3, 2))


@pytest.mark.parametrize(
    ("spec", "inverse_rate"),
    [
        ("dgx1", Fraction(7, 150)),
        ("ndv2:chassis=2", Fraction(8 * 2, 25)),
        ("ndv2:chassis=2,between=direct", Fraction(8 * 2, 25)),
        ("ndv2:chassis=3", Fraction(16 * 2, 25)),
        ("dgx2:chassis=1", Fraction(15, 125)),
        ("dgx2:chassis=2", Fraction(31, 125)),
        ("mi250_teccl:chassis=2", Fraction(30, 325)),
        ("mi250_teccl:chassis=3", Fraction(32, 200)),
    ],
)
def test_unequal_gpus_are_scheduled_at_the_rate_of_their_narrowest_cut(spec, inverse_rate):
    """Some GPUs send more than they receive, no switch does.

    The others' 7 shards enter a DGX-1's GPU at 150 GB/s; all of other chassis enter one of NDv2
    at 12.5, one of three of AMD at 8 x 25. An odd GPU of a DGX2 has the NVSwitch alone to receive
    31 shards from, at 125; the other chassis's 16 take less at 8 x 12.5. GPUs 0 and 1 of one of
    two of AMD receive 30 shards over 300 GB/s of xGMI and 25 of their switch; the other chassis's
    16 take less at 200.
    """
    topology = load_topology(spec)
    validate(topology, "allreduce")
    forest = generate(topology).schedule
    assert forest.optimum.inverse_rate == inverse_rate
    assert verify(forest).optimal
