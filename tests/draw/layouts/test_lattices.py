"""Tori and cubes, as one draws them."""

import math

import pytest

from forestcoll.draw.layouts.lattices import circle_layout, cube_layout, torus_layout
from forestcoll.draw.layouts.places import GPU_RADIUS
from forestcoll.topology import load_topology


def test_a_torus_stands_on_its_grid_and_its_long_links_run_beside_it() -> None:
    """Of a 4x4 torus, a link of each row and column wraps around: 8 lanes, turning outside."""
    topology = load_topology("torus:dims=4x4")
    layout = torus_layout(topology)
    assert layout is not None
    columns = {place.x for place in layout.places.values()}
    rows = {place.y for place in layout.places.values()}
    assert (len(columns), len(rows)) == (4, 4)
    assert len(layout.lanes) == 8
    for (tail, head), (first, last) in layout.lanes.items():
        one, other = layout.places[tail], layout.places[head]
        assert one.x == other.x or one.y == other.y
        outside = (first[1] > max(rows), last[1] < min(rows)) if one.x == other.x else (
            first[0] < min(columns),
            last[0] > max(columns),
        )  # fmt: skip
        assert outside == (True, True)


def test_planes_of_a_third_dimension_stand_one_behind_the_other() -> None:
    """3x3x3: nine lanes for each dimension; a mesh of 3x3x3 has none."""
    layout, mesh = (
        torus_layout(load_topology(f"torus:dims=3x3x3{end}")) for end in ("", ",wrap=false")
    )
    assert layout is not None
    assert len(layout.lanes) == 27
    assert mesh is not None
    assert not mesh.lanes


@pytest.mark.parametrize("dimension", [2, 3, 4, 5, 6])
def test_equal_dimensions_of_a_cube_are_equal_steps(dimension: int) -> None:
    """A bit set moves a corner by the same step wherever it is."""
    layout = cube_layout(load_topology(f"hypercube:dimension={dimension}"))
    assert layout is not None
    for bit in range(dimension):
        steps = {
            (
                round(layout.places[v | 1 << bit].x - layout.places[v].x, 6),
                round(layout.places[v | 1 << bit].y - layout.places[v].y, 6),
            )
            for v in range(1 << dimension)
            if not v >> bit & 1
        }
        assert len(steps) == 1


@pytest.mark.parametrize("spec", ["ring:nodes=8", "complete:nodes=8", "kautz:degree=2,length=2"])
def test_other_networks_are_no_lattices(spec: str) -> None:
    """Eight GPUs, but other links; names with one number."""
    topology = load_topology(spec)
    assert cube_layout(topology) is None
    assert torus_layout(topology) is None


def test_circulants_stand_on_a_circle_and_other_graphs_do_not() -> None:
    """In the order of their numbers, equally far apart; a chord passes no third GPU."""
    layout = circle_layout(load_topology("circulant:nodes=32,offsets=1+5+9"))
    assert layout is not None
    places = [layout.places[v] for v in range(32)]
    radii = {round(math.hypot(place.x, place.y), 9) for place in places}
    steps = {
        round(math.dist((a.x, a.y), (b.x, b.y)), 9)
        for a, b in zip(places, places[1:] + places[:1], strict=True)
    }
    assert (len(radii), len(steps)) == (1, 1)
    assert steps.pop() > 2 * GPU_RADIUS
    for other in ("kautz:degree=2,length=3", "ring:nodes=2", "ring:nodes=128"):
        assert circle_layout(load_topology(other)) is None
    slow = load_topology("ring:nodes=8").scaled("gpu0 - gpu1", "1/2")
    assert circle_layout(slow) is None
