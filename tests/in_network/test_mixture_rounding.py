"""Allreduces of physical trees from the shares of a mixture."""

import math
import time
from fractions import Fraction

import pytest

from forestcoll import verify
from forestcoll.errors import TimeLimitError
from forestcoll.in_network.mixture_program import Ingredient, MixtureProgram
from forestcoll.in_network.mixture_rounding import mixture_forest
from forestcoll.in_network.spans import spans_of
from forestcoll.topology import Topology, load_topology
from forestcoll.topology.changes.edits import without
from forestcoll.topology.symmetry.automorphism import find_orbits
from forestcoll.topology.symmetry.parallel_planes import merged_planes
from tests.hand_networks import network_of
from tests.in_network.adding_servers import servers


def mixture(
    topology: Topology, weights: tuple[int, ...] = ()
) -> tuple[float, tuple[Ingredient, ...]]:
    marks = [0] * len(topology.nodes)
    for node, weight in zip(topology.compute, weights, strict=False):
        marks[node] = weight
    orbits = find_orbits(topology, marks=marks)
    program = MixtureProgram(topology, orbits, weights)
    for spans in spans_of(topology, orbits):
        for span in spans:
            program.add(span)
    return program.solved(time.monotonic() + 60)


def test_images_of_a_span_are_packed_each() -> None:
    """Four servers behind two leaves: 4 hosts as roots of trees at each, 12.5 GB/s."""
    topology = servers(4, ("12.5",) * 4, leaves=2)
    value, found = mixture(topology)
    made = mixture_forest(topology, found)
    assert verify(made).algbw_gb_s == Fraction("12.5") == pytest.approx(value)
    assert made.reduce.walks.backwards().nodes(0) in {
        made.gather.walks.nodes(i) for i in range(len(made.gather.walks))
    }


def test_links_of_unequal_ways_have_phases_of_their_own() -> None:
    """8 GB/s by the server, and 4/3 by a ring of 2 GB/s one way: each piece takes it 2 * 3/4."""
    topology = network_of(
        "g0..3 [r*]", "g0..3 - r: 8, g0 > g1: 2, g1 > g2: 2, g2 > g3: 2, g3 > g0: 2", "unequal"
    )
    value, found = mixture(topology)
    made = mixture_forest(topology, found)
    assert verify(made).algbw_gb_s == Fraction(28, 3)
    assert value == pytest.approx(28 / 3)


def test_parts_may_be_asked_for() -> None:
    """All sums at host 0."""
    weights = (1, 0, 0, 0)
    topology = servers(4, ("12.5",) * 4)
    value, found = mixture(topology, weights)
    made = mixture_forest(topology, found, weights)
    assert made.gather.weights == weights
    assert float(verify(made).algbw_gb_s or 0) == pytest.approx(value)


@pytest.mark.slow
def test_shares_of_racks_without_a_tray_are_made_exact() -> None:
    """Shares of 356 GPUs have denominators up to 1738080, and none of the coarser grids will do."""
    tray = [f"b0.gpu{i}" for i in range(12, 16)]
    topology = merged_planes(without(load_topology("nvl72:racks=5"), tray)).merged
    value, found = mixture(topology)
    made = mixture_forest(topology, found)
    assert verify(made).algbw_gb_s == Fraction(64960, 71) == pytest.approx(value)


def test_no_time_is_no_schedule() -> None:
    topology = servers(4, ("12.5",))
    _, found = mixture(topology)
    with pytest.raises(TimeLimitError, match="round the mixture"):
        mixture_forest(topology, found, deadline=-math.inf)
