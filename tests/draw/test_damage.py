"""Damage that is found without a list of it."""

from fractions import Fraction

import pytest

from forestcoll.draw.damage import damage
from forestcoll.topology import Topology
from tests.draw.figures import SPECS, damaged


def names(topology: Topology, pairs: object) -> set[str]:
    return {" ".join(topology.nodes[v].name for v in pair) for pair in pairs}  # type: ignore[attr-defined]


@pytest.mark.parametrize("spec", [*SPECS, "kautz:degree=2,length=2", "ndv2:chassis=4", "dgx1"])
def test_nothing_is_wrong_with_networks_as_they_are_built(spec: str) -> None:
    """Mixed speeds and one-way links are no damage where they are the rule."""
    found = damage(damaged(spec, {}))
    assert (found.slow, found.dead) == ({}, frozenset())


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "dgx_a100:boxes=4"])
def test_a_direction_without_its_reverse_is_dead(spec: str) -> None:
    """Of the pairs with InfiniBand one can only receive."""
    topology = damaged(spec, {"b1.gpu0 ib": None})
    assert names(topology, damage(topology).dead) == {"b1.gpu0 ib"}


def test_a_link_that_the_other_boxes_have_is_dead() -> None:
    """Of four boxes one lacks GPU 2's; of two boxes the other GPUs show that it should be there."""
    gone = {"b1.gpu2 ib": None, "ib b1.gpu2": None}
    for boxes in (4, 2):
        topology = damaged(f"dgx_a100:boxes={boxes}", gone)
        assert names(topology, damage(topology).dead) == set(gone)


def test_a_link_that_the_same_gpu_of_no_box_has_is_not_dead() -> None:
    """GPU 0 of both boxes has no NIC; or five GPUs of a box have none, which is no exception."""
    planned = {
        f"{a} {b}": None for n in (0, 1) for a, b in [("ib", f"b{n}.gpu0"), (f"b{n}.gpu0", "ib")]
    }
    assert not damage(damaged("dgx_a100:boxes=2", planned)).dead
    half = {
        f"{a} {b}": None for n in range(5) for a, b in [("ib", f"b1.gpu{n}"), (f"b1.gpu{n}", "ib")]
    }
    assert not damage(damaged("dgx_a100:boxes=2", half)).dead


def test_a_link_slower_than_others_of_its_class_is_slow() -> None:
    """By what is usual: 300 to an NVSwitch, 25 to InfiniBand; in a torus, one in 64 links."""
    slow = {"b2.gpu1 b2.nvswitch": Fraction(150), "ib b0.gpu5": Fraction(5)}
    topology = damaged("dgx_a100:boxes=4", slow)
    found = damage(topology).slow
    assert names(topology, found) == set(slow)
    assert sorted(found.values()) == [25, 300]
    torus = damaged("torus:dims=4x4", {"gpu2.1 gpu2.2": Fraction(1, 2)})
    assert names(torus, damage(torus).slow) == {"gpu2.1 gpu2.2"}


def test_links_of_one_box_are_compared_with_the_same_links_of_the_others() -> None:
    """The links of an MI250 have many speeds: that from GPU 0 to 4 is slow where it has 50."""
    slow = {"b1.gpu0 b1.gpu4": Fraction(50)}
    four = damaged("mi250:boxes=4", slow)
    assert names(four, damage(four).slow) == set(slow)
