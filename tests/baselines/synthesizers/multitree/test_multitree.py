"""MultiTree's greedy growth, by hand."""

from fractions import Fraction

import numpy as np
import pytest

from baselines.synthesizers.multitree import multitree
from baselines.synthesizers.multitree.multitree import generate, grow
from baselines.synthesizers.multitree.tree_growth import CHILDREN, PORTS
from forestcoll.core.optimality import optimum
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule import verify
from forestcoll.topology import Topology, load_topology


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


READINGS = [{"child": child, "ports": ports} for child in CHILDREN for ports in PORTS]


@pytest.mark.parametrize(
    ("boxes", "algbw_gb_s"),
    [
        # One box: every tree is a star, 7 trees into 300 GB/s.
        (1, Fraction(8 * 300, 7)),
        # Two boxes: a tree enters the other one once, by a NIC, and goes on over its NVSwitch: 14
        # of the 15 trees into a GPU come over 300 GB/s, where 325 are there.
        (2, Fraction(16 * 300, 14)),
        # B boxes: each tree enters each other box once, 8 (B - 1) trees over 8 NICs.
        (3, Fraction(200 * 3, 2)),
        (8, Fraction(200 * 8, 7)),
        (11, Fraction(200 * 11, 10)),
    ],
)
def test_the_default_enters_each_a100_box_once(boxes: int, algbw_gb_s: Fraction) -> None:
    """Trees that have come in by a NIC go on over the wide NVSwitch before another NIC is used."""
    forest = generate(load_topology(f"dgx_a100:boxes={boxes}"))
    assert forest.algbw_gb_s == algbw_gb_s


@pytest.mark.parametrize(
    ("boxes", "algbw_gb_s"), [(2, 200), (3, 150), (4, 200), (8, 200), (11, Fraction(1100, 7))]
)
def test_senders_in_order_enter_a_box_twice(boxes: int, algbw_gb_s: int | Fraction) -> None:
    """The root sends over its NIC again before a GPU inside the last box gets to send.

    N trees over 8 B NICs make B a NIC, algbw = 8 B / (B / 25), where B divides what the GPUs of
    equal number have to take evenly; at 3 and 11 boxes one NIC has 4 and 14 trees.
    """
    topology = load_topology(f"dgx_a100:boxes={boxes}")
    assert generate(topology, child="number", ports="joined").algbw_gb_s == algbw_gb_s


@pytest.mark.parametrize(
    "spec",
    [
        "dgx_a100:boxes=3",
        "dgx_h100:boxes=2",
        "mi250:boxes=2",
        "mi250:boxes=4",
        "torus:dims=4x4",
        "fat_tree:leaves=4,hosts=4,spines=3,oversubscription=2",
        "rail_optimized:boxes=3,gpus_per_box=4,spines=2",
        "docs/examples/three-tier.yaml",
        "docs/examples/heterogeneous.yaml",
    ],
)
def test_no_reading_is_faster_than_the_default(spec: str) -> None:
    """And none is faster than the optimum."""
    topology = load_topology(spec)
    best = generate(topology).algbw_gb_s
    assert best == max(generate(topology, **reading).algbw_gb_s for reading in READINGS)
    assert best <= optimum(topology).algbw_gb_s


@pytest.mark.parametrize("reading", READINGS)
def test_every_reading_delivers(reading: dict[str, str]) -> None:
    """On boxes with switches and on boxes with direct links."""
    for spec in ("dgx_a100:boxes=3", "mi250:boxes=2"):
        verify(generate(load_topology(spec), "allreduce", **reading))


def test_a_second_reading_runs_only_if_useful(monkeypatch: pytest.MonkeyPatch) -> None:
    """On three boxes of A100 16 shards enter each box over all its NICs in 200 GB/s; on MI250 not
    all of the ingress is in use.
    """
    grown = []

    def counted(topology: Topology, **parameters: str) -> multitree.Growth:
        grown.append(parameters["ports"])
        return grow(topology, child=parameters["child"], ports=parameters["ports"])

    monkeypatch.setattr(multitree, "grow", counted)
    generate(load_topology("dgx_a100:boxes=3"))
    assert grown == ["nearest"]
    generate(load_topology("mi250:boxes=2"))
    assert grown[1:] == ["nearest", "joined"]


@pytest.mark.parametrize(
    ("boxes", "algbw_gb_s"),
    [
        (2, Fraction(128)),
        (4, Fraction(128)),
        (8, Fraction(1024, 7)),
    ],
)
def test_mi250_stays_behind(boxes: int, algbw_gb_s: Fraction) -> None:
    """ForestColl outperforms MultiTree by over 50 % (figure 14, which goes on to 16 boxes)."""
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
    takes 5 over NICs in step 1. 5 trees into a NIC: algbw = 16 / (5 / 25) = 80 GB/s. Where the root
    goes on sending in step 2 before any of them does, it takes the other 3 as well: 50 GB/s.
    """
    topology = load_topology("dgx_a100:boxes=2")
    crowded = generate(topology, unit=5)
    verify(crowded)
    assert crowded.algbw_gb_s == 80
    assert generate(topology, unit=5, ports="joined").algbw_gb_s == 50


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        (1 / 3, r"unit is the float 0\.33"),
        ("x", "unit is 'x', which is not a number"),
        (0, "unit is 0 GB/s; it must be positive"),
        ("-1/2", "unit is -1/2 GB/s; it must be positive"),
    ],
)
def test_a_unit_is_an_exact_positive_number(unit: object, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        grow(load_topology("ring:nodes=4"), unit=unit)  # type: ignore[arg-type]


@pytest.mark.parametrize("parameter", ["child", "ports"])
def test_a_reading_is_one_of_those_there_are(parameter: str) -> None:
    with pytest.raises(InvalidParameterError, match=f"^{parameter} is 'last'; it must be one of"):
        generate(load_topology("ring:nodes=4"), **{parameter: "last"})  # type: ignore[arg-type]
