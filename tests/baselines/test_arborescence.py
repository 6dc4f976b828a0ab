"""The cheapest out-tree, beside networkx."""

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.arborescence import cheapest_tree


@st.composite
def networks(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], list[int]]:
    """A path 0 -> 1 -> ... and more links; small prices, so that there are ties."""
    size = draw(st.integers(2, 9))
    pairs = [(u, v) for u in range(size) for v in range(size) if u != v]
    links = [(u, u + 1) for u in range(size - 1)]
    links += draw(st.lists(st.sampled_from(pairs), unique=True))
    links = list(dict.fromkeys(links))
    prices = st.lists(st.integers(0, 6), min_size=len(links), max_size=len(links))
    return size, links, draw(prices)


@settings(max_examples=150, deadline=None)
@given(networks())
def test_the_tree_spans_and_is_as_cheap_as_that_of_networkx(
    network: tuple[int, list[tuple[int, int]], list[int]],
) -> None:
    size, links, prices = network
    parent = cheapest_tree(size, 0, links, prices)
    price = dict(zip(links, prices, strict=True))
    tree = nx.DiGraph((parent[node], node) for node in range(1, size))
    assert parent[0] == -1
    assert nx.is_arborescence(tree)
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_weighted_edges_from((u, v, price[u, v]) for u, v in links if v != 0)
    best = nx.minimum_spanning_arborescence(graph)
    assert sum(price[edge] for edge in tree.edges) == best.size("weight")


@pytest.mark.parametrize(
    ("prices", "parent"),
    [
        ([5, 1, 1, 4], [-1, 2, 0]),  # the cycle 1 <-> 2 is entered at 2: 4 + 1, not 5 + 1
        ([3, 1, 1, 4], [-1, 0, 1]),
        ([1, 5, 5, 1], [-1, 0, 0]),
    ],
)
def test_a_cycle_is_entered_where_it_is_cheapest(prices: list[int], parent: list[int]) -> None:
    """Links 0 -> 1, 1 -> 2, 2 -> 1, 0 -> 2."""
    assert cheapest_tree(3, 0, [(0, 1), (1, 2), (2, 1), (0, 2)], prices) == parent
