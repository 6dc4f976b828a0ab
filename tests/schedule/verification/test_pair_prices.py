"""Bounds by prices of links: what the verifier adds up, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule.verification import pair_prices
from forestcoll.schedule.verification.pair_prices import priced_inverse_rate_of_pairs
from forestcoll.topology import load_topology
from tests.hand_networks import network_of

LINE = network_of("a b c", "a - b: 2, b - c: 3", "line")
"""Links in order: a b, b a, b c, c b."""

AMOUNTS = np.array([[0, 0, 10], [0, 0, 0], [0, 7, 0]])


def test_prices_of_a_line_by_hand() -> None:
    """Offered 2 x 1 + 3 x 4 + 3 x 2 = 20; 10 bytes pay 5, 7 bytes pay 2: 64."""
    assert priced_inverse_rate_of_pairs(LINE, AMOUNTS, (1, 0, 4, 2)) == Fraction(64, 20)


def test_sums_beyond_64_bits_are_exact() -> None:
    """2^40 bytes pay 2^32, as many twice that; offered 5 x 2^32."""
    amounts = np.array([[0, 2**40, 2**40], [0, 0, 0], [0, 0, 0]])
    found = priced_inverse_rate_of_pairs(LINE, amounts, (2**32, 0, 2**32, 0))
    assert found == Fraction(3 * 2**40, 5)


def test_potentials_near_the_limit_of_32_bits_are_added_up_in_64() -> None:
    """A one-way ring of three: pairs one and two links apart pay 3 + 6 prices over 3 GB/s."""
    ring = load_topology("ring:nodes=3,bidirectional=false")
    amounts = np.ones((3, 3), dtype=np.int64) - np.eye(3, dtype=np.int64)
    price = (2**31 - 2) // 3
    assert priced_inverse_rate_of_pairs(ring, amounts, (price,) * 3) == 3


def test_a_detour_that_is_cheaper_is_taken() -> None:
    """From a to c straight at 9, or over b and d at 1 + 1 + 1; offered 12."""
    square = network_of("a c b d", "a > c, a > b, b > d, d > c", "square")
    by_name = {("a", "c"): 9, ("a", "b"): 1, ("b", "d"): 1, ("d", "c"): 1}
    price = [
        by_name[square.nodes[link.tail].name, square.nodes[link.head].name] for link in square.links
    ]
    amounts = np.zeros((4, 4), dtype=np.int64)
    amounts[0, 1] = 5
    assert priced_inverse_rate_of_pairs(square, amounts, price) == Fraction(15, 12)


def test_a_shared_capacity_is_paid_by_each_of_its_links() -> None:
    """Both links of the way share 2 GB/s at price 1; a > b costs 1 more: 10 x 3 of 2 + 2."""
    shared = LINE.with_shared("bus", ["a -> b", "b -> c"], 2)
    found = priced_inverse_rate_of_pairs(shared, AMOUNTS * [[1], [1], [0]], (1, 0, 0, 0, 1))
    assert found == Fraction(30, 4)


def test_amounts_and_prices_at_their_limits_are_added_up_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ranks in blocks of one; 10^14 bytes twice 2^32."""
    amounts = np.array([[0, 0, 10**14], [0, 0, 0], [0, 0, 0]])
    monkeypatch.setattr(pair_prices, "_BLOCK", 1)
    found = priced_inverse_rate_of_pairs(LINE, amounts, (2**32, 0, 2**32, 0))
    assert found == Fraction(10**14 * 2**33, 5 * 2**32)


REFUSED = {
    "one too few": ((1, 0, 4), "3 prices are claimed; the network has 4 links and shared"),
    "one too many": ((1, 0, 4, 2, 0), "5 prices are claimed"),
    "negative": ((1, 0, -4, 2), r"a price is not a whole number from 0 to"),
    "a truth value": ((True, 0, 4, 2), "a price is not a whole number"),
    "a float": ((1.0, 0, 4, 2), "a price is not a whole number"),
    "a number of numpy": ((np.int64(1), 0, 4, 2), "a price is not a whole number"),
    "too large": ((2**32 + 1, 0, 4, 2), "a price is not a whole number"),
    "all 0": ((0, 0, 0, 0), "all prices are 0; they prove nothing"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_prices_that_are_refused(name: str) -> None:
    price, message = REFUSED[name]
    with pytest.raises(VerificationError, match=message):
        priced_inverse_rate_of_pairs(LINE, AMOUNTS, price)  # type: ignore[arg-type]


def test_unreachable_pairs_without_data_need_nothing() -> None:
    """With a > b only, what b has for a cannot be; nothing is due without it."""
    one_way = network_of("a b", "a > b: 2", "one way")
    assert priced_inverse_rate_of_pairs(one_way, np.array([[0, 3], [0, 0]]), [1]) == Fraction(3, 2)
    with pytest.raises(VerificationError, match="cannot be reached from"):
        priced_inverse_rate_of_pairs(one_way, np.array([[0, 3], [1, 0]]), [1])
