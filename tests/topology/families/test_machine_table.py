"""The table of machines: every number has a source, and follows from what that prints."""

from fractions import Fraction
from typing import get_args

from forestcoll.topology import FAMILIES
from forestcoll.topology.families.constants import Confidence
from forestcoll.topology.families.machine_table import MACHINE_CONSTANTS, MACHINES


def test_every_number_has_a_source_and_says_how_far_it_is_trusted():
    of_boxes = [constant for machine in MACHINES for constant in machine.constants]
    for constant in (*of_boxes, *MACHINE_CONSTANTS.values()):
        assert constant.value > 0
        assert constant.unit == "GB/s per direction"
        assert len(constant.source) > 20
        assert constant.confidence in get_args(Confidence)
        if "unconfirmed" in constant.source or "none printed" in constant.source:
            assert constant.confidence == "derived"


def test_every_machine_is_a_family_with_its_numbers_as_defaults():
    for machine in MACHINES:
        entry = FAMILIES[machine.name]
        assert entry.summary == machine.summary
        defaults = {p.name: p.default for p in entry.parameters}
        assert defaults["boxes"] == 1
        assert defaults["nic_bandwidth"] == machine.nic.value
        assert machine.link.value in defaults.values()


def test_gigabytes_of_a_box_out_of_it():
    """Terabits a second over 8, as clouds print them: 3.2, 1.6, 0.4; half of 1.6 for A3 High."""
    out = {machine.name: machine.nics * machine.nic.value for machine in MACHINES}
    for name in (
        "hgx_h200",
        "hgx_b200",
        "mi300x",
        "aws_p5",
        "aws_p5en",
        "gcp_a3_ultra",
        "oci_h100",
    ):
        assert out[name] == 3200 / Fraction(8), name
    assert out["hgx_b300"] == 2 * out["hgx_b200"] == 800
    assert out["aws_p4d"] == 400 / Fraction(8)
    assert out["azure_nd_a100_v4"] == out["gcp_a3_mega"] == 1600 / Fraction(8)
    assert out["gcp_a3_high"] == 800 / Fraction(8)
    assert out["gaudi3"] == 600


def test_gigabytes_of_a_gpu_inside_a_box():
    """7 links of a mesh: AMD prints 896 GB/s a GPU both ways, Intel 525 one way."""
    link = {machine.name: machine.link.value for machine in MACHINES}
    assert 2 * 7 * link["mi300x"] == 896
    assert 2 * link["mi355x"] == Fraction("153.6")
    assert 7 * link["gaudi3"] == 525
    assert link["hgx_b200"] == 18 * 50


def test_gigabytes_of_the_other_machines():
    """Both ways a chip: 6 links of a TPU v5p 1200, 4 of a v5e 400, of a v6e 800, of Trn2 1024."""
    value = {name: constant.value for name, constant in MACHINE_CONSTANTS.items()}
    assert 2 * 6 * value["TPU_V5P_LINK"] == 1200
    assert 2 * 4 * value["TPU_V5E_LINK"] == 400
    assert 2 * 4 * value["TPU_V6E_LINK"] == 800
    assert 2 * 4 * value["TRN2_LINK"] == 1024
    assert 2 * 2 * value["TRN2_RING_LINK"] == 256
    assert 16 * value["TRN2_NIC"] == 3200 / Fraction(8)
    assert 36 * value["RUBIN_PLANE"] == 1800
    assert value["GB300_NIC"] == 800 / Fraction(8)
