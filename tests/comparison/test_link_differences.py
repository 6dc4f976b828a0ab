"""Which links two schedules load differently."""

from fractions import Fraction

from forestcoll.comparison.link_differences import link_differences


def test_the_greatest_differences_come_first_and_equal_ones_by_name() -> None:
    """Of a, b and c the loads differ by 1/4, 1/2 and 1/4; d is the same, e in the first alone."""
    shares = {"a": (1, 2), "b": (3, 1), "c": (2, 1), "d": (1, 1)}
    first = {(name, "x"): Fraction(one, 4) for name, (one, _) in shares.items()}
    second = {(name, "x"): Fraction(other, 4) for name, (_, other) in shares.items()}
    found = link_differences({**first, ("e", "x"): Fraction(1, 8)}, second)
    assert [one.link[0] for one in found.others] == ["b", "a", "c", "e"]
    assert (found.others[0].first, found.others[0].second) == (Fraction(3, 4), Fraction(1, 4))
    assert found.others[3].second == 0
    assert found.same == 1


def test_a_link_that_carries_nothing_in_both_is_the_same() -> None:
    """Also one that the other network lacks: it has none of the data there."""
    found = link_differences({("a", "x"): Fraction(0)}, {("b", "x"): Fraction(0)})
    assert (found.same, found.others) == (2, ())
