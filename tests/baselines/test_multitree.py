"""MultiTree's greedy growth, by hand."""

from fractions import Fraction

import numpy as np
import pytest

from baselines.multitree import generate, grow
from forestcoll.errors import InvalidTopologyError
from forestcoll.optimality import optimum
from forestcoll.schedule import verify
from forestcoll.topology import load_topology


def test_a_ring_of_four_by_hand() -> None:
    """Step 1: every tree takes both neighbours of its root over all 8 directed links.

    Step 2: the GPU opposite is reached from the neighbour that joined first, the one of lower
    rank: from 1 in the trees of 0 and 2, from 0 in those of 1 and 3. Over 0->3, 1->2, 1->0, 0->1
    the second time: 2 trees there, algbw = N k / U = 4 / 2 = 2 GB/s in 2 steps.
    """
    topology = load_topology("ring:nodes=4")
    growth = grow(topology)
    assert growth.steps == 2
    assert growth.parent.tolist() == [
        [-1, 0, 1, 0],
        [1, -1, 1, 0],
        [1, 2, -1, 2],
        [3, 0, 3, -1],
    ]
    assert generate(topology).algbw_gb_s == 2


def test_a_step_gives_each_link_its_units() -> None:
    """Four GPUs with 2 GB/s to their switch: three trees enter each of them.

    A unit of 1 GB/s lets two in at a step, so two steps; one of 2 GB/s lets one in, so three; one
    of 2/3 GB/s lets all in at once. The load is 3 trees on 2 GB/s however it is spread over time.
    """
    topology = load_topology("fat_tree:leaves=1,hosts=4,spines=1,bandwidth=2")
    assert grow(topology, unit=1).steps == 2
    assert grow(topology, unit=2).steps == 3
    assert grow(topology, unit="2/3").steps == 1
    assert generate(topology, unit=1).congestion == Fraction(3, 2)


@pytest.mark.parametrize(
    ("boxes", "algbw_gb_s"),
    [
        # One box: every tree is a star, 7 trees into 300 GB/s.
        (1, Fraction(8 * 300, 7)),
        # B boxes: a tree enters each other box once and the last one twice, because its root
        # sends over its NIC before a GPU inside that box gets to send. N trees over 8 B NICs make
        # B a NIC: algbw = 8 B / (B / 25).
        (2, Fraction(200)),
        (4, Fraction(200)),
        (8, Fraction(200)),
    ],
)
def test_a100_starts_below_the_optimum_and_nears_it(boxes: int, algbw_gb_s: Fraction) -> None:
    """ForestColl section 6.5 and figure 14: the optimum is 346.7 at 2 boxes, 200 B/(B-1) from 3."""
    forest = generate(load_topology(f"dgx_a100:boxes={boxes}"))
    assert forest.algbw_gb_s == algbw_gb_s


@pytest.mark.parametrize(
    ("boxes", "algbw_gb_s"),
    [
        (2, Fraction(512, 7)),
        (4, Fraction(1024, 9)),
        (8, Fraction(2048, 15)),
        (16, Fraction(4096, 25)),
    ],
)
def test_mi250_stays_behind(boxes: int, algbw_gb_s: Fraction) -> None:
    """ForestColl outperforms MultiTree by over 50 % (figure 14), up to 32 boxes."""
    topology = load_topology(f"mi250:boxes={boxes}")
    assert generate(topology).algbw_gb_s == algbw_gb_s
    assert optimum(topology).algbw_gb_s > Fraction(3, 2) * algbw_gb_s


@pytest.mark.parametrize(
    "spec", ["dgx_a100:boxes=3", "mi250:boxes=2", "torus:dims=4x4", "dgx_a100:boxes=2,nics=nodes"]
)
def test_the_forest_is_never_slower_than_its_steps(spec: str) -> None:
    """In a step a link of bandwidth b carries at most b / unit trees: load <= steps b / unit."""
    topology = load_topology(spec)
    growth = grow(topology)
    assert generate(topology).congestion <= growth.steps / growth.unit_gb_s


def test_the_unit_is_the_slowest_link() -> None:
    """On MI250 it is the 16 GB/s of a GPU's network port, so an xGMI link of 50 makes 3 units."""
    topology = load_topology("mi250:boxes=2")
    assert grow(topology).unit_gb_s == 16
    assert np.array_equal(grow(topology).parent, grow(topology, unit=16).parent)


def test_a_smaller_unit_crowds_the_trees() -> None:
    """Trees may then all use one link in a step, which ForestColl section 6.5 warns of.

    A unit of 5 GB/s gives a NIC of 25 five units a step: of the 8 GPUs in the other box each tree
    takes 5 over NICs in step 1 and the other 3 in step 2, before any of them may send. 8 trees
    into a NIC: algbw = 16 / (8 / 25) = 50 GB/s.
    """
    crowded = generate(load_topology("dgx_a100:boxes=2"), unit=5)
    verify(crowded)
    assert crowded.algbw_gb_s == 50


def test_a_float_unit_is_refused() -> None:
    with pytest.raises(InvalidTopologyError, match=r"unit is the float 0\.1"):
        grow(load_topology("ring:nodes=4"), unit=0.1)  # type: ignore[arg-type]
