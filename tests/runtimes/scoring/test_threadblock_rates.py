"""Rates of a threadblock: each has a source, and each family named has its machine."""

from dataclasses import replace
from fractions import Fraction
from typing import get_args

import pytest

from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.interpretation.multiprocessors import MACHINES
from forestcoll.runtimes.scoring.threadblock_rates import (
    NO_MACHINE,
    THREADBLOCK_RATES,
    machine_of,
    machine_rate,
)
from forestcoll.topology import load_topology
from forestcoll.topology.families.constants import Confidence
from forestcoll.topology.families.family import FAMILIES
from tests.command_line import ROOT


def test_rates_are_those_of_their_sources() -> None:
    """NCCL: 20, 20, 36.7 and 40 GB/s a channel; RCCL: 36 / 2 and 48 / 4 GB/s of a link."""
    rates = {name: one.simple.value for name, one in THREADBLOCK_RATES.items()}
    assert rates == {
        "v100": 20, "a100": 20, "h100": Fraction(367, 10), "b200": 40, "mi250": 18, "mi300x": 12,
    }  # fmt: skip
    for one in THREADBLOCK_RATES.values():
        assert one.simple.source
        assert one.simple.confidence in get_args(Confidence)


def test_ll_has_half_of_the_rate() -> None:
    one = THREADBLOCK_RATES["h100"]
    assert [one.gb_s(name) for name in ("Simple", "LL128", "LL")] == [
        Fraction(367, 10), Fraction(367, 10), Fraction(367, 20),
    ]  # fmt: skip


def test_multiprocessors_are_those_of_the_checks() -> None:
    """80 of a V100 and 104 of a die of an MI250 besides; a B200's are not known."""
    most = {name: one.most_blocks for name, one in THREADBLOCK_RATES.items()}
    assert most == {**MACHINES, "v100": 80, "b200": None, "mi250": 104}


def test_every_family_named_exists_and_has_one_machine() -> None:
    named = [family for one in THREADBLOCK_RATES.values() for family in one.families]
    assert len(named) == len(set(named))
    assert set(named) <= set(FAMILIES)


@pytest.mark.parametrize(
    ("spec", "machine"),
    [("dgx_a100:boxes=2", "a100"), ("dgx1", "v100"), ("ring:nodes=4", None)],
)
def test_the_machine_is_that_of_the_family_of_a_network(spec: str, machine: str | None) -> None:
    found = machine_of(load_topology(spec))
    assert (None if found is None else found.machine) == machine


def test_a_name_that_only_begins_like_a_family_is_of_no_machine() -> None:
    network = load_topology("dgx_a100:boxes=1")
    changed = network.scaled("b0.gpu0 - b0.nvswitch", "1/2")
    assert machine_of(changed) is THREADBLOCK_RATES["a100"]
    assert machine_of(replace(network, name="dgx_a100-lab")) is None


def test_a_machine_is_known_by_its_name() -> None:
    assert machine_rate("mi300x") is THREADBLOCK_RATES["mi300x"]
    assert machine_rate(NO_MACHINE) is None
    known = "machine is 'a10'; it must be one of v100, a100, h100, b200, mi250, mi300x or none"
    with pytest.raises(InvalidParameterError, match=known):
        machine_rate("a10")


def test_the_page_has_every_rate() -> None:
    page = (ROOT / "docs" / "formats" / "scoring.md").read_text()
    for name, one in THREADBLOCK_RATES.items():
        assert f"| `{name}` | {float(one.simple.value):g} | {one.simple.confidence} |" in page
