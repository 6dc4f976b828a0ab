"""Times as whole numbers of ticks."""

from fractions import Fraction
from itertools import count

import pytest

from baselines.building.ticks import common_part, soonest


def test_the_tick_divides_every_time_and_nothing_larger_does() -> None:
    times = [Fraction(3, 4), Fraction(0), Fraction(5, 6), Fraction(2)]
    tick = common_part(times)
    assert tick == Fraction(1, 12)
    assert all((time / tick).denominator == 1 for time in times)
    assert common_part([Fraction(6), Fraction(4)]) == 2


@pytest.mark.parametrize("ways", [[3], [1, 1], [2, 5, 7], [4, 6, 9, 13]])
def test_chunks_take_the_path_that_delivers_them_first(ways: list[int]) -> None:
    def arrivals(chunks: int) -> int:
        return next(t for t in count() if sum(t // way for way in ways) >= chunks)

    assert [soonest(ways, n) for n in range(40)] == [arrivals(n) for n in range(40)]
