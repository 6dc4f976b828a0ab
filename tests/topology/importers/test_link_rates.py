"""Tables of link rates: data sheets, runtimes, a user's file."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.families.constants import CONSTANTS
from forestcoll.topology.importers.link_rates import RATES, RateTable, rate_table


@pytest.mark.parametrize(
    ("link", "nominal", "runtime"),
    [
        ("nvlink.sm_80", "25", "20"),
        ("nvlink.sm_90", "25", "20.6"),
        ("nvlink.sm_100", "50", "40.1"),
        ("xgmi.gfx90a", "50", "36"),
        ("xgmi.gfx942", "64", "48"),
        ("pcie.gen1", "1/4", "15/80"),
        ("pcie.gen2", "1/2", "30/80"),
        ("pcie.gen3", "64/65", "60/80"),
        ("pcie.gen4", "128/65", "3/2"),
        ("pcie.gen5", "256/65", "3"),
        ("pcie.gen6", "7.375", "6"),
    ],
)
def test_rates_are_those_of_the_sources(link: str, nominal: str, runtime: str) -> None:
    """16 lanes of PCIe 4.0 are 24 GB/s to NCCL and 31.5 by the specification."""
    assert rate_table("nominal").of(link, "dump.xml") == Fraction(nominal)
    assert rate_table("runtime").of(link, "dump.xml") == Fraction(runtime)


@pytest.mark.parametrize("generation", [3, 4, 5])
def test_lanes_are_as_fast_as_in_the_families(generation: int) -> None:
    assert RATES[f"pcie.gen{generation}"].nominal == CONSTANTS[f"PCIE_{generation}_LANE"].value


def test_every_rate_has_a_source_and_a_number() -> None:
    for rate in RATES.values():
        assert rate.nominal_source
        assert rate.runtime_source
        assert [one for one in (rate.nominal, rate.runtime) if one is not None and one > 0]


def test_a_file_overrides_a_table(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("nvlink.sm_90: 23.4 GB/s\nsocket.amd: 160 Gb/s\n", encoding="utf-8")
    table = rate_table(f"nominal,{file}")
    assert table.of("nvlink.sm_90", "") == Fraction("23.4")
    assert table.of("socket.amd", "") == 20
    assert table.of("nvlink.sm_80", "") == 25


def test_missing_rates_are_refused_with_the_file_to_write() -> None:
    with pytest.raises(
        InvalidTopologyError,
        match=re.escape(
            "a.xml: the table of rates 'nominal' has no socket.amd; write `socket.amd: ... GB/s` "
            "(GB/s a pair of sockets) to a file, and add it: --rates nominal,FILE"
        ),
    ):
        rate_table("nominal").of("socket.amd", "a.xml")
    with pytest.raises(InvalidTopologyError, match=r"\(GB/s a lane\)"):
        RateTable("mine.yaml", {}).of("pcie.gen4", "a.xml")
    with pytest.raises(InvalidTopologyError, match=r"did you mean nvlink.sm_90\? or write"):
        rate_table("nominal").of("nvlink.sm_9", "a.xml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "is no mapping of links to rates"),
        ("nvlink.sm_9O: 25", "nvlink.sm_9O is no kind of link; did you mean nvlink.sm_90?"),
        ("x: 25", "x is no kind of link; they are nvlink.sm_60,"),
        ("nvlink.sm_90: fast", "nvlink.sm_90 "),
        ("nvlink.sm_90: 0", "nvlink.sm_90 is 0; it must be above 0"),
    ],
)
def test_a_wrong_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidTopologyError, match=re.escape(message)) as refused:
        rate_table(str(file))
    assert str(file) in str(refused.value)


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(InvalidTopologyError, match="'fast' is no table of rates; choose nominal"):
        rate_table("fast")
