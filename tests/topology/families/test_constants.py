"""The numbers of the hardware, and what they come to in a network."""

from collections import Counter
from fractions import Fraction
from typing import get_args

import pytest

from forestcoll.topology import load_topology
from forestcoll.topology.families.constants import (
    CONSTANTS,
    DGX1_LINKS,
    GPUS_PER_DGX,
    MI250_XGMI_LINKS,
    Confidence,
)


@pytest.mark.parametrize(
    ("wiring", "pairs_by_links", "gpus", "links", "numbers_of_neighbours"),
    [
        # 8 pairs in an OAM with 4 links, 4 with 2, 16 with 1: 16 x 7 ends of links in all.
        (MI250_XGMI_LINKS, {4: 8, 2: 4, 1: 16}, 16, 7, {3, 4}),
        (DGX1_LINKS, {2: 8, 1: 8}, 8, 6, {4}),  # a GPU has 2 + 2 + 1 + 1
    ],
)
def test_wirings_give_every_gpu_as_many_links(
    wiring, pairs_by_links, gpus, links, numbers_of_neighbours
):
    """By pairs of GPUs, each written once, the lesser first."""
    ends: Counter[int] = Counter()
    neighbours: Counter[int] = Counter()
    for count, pairs in wiring.items():
        for a, b in pairs:
            assert a < b
            ends.update({a: count, b: count})
            neighbours.update([a, b])
    assert {count: len(pairs) for count, pairs in wiring.items()} == pairs_by_links
    assert ends == dict.fromkeys(range(gpus), links)
    assert set(neighbours.values()) == numbers_of_neighbours


def test_every_constant_has_a_unit_and_a_source():
    for name, constant in CONSTANTS.items():
        assert constant.value > 0
        units = {"LATENCY": "us", "MEMORY": "GB/s"}
        assert constant.unit == units.get(name.rpartition("_")[2], "GB/s per direction")
        assert len(constant.source) > 20
        assert constant.confidence in get_args(Confidence)


def test_the_values_follow_from_the_printed_numbers():
    """Half of what goes both ways; an eighth of what is in bits; a lane a bit; a box by 16.

    300 GB/s both ways over 6 NVLinks; latencies as printed. PCIe: transfers by 8, times 128 / 130.
    8 channels of 8 bytes at 4.8 GT/s, half of it; 4 links of 24 lanes at 16 GT/s, of which 0.8.
    """
    assert {name: constant.value for name, constant in CONSTANTS.items()} == {
        "A100_NVSWITCH": Fraction(600, 2),
        "A100_NIC": Fraction(200, 8),
        "H100_NVSWITCH": Fraction(900, 2),
        "H100_NIC": Fraction(400, 8),
        "A800_NVSWITCH": Fraction(180),
        "A800_NIC": Fraction(200, 8),
        "H800_NVSWITCH": Fraction(400, 2),
        "H800_NIC": Fraction(400, 8),
        "GB200_NVLINK_PLANE": Fraction(900, 18),
        "GB200_NIC": Fraction(400, 8),
        "MI250_XGMI": Fraction(25 * 16, 8),
        "MI250_IB": Fraction(256, 16),
        "V100_NVLINK": Fraction(300, 2 * 6),
        "DGX1_NVLINK_LATENCY": Fraction("0.7"),
        "NDV2_NIC": Fraction(100, 8),
        "NDV2_NIC_LATENCY": Fraction("1.3"),
        "DGX2_NVSWITCH": Fraction(125),
        "DGX2_NVSWITCH_LATENCY": Fraction("0.35"),
        "DGX2_NIC": Fraction(100, 8),
        "DGX2_NIC_LATENCY": Fraction("2.6"),
        "MI250_PAIR_SWITCH": Fraction(25),
        "MI250_GPU_LATENCY": Fraction("0.6"),
        "MI250_SWITCH_LATENCY": Fraction("0.75"),
        "PCIE_3_LANE": Fraction(64, 65),
        "PCIE_4_LANE": Fraction(128, 65),
        "PCIE_5_LANE": Fraction(256, 65),
        "HOST_MEMORY": 8 * 8 * Fraction("4.8") / 2,
        "SOCKET_LINK": 4 * Fraction(24 * 16, 8) * Fraction("0.8"),
    }


def test_a_dgx_has_the_gpus_of_its_family():
    """And none of the numbers can be changed in passing."""
    assert load_topology("dgx_a100:boxes=3").num_compute == 3 * GPUS_PER_DGX == 24
    with pytest.raises(TypeError):
        CONSTANTS["A100_NIC"] = CONSTANTS["H100_NIC"]  # type: ignore[index]
