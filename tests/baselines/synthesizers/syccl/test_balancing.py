"""Shares of sketches by an exact program, proved by prices."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.synthesizers.syccl.balancing import balance

TIMES = st.integers(1, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.fractions(0, 9, max_denominator=6), min_size=columns, max_size=columns),
        min_size=1,
        max_size=5,
    ).filter(lambda rows: all(any(row[j] for row in rows) for j in range(columns)))
)


def test_two_links_and_two_sketches_by_hand() -> None:
    """7/300 and 8/25 against 14/300 and 1/25: with x of the first 14 - 7 x = 12 (1 + 7 x)."""
    rows = [[Fraction(7, 300), Fraction(14, 300)], [Fraction(8, 25), Fraction(1, 25)]]
    found = balance(rows)
    assert found.shares == (Fraction(2, 91), Fraction(89, 91))
    assert found.time == Fraction(15, 325)


def test_one_sketch_takes_its_time() -> None:
    found = balance([[Fraction(2)], [Fraction(3)]])
    assert (found.time, found.shares, found.prices) == (3, (1,), (0, 1))


@settings(max_examples=30, deadline=None)
@given(TIMES)
def test_shares_attain_the_bound_of_the_prices(times: list[list[Fraction]]) -> None:
    """No shares are faster: each sketch costs at least the time at prices that sum up to 1."""
    found = balance(times)
    assert min(found.shares) >= 0
    assert sum(found.shares) == 1
    loads = [sum(a * w for a, w in zip(row, found.shares, strict=True)) for row in times]
    assert max(loads) == found.time
    assert min(found.prices) >= 0
    assert sum(found.prices) == 1
    for column in zip(*times, strict=True):
        assert sum(a * y for a, y in zip(column, found.prices, strict=True)) >= found.time
