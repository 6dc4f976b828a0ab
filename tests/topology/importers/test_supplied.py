"""What users supply, and what is said where they did not."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.link_rates import rate_table
from forestcoll.topology.importers.supplied import Supplied


def test_supplied_values_are_returned() -> None:
    given = Supplied(rate_table("nominal"), uplink_gb_s=Fraction(50))
    assert given.expect_rates("f").name == "nominal"
    assert given.expect_uplink("f") == 50


def test_missing_values_are_requested() -> None:
    with pytest.raises(
        InvalidTopologyError, match=r"^f: counts links and .*choose --rates nominal"
    ):
        Supplied().expect_rates("f")
    with pytest.raises(InvalidTopologyError, match=r"^f: has the tree of switches.*as --uplink"):
        Supplied().expect_uplink("f")


def test_facts_that_no_file_asked_for_are_unused() -> None:
    """Of those that the user gave. Copies with other rates, as imports make, know of each other."""
    given = Supplied(gpu="sm_90", nic_gb_s=Fraction(50), uplink_gb_s=Fraction(50))
    assert given.unused == ("--gpu", "--nic-speed", "--uplink")
    copy = replace(given, rates=rate_table("nominal"))
    assert (copy.kind_of_gpus(), copy.expect_uplink("f")) == ("sm_90", 50)
    assert given.unused == ("--nic-speed",)
    assert given.speed_of_nics() == 50
    assert given.unused == ()
    assert Supplied().unused == ()
    assert given == Supplied(gpu="sm_90", nic_gb_s=Fraction(50), uplink_gb_s=Fraction(50))
