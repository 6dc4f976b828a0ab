"""Paths of one source, rotated to the others: loads without paths, and rows of all."""

import numpy as np

from forestcoll.all_to_all.best_flow import best_flow
from forestcoll.all_to_all.rotated_paths import PathFamily, loads_of, routes_of
from forestcoll.schedule import verify
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.pipelined import loads_of_routes
from forestcoll.topology import load_topology

RING = load_topology("ring:nodes=3,bidirectional=false")
TURNS = {shift: (np.arange(3) + shift) % 3 for shift in range(3)}


def family(*paths: tuple[tuple[int, ...], int]) -> PathFamily:
    nodes, weights = zip(*paths, strict=True)
    return PathFamily.of(TURNS, nodes).weighted(weights)


def test_by_hand_a_ring_of_three_one_way() -> None:
    """Weights 5 for the next and 2 for the one after: every link carries 5 + 2 + 2."""
    one = family(((0, 1, 2), 2), ((0, 1), 5), ((0, 2), 0))
    assert loads_of(RING, [one]) == [9, 9, 9]
    made = routes_of(RING, [one])
    assert made == Routes.from_paths(
        {
            (0, 1): [Path((0, 1), 5)],
            (0, 2): [Path((0, 1, 2), 2)],
            (1, 2): [Path((1, 2), 5)],
            (1, 0): [Path((1, 2, 0), 2)],
            (2, 0): [Path((2, 0), 5)],
            (2, 1): [Path((2, 0, 1), 2)],
        }
    )
    assert made.hop.dtype == np.int32


def test_paths_of_a_pair_keep_their_order() -> None:
    two = load_topology("ring:nodes=3")
    one = family(((0, 2, 1), 1), ((0, 1), 3), ((0, 2), 4))
    made = routes_of(two, [one])
    assert made.paths()[0, 1] == (Path((0, 2, 1), 1), Path((0, 1), 3))
    assert loads_of(two, [one]) == loads_of_routes(two, made)


def test_loads_beyond_64_bits_are_left_out() -> None:
    assert loads_of(RING, [family(((0, 1), 2**61), ((0, 1, 2), 2**61))]) is None


def test_a_torus_is_routed_from_one_source_and_proved() -> None:
    """From a GPU all distances add up to 32, over its four links of 1 GB/s: 8 ns a byte."""
    made = best_flow("torus:dims=4x4")
    verdict = verify(made)
    assert verdict.optimal
    assert verdict.congestion == 8
