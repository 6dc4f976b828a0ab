"""Bounds on demands by prices of links, by hand and beside the verifier's own sums."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.problem import price_bound
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound, boundary_prices
from forestcoll.schedule.verification.pair_prices import priced_inverse_rate_of_pairs
from forestcoll.topology import Topology, load_topology
from tests.core.any_network.networks import damaged_network
from tests.hand_networks import network_of

LINE = network_of("a b c", "a - b: 2, b - c: 3", "line")
"""Links in order: a b, b a, b c, c b."""


def test_prices_of_a_line_by_hand() -> None:
    """Offered 2 x 1 + 3 x 4 = 14; a has 10 bytes for c at price 5, c 7 for b at 0."""
    demand = Demand.of_matrix([[0, 0, 10], [0, 0, 0], [0, 7, 0]])
    bound = PriceBound.of(LINE, demand, (1, 0, 4, 0))
    assert bound.inverse_rate == Fraction(50, 14)
    assert bound.price == (1, 0, 4, 0)


def test_equal_parts_by_hand() -> None:
    """Each pair 1 unit: c's two to the left over 3 GB/s, or b's and c's over 2 GB/s."""
    assert PriceBound.of(LINE, None, (0, 0, 0, 1)).inverse_rate == Fraction(2, 3)
    assert PriceBound.of(LINE, None, (0, 1, 0, 0)).inverse_rate == 1


def test_a_chunk_pays_once_for_its_farthest_target() -> None:
    """8 bytes from a to b and c: they pay 1 + 4 once, not 1 + 5."""
    chunk = Demand.of_chunks(3, [(0, 8, [1, 2]), (2, 1, [0])])
    assert PriceBound.of(LINE, chunk, (1, 0, 4, 0)).inverse_rate == Fraction(40, 14)


def test_a_shared_capacity_is_paid_by_each_of_its_links() -> None:
    """The links a > b and b > c share 2 GB/s at price 1, and a > b costs 1 more: 3 of 2 + 2."""
    shared = LINE.with_shared("bus", ["a -> b", "b -> c"], 2)
    demand = Demand.of_matrix([[0, 0, 4], [0, 0, 0], [0, 0, 0]])
    bound = PriceBound.of(shared, demand, (1, 0, 0, 0, 1))
    assert bound.inverse_rate == Fraction(4 * 3, 2 * 1 + 2 * 1)
    assert bound.in_words() == [
        "price 1 on 1 link: 1 x 2 GB/s from GPU a to GPU b",
        "price 1 on bus",
    ]


def test_no_price_and_no_way_prove_nothing() -> None:
    one_way = network_of("a b", "a > b", "one way")
    assert PriceBound.of(LINE, None, (0,) * 4).inverse_rate == 0
    assert PriceBound.of(one_way, None, (1,)).inverse_rate == 1
    assert PriceBound.of(one_way, Demand.of_matrix([[0, 0], [5, 0]]), (1,)).inverse_rate == 0


def test_the_boundary_of_a_set_of_nodes() -> None:
    assert boundary_prices(LINE, [0, 1], into=False) == [0, 0, 1, 0]
    assert boundary_prices(LINE, [0, 1], into=True) == [0, 0, 0, 1]
    shared = LINE.with_shared("bus", ["a -> b", "b -> c"], 2)
    assert boundary_prices(shared, [1], into=True) == [1, 0, 0, 1, 0]


def test_the_words_begin_with_the_most_expensive() -> None:
    """At most eight prices are printed."""
    assert [
        word.partition(":")[0] for word in PriceBound.of(LINE, None, (2, 0, 5, 2)).in_words()
    ] == [
        "price 5 on 1 link",
        "price 2 on 2 links",
    ]
    ring = load_topology("ring:nodes=6")
    assert len(PriceBound.of(ring, None, tuple(range(12))).in_words()) == 8


def _random(seed: int) -> tuple[Topology, Demand, list[int]]:
    draw = np.random.default_rng(seed)
    made = None
    while made is None:
        made = damaged_network(int(draw.integers(10**9)), groups=bool(seed % 2))
    topology = made[0]
    gpus, parts = topology.num_compute, len(topology.links) + len(topology.shared)
    amounts = draw.integers(0, 3, (gpus, gpus)) * draw.integers(0, 1000, (gpus, gpus))
    amounts[1, 0] = 1
    price = draw.integers(0, 4, parts) * draw.integers(0, 2**30, parts)
    price[0] = 1
    return topology, Demand.of_matrix(amounts), price.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_the_verifier_adds_up_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By Bellman and Ford instead of Dijkstra; and where sources come in blocks of two."""
    topology, demand, price = _random(seed)
    bound = PriceBound.of(topology, demand, price)
    assert priced_inverse_rate_of_pairs(topology, demand.matrix, price) == bound.inverse_rate
    monkeypatch.setattr(price_bound, "_EVERY", 2)
    assert PriceBound.of(topology, demand, price) == bound
    equal = PriceBound.of(topology, None, price)
    ones = 1 - np.eye(topology.num_compute, dtype=np.int64)
    assert priced_inverse_rate_of_pairs(topology, ones, price) == equal.inverse_rate
