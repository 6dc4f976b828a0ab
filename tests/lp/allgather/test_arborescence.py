"""Cheapest spanning out-trees against networkx and by hand."""

import networkx as nx
import numpy as np
import pytest

from forestcoll.errors import DisconnectedError
from forestcoll.solver.linear_program import Vector
from lp.allgather.arborescence import cheapest_arborescence


def priced(price: Vector, parent: list[int]) -> float:
    return float(sum(price[above, v] for v, above in enumerate(parent) if above >= 0))


@pytest.mark.parametrize("seed", range(40))
def test_edmonds_theorem_the_tree_is_the_cheapest(seed: int) -> None:
    """Its price is networkx's; it spans, from the root. Few distinct prices make many cycles."""
    chance = np.random.default_rng(seed)
    size = int(chance.integers(2, 9))
    price = chance.integers(1, 4 + seed, size=(size, size)).astype(float)
    missing = chance.random((size, size)) < 0.2
    missing[0] = False
    price[missing] = np.inf
    root = 0
    parent = cheapest_arborescence(price, root)
    graph = nx.DiGraph()
    for u in range(size):
        for v in range(size):
            if u != v and v != root and np.isfinite(price[u, v]):
                graph.add_edge(u, v, weight=price[u, v])
    best = nx.minimum_spanning_arborescence(graph)
    assert priced(price, parent) == pytest.approx(best.size(weight="weight"))
    assert parent[root] == -1
    for node in range(size):
        at, steps = node, 0
        while at != root:
            at, steps = parent[at], steps + 1
            assert steps < size


def test_cycles_within_cycles() -> None:
    """0 and 1 hang together at price 1, with 2 at price 2, all three reached from 3 at 9 or 8.

    Entering at 2 for 8, then 2 -> 0 for 2 and 0 -> 1 for 1 makes 11.
    """
    price = np.full((4, 4), np.inf)
    price[0, 1] = price[1, 0] = 1
    price[2, 0] = price[1, 2] = 2
    price[3, 0] = price[3, 1] = 9
    price[3, 2] = 8
    parent = cheapest_arborescence(price, 3)
    assert parent == [2, 0, 3, -1]
    assert priced(price, parent) == 11


def test_an_unreachable_node_is_an_error() -> None:
    """1 and 2 point at each other, and nothing from 0 at either."""
    price = np.full((3, 3), np.inf)
    price[1, 2] = price[2, 1] = 1
    with pytest.raises(DisconnectedError):
        cheapest_arborescence(price, 0)
