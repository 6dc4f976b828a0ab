"""Boxes and their NICs."""

from fractions import Fraction

import pytest

from baselines.networks.box_nics import BoxNics
from forestcoll.errors import UnsupportedError
from forestcoll.topology import load_topology
from tests.baselines.dead_nics import without
from tests.hand_networks import network_of


def test_a_gpu_without_a_nic_takes_one_of_its_box_in_turn() -> None:
    """GPU 2 of box 0 has none: the others are 0, 1, 3, 4, ... and the third of them is 3."""
    found = BoxNics.of(without("dgx_a100:boxes=2", "b0.gpu2 - ib"))
    assert [ranks.tolist() for ranks in found.outs] == [[0, 1, 3, 4, 5, 6, 7], [*range(8, 16)]]
    assert found.sender[0].tolist() == found.receiver[0].tolist() == [0, 1, 3, 3, 4, 5, 6, 7]
    assert found.sender[1].tolist() == [*range(8, 16)]
    assert found.bandwidth_gb_s == 7 * 25


def test_boxes_may_differ_in_size() -> None:
    """A third place in the smaller box is its first NIC again."""
    topology = network_of(
        "[w] a.0@0.0 a.1@0.1 a.2@0.2 b.0@1.0 b.1@1.1", "a.0..2 b.0..1 - w: 2", "three and two"
    )
    found = BoxNics.of(topology)
    assert found.box.tolist() == [0, 0, 0, 1, 1]
    assert found.place.tolist() == [0, 1, 2, 0, 1]
    assert found.sender.tolist() == [[0, 1, 2], [3, 4, 3]]
    assert found.bandwidth_gb_s == 4


def test_one_box_needs_no_nic() -> None:
    found = BoxNics.of(load_topology("dgx_a100:boxes=1"))
    assert [ranks.tolist() for ranks in found.ins] == [[*range(8)]]
    assert found.bandwidth_gb_s == Fraction(0)


def test_gpus_outside_boxes_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"^unsupported: ring:nodes=4 has GPUs outside"):
        BoxNics.of(load_topology("ring:nodes=4"))


def test_a_box_that_is_cut_off_is_refused() -> None:
    topology = network_of(
        "[w] a.0@0.0 a.1@0.1 b.0@1.0 b.1@1.1", "a.0 - a.1: 2, b.0 - b.1: 2, a.0 a.1 - w: 1", "cut"
    )
    with pytest.raises(UnsupportedError, match=r"^unsupported: the box of a.0 has no NIC"):
        BoxNics.of(topology)
