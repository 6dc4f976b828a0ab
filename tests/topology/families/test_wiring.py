"""GPUs by number and by place, and links between them."""

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.families.wiring import (
    check_size,
    cube,
    directed,
    gpus,
    grid,
    undirected,
)
from tests.topology.families.graphs import pairs


def test_gpus_are_numbered():
    """gpu2 is the third of three."""
    made = gpus(3).build("three")
    assert [(node.name, node.index) for node in made.nodes] == [
        ("gpu0", 0),
        ("gpu1", 1),
        ("gpu2", 2),
    ]


def test_links_in_one_direction_leave_out_self_loops():
    made = directed(3, [(0, 1), (1, 1), (2, 0)], 5).build("arcs")
    assert pairs(made) == {(0, 1), (2, 0)}
    assert {link.bandwidth_gb_s for link in made.links} == {5}


def test_repeated_pairs_add_up_in_both_directions():
    """0 - 1 once and 1 - 2 twice, at 5 GB/s."""
    made = undirected(3, [(0, 1), (1, 2), (2, 1)], 5).build("pairs")
    assert {(e.tail, e.head): e.bandwidth_gb_s for e in made.links} == {
        (0, 1): 5,
        (1, 0): 5,
        (1, 2): 10,
        (2, 1): 10,
    }


def test_places_of_a_grid_are_counted_from_the_last_coordinate():
    """2 x 3: the fifth place is row 1, column 1."""
    builder, names = grid((2, 3))
    assert list(names)[4] == (1, 1)
    assert builder.build("grid").nodes[4].name == names[1, 1] == "gpu1.1"


def test_a_square_is_the_cube_of_two_dimensions():
    assert set(cube(2)) == {(0, 1), (0, 2), (1, 3), (2, 3)}


def test_oversized_networks_name_the_cause():
    assert check_size(100_000, "ten letters in words of five") == 100_000
    with pytest.raises(InvalidTopologyError, match="twins: 2 of each make 100001 GPUs; at most"):
        check_size(100_001, "twins: 2 of each")
