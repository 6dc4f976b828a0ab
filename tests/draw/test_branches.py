"""Where the nodes of a tree go."""

import math
from itertools import combinations

import pytest

from forestcoll.draw.branches import branches, pieces
from forestcoll.draw.layouts.places import GPU_RADIUS
from forestcoll.draw.routes import Route, clearance


def star(leaves: int) -> dict[int, list[int]]:
    """A root, 0, and its leaves."""
    return {0: list(range(1, leaves + 1)), **{i: [] for i in range(1, leaves + 1)}}


def test_up_to_eight_leaves_stand_in_a_row_and_more_in_rows() -> None:
    """Of 8 none is wrapped; 20 are three rows of eight, and 127, wider than a page, a square."""
    assert not branches(0, star(8), 0.42, {}).wrapped
    for leaves, rows in ((20, 3), (127, 11)):
        found = branches(0, star(leaves), 0.42, {})
        heights = {round(found.places[leaf].y, 6) for leaf in range(1, leaves + 1)}
        assert len(heights) == rows
        assert found.wrapped == set(range(1, leaves + 1))


@pytest.mark.parametrize("leaves", [1, 9, 64, 127])
def test_no_edge_runs_behind_another_node_and_no_nodes_touch(leaves: int) -> None:
    """Lanes run between the rows and beside them."""
    found = branches(0, star(leaves), 0.42, {})
    for one, other in combinations(found.places.values(), 2):
        assert math.hypot(one.x - other.x, one.y - other.y) > 2 * GPU_RADIUS
    for child in found.wrapped:
        way = Route(found.edges[child])
        assert clearance(way, (0, child), found.places) > 0


def test_parents_stand_over_the_middle_of_their_children() -> None:
    """0 -> 1, 2; 1 -> 3, 4: leaves 3, 4 and 2 side by side, edges from bottom to top."""
    found = branches(0, {0: [1, 2], 1: [3, 4], 2: [], 3: [], 4: []}, 1.0, {2: 0.4})
    assert [found.places[v].x for v in (3, 4, 2, 1, 0)] == [0, 1, 2, 0.5, 1.25]
    assert found.places[2].width == 0.4
    first, *_, last = found.edges[1]
    assert first[1] > last[1] > found.places[1].y


def test_deep_trees_have_lower_rows() -> None:
    """A chain of 40 is at most half an inch a step high, one of 3 has the full step."""
    for length, step in ((3, 0.95), (40, 0.5)):
        chain = {i: [i + 1] for i in range(length)} | {length: []}
        found = branches(0, chain, 0.42, {})
        assert found.places[0].y - found.places[1].y == pytest.approx(step)


def test_pieces_are_connected_parts_within_a_box() -> None:
    """0, 1 in box 0; 2, 3 in box 1; 4 in box 0 again, reached from box 1; 5 in no box."""
    parents = {1: 0, 2: 1, 3: 2, 4: 3, 5: 0}
    members, above = pieces(0, parents, [0, 0, 1, 1, 0, None])
    assert members == {0: [0, 1], 2: [2, 3], 4: [4], 5: [5]}
    assert above == {2: 0, 4: 2, 5: 0}
