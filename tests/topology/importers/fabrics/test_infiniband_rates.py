"""Rates and names of InfiniBand."""

from fractions import Fraction

import pytest

from forestcoll.topology.importers.fabrics.infiniband_rates import (
    adapter_names,
    is_aggregation_node,
    link_gb_s,
    switch_name,
)


@pytest.mark.parametrize(
    ("width", "speed", "gb_s"),
    [
        ("4x", "SDR", "1"),
        ("4x", "DDR", "2"),
        ("4x", "QDR", "4"),
        ("4x", "FDR10", "5"),
        ("4x", "FDR", "75/11"),
        ("4x", "EDR", "12.5"),
        ("2x", "HDR", "12.5"),
        ("4x", "NDR", "50"),
        ("4x", "XDR", "100"),
    ],
)
def test_data_rates_are_those_after_encoding(width: str, speed: str, gb_s: str) -> None:
    """Four lanes of FDR carry 4 x 14.0625 x 64 / 66 = 54.5 Gb/s."""
    assert link_gb_s(width, speed) == Fraction(gb_s)


def test_unknown_rates_are_none() -> None:
    assert link_gb_s("??", "NDR") is link_gb_s("4x", "???") is link_gb_s("3x", "NDR") is None


def test_descriptions_of_adapters() -> None:
    assert adapter_names("'o0001 HCA-1'") == ("o0001", "*_0")
    assert adapter_names("H_32000 HCA-1 (Mellanox HCA)") == ("H_32000", "*_0")
    assert adapter_names("gpu-7.site ibp12s0") == ("gpu-7.site", "ibp12s0")
    assert adapter_names("MT4129 ConnectX7   Mellanox Technologies") == ("", "")
    assert is_aggregation_node("Mellanox Technologies Aggregation Node")
    assert not is_aggregation_node("node0 mlx5_0")


def test_names_of_switches_have_no_spaces() -> None:
    assert switch_name("MF0;core:MCS8500/L03/U1") == "core"
    assert switch_name("Infiniscale-IV Mellanox Technologies") == (
        "Infiniscale-IV_Mellanox_Technologies"
    )
