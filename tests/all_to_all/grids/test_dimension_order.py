"""Dimension order: which links each GPU's data may use, without coordinates."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from forestcoll import load_topology
from forestcoll.all_to_all.grids.dimension_order import _joined, dimension_ordered
from forestcoll.topology import Topology
from tests.hand_networks import network_of
from tests.lp.networks import line, star

NAME = "tpu_v5e:dims=5x16"


def rows(topology: Topology) -> list[int]:
    """The row of each GPU, by its name."""
    return [int(node.name[3:].split(".")[0]) for node in topology.nodes]


def expected(topology: Topology, free: set[int]) -> np.ndarray:
    """Links along columns, of the own row, and all of rows from which all are free."""
    row = rows(topology)
    ends = [(row[link.tail], row[link.head]) for link in topology.links]
    return np.array(
        [
            [row[source] in free or one != other or one == row[source] for one, other in ends]
            for source in topology.compute
        ]
    )


@pytest.mark.parametrize(
    ("dead", "free"),
    [("gpu0.2 - gpu0.3", {0, 1}), ("gpu2.0 - gpu2.1", {1, 2, 3})],
)
def test_lines_with_a_dead_link_and_those_beside_are_free(dead: str, free: set[int]) -> None:
    topology = load_topology(NAME).without(dead)
    found = dimension_ordered(topology)
    assert found is not None
    assert (found == expected(topology, free)).all()


def test_the_dimension_of_the_dead_link_comes_first() -> None:
    """A dead link of column 0: its GPUs and those beside it in rings of 16 are free, no others."""
    topology = load_topology(NAME).without("gpu1.0 - gpu2.0")
    found = dimension_ordered(topology)
    assert found is not None
    column = [int(node.name.split(".")[1]) for node in topology.nodes]
    assert [bool(row.all()) for row in found] == [one in (15, 0, 1) for one in column]


def test_a_whole_grid_is_in_order_everywhere() -> None:
    topology = load_topology(NAME)
    found = dimension_ordered(topology)
    assert found is not None
    assert not found.all(axis=1).any()


def test_numbers_of_nodes_do_not_matter() -> None:
    """A grid of 2 x 3 with any names: every GPU has its own line of 2 or 3 and all the others."""
    grid = network_of("e b a f c d", "a - b, b - c, d - e, e - f, a - d, b - e, c - f")
    found = dimension_ordered(grid)
    assert found is not None
    assert sorted({*found.sum(axis=1).tolist()}) in ([10], [12])


@pytest.mark.parametrize(
    "topology",
    [
        star(1, 1),  # a switch
        network_of("a b c d", "a > b, b > c, c > d, d > a, a > d"),  # no reverse
        line(4),  # no squares
        load_topology("ring:nodes=6"),
        load_topology("hypercube:dimension=3"),  # three dimensions
        load_topology("torus:dims=4x4"),  # rings of four are squares themselves
        load_topology("complete:nodes=4"),  # squares have chords
        network_of("a0..3 b0..3", "a0 - a1, a1 - a2, a2 - a3, a3 - a0, b0 - b1, b1 - b2, "
                        "b2 - b3, b3 - b0, a0 - b0"),  # two squares, joined
        load_topology(NAME).without("gpu0.0 - gpu0.1").without("gpu1.3 - gpu2.3"),  # both dead
        load_topology("tpu_v5e:dims=4x4").without("gpu0.0 - gpu0.1"),  # a link without a square
    ],
    ids=lambda one: one.name,
)  # fmt: skip
def test_other_networks_have_no_order(topology: Topology) -> None:
    assert dimension_ordered(topology) is None


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20))
def test_connected_parts_are_those_of_scipy(links: list[tuple[int, int]]) -> None:
    """With the same numbers: parts are in the order of their first nodes."""
    tail, head = np.array(links, dtype=np.int64).reshape(-1, 2).T
    graph = sp.coo_array((np.ones(len(tail)), (tail, head)), shape=(12, 12))
    count, part = connected_components(graph, directed=False)
    found, number = _joined(tail, head, 12)
    assert (found, number.tolist()) == (count, part.tolist())
