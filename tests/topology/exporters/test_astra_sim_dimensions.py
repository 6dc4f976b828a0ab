"""Dimensions of ASTRA-sim, found in networks and read back."""

from fractions import Fraction
from itertools import product

import pytest

from forestcoll.errors import ExportError
from forestcoll.topology import load_topology
from forestcoll.topology.exporters.astra_sim_dimensions import topology_astra_sim
from forestcoll.topology.importers.networks.astra_sim_network import (
    KINDS,
    Dimension,
    dimensions_topology,
    topology_from_astra_sim,
)
from tests.hand_networks import network_of
from tests.topology.importers.small_files import ASTRA_SIM

KIND_PAIRS = list(product(KINDS, repeat=2))


@pytest.mark.parametrize("kinds", KIND_PAIRS)
@pytest.mark.parametrize("sizes", [(4, 5), (2, 4), (4, 4), (5, 1)])
def test_every_pair_of_dimensions_comes_back_equal(
    kinds: tuple[str, str], sizes: tuple[int, int]
) -> None:
    """Up to boxes, which follow from the first dimension: sizes 5, 1 come back as one of 5."""
    dimensions = [
        Dimension(kind, size, Fraction(10 + i), Fraction(i))
        for i, (kind, size) in enumerate(zip(kinds, sizes, strict=True))
    ]
    network = dimensions_topology(dimensions, "n")
    again = topology_from_astra_sim(topology_astra_sim(network), "f", "n")
    assert again.links == network.links
    assert again.num_compute == network.num_compute


def test_three_dimensions_come_back() -> None:
    network = topology_from_astra_sim(ASTRA_SIM, "f", "n")
    assert topology_from_astra_sim(topology_astra_sim(network), "f", "n").links == network.links


def test_families_are_recognised() -> None:
    text = topology_astra_sim(load_topology("torus:dims=3x4,bandwidth=12.5"))
    assert text.splitlines() == [
        "topology: [ Ring, Ring ]",
        "npus_count: [ 4, 3 ]",
        "bandwidth: [ 12.5, 12.5 ]  # GB/s",
        "latency: [ 0.0, 0.0 ]  # ns",
    ]
    assert "[ Switch ]" in topology_astra_sim(load_topology("dgx_h100:boxes=1"))


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "mi250:boxes=1", "kautz:degree=2,length=2"])
def test_other_networks_are_refused(spec: str) -> None:
    with pytest.raises(
        ExportError, match="is not a product of rings, full connections and switches"
    ):
        topology_astra_sim(load_topology(spec))


def test_a_single_gpu_and_numbers_that_are_no_decimals() -> None:
    assert "npus_count: [ 1 ]" in topology_astra_sim(network_of("a", "", "one"))
    with pytest.raises(ExportError, match="1/3 GB/s is not a decimal"):
        topology_astra_sim(load_topology("ring:nodes=4,bandwidth=1/3"))


def test_a_network_with_limits_or_cables_between_switches_is_refused() -> None:
    ring = load_topology("ring:nodes=4")
    with pytest.raises(ExportError, match="is not a product"):
        topology_astra_sim(ring.with_shared("wire", "gpu0 - gpu1", 1))
    with pytest.raises(ExportError, match="is not a product"):
        topology_astra_sim(ring.without("gpu0 -> gpu1"))
