"""Racks of NVLink switches, counted by hand."""

from fractions import Fraction

import pytest

from forestcoll.topology import load_topology


@pytest.mark.parametrize(
    ("name", "chips", "inside", "nic"),
    [("gb200_nvl72", 18, 900, 50), ("gb300_nvl72", 18, 900, 100), ("vr_nvl144", 36, 1800, 200)],
)
def test_racks(name, chips, inside, nic):
    """72 GPUs with a link of 50 GB/s to each chip, and their NICs if there are two racks."""
    rack = load_topology(name)
    assert rack.name == name
    assert (rack.num_compute, len(rack.switches)) == (72, chips)
    assert {rack.ingress_gb_s[v] for v in rack.compute} == {Fraction(inside)}
    two = load_topology(f"{name}:racks=2,gpus_per_rack=64,fabric=rails")
    assert two.num_compute == 128
    assert {two.ingress_gb_s[v] for v in two.compute} == {Fraction(inside + nic)}


def test_gb200_is_nvl72():
    """The older family under its product's name."""
    named, older = load_topology("gb200_nvl72:racks=2"), load_topology("nvl72:racks=2")
    assert (named.nodes, named.links) == (older.nodes, older.links)


def test_a_dead_tray_and_a_dead_chip():
    """Tray 3 is GPUs 12 to 15; 68 GPUs remain, with 17 chips 850 GB/s each."""
    left = load_topology("gb300_nvl72").without("b0.gpu1[2-5]", "b0.nvswitch7")
    assert left.num_compute == 68
    assert {left.ingress_gb_s[v] for v in left.compute} == {Fraction(850)}


def test_both_nics_of_a_rubin_gpu_have_rails():
    topology = load_topology("vr_nvl144:racks=2,gpus_per_rack=4,fabric=rails")
    assert len(topology.switches) == 2 * 36 + 8
