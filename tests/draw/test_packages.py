"""The packages of an MI250 box."""

import itertools

import pytest

from forestcoll.draw.packages import package_places
from forestcoll.draw.places import GPU_RADIUS
from forestcoll.topology import load_topology
from tests.draw.figures import damaged


@pytest.mark.parametrize(
    "spec", ["mi250:boxes=1", "mi250:boxes=1,gpus_per_box=8", "mi250_teccl:chassis=1"]
)
def test_eight_packages_stand_in_four_rows_of_two(spec: str) -> None:
    """GPUs 2i and 2i + 1 side by side; of half a box, four packages in two rows."""
    topology = load_topology(spec)
    places = package_places(topology, topology.compute)
    assert places is not None
    for i in range(len(places) // 2):
        one, other = places[2 * i], places[2 * i + 1]
        assert (other.x - one.x, other.y - one.y) == pytest.approx((0.85, -0.44))
    assert len({round(places[2 * i].y, 6) for i in range(len(places) // 2)}) == len(places) // 4


def test_a_link_out_of_the_box_passes_beside_all_gpus() -> None:
    """It runs straight up: no two GPUs are nearer to each other across than a radius."""
    topology = load_topology("mi250:boxes=1")
    places = package_places(topology, topology.compute)
    assert places is not None
    across = sorted(place.x for place in places.values())
    assert min(b - a for a, b in itertools.pairwise(across)) > GPU_RADIUS


def test_a_box_with_a_dead_link_is_still_known_and_one_with_another_is_not() -> None:
    """GPUs 4 and 6 are joined, 0 and 15 are not; a DGX-1 is wired otherwise."""
    topology = damaged("mi250:boxes=1", {"b0.gpu4 b0.gpu6": None, "b0.gpu6 b0.gpu4": None})
    assert package_places(topology, topology.compute) is not None
    for spec in ("dgx1", "complete:nodes=16"):
        other = load_topology(spec)
        assert package_places(other, other.compute) is None
