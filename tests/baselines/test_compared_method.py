"""A row of a comparison."""

from fractions import Fraction

from baselines.compared_method import Compared


def test_a_row_has_the_share_of_the_bound() -> None:
    row = Compared("a", Fraction(50), Fraction(200), Fraction(25), steps=3)
    assert row.in_a_row()["percent_of_optimum"] == 25
    assert repr(row) == (
        "<Compared a, algbw_gb_s 50, percent_of_optimum 25, synchronous_gb_s 25, steps 3>"
    )


def test_a_method_without_a_schedule_or_a_bound_has_no_share() -> None:
    assert Compared("a", Fraction(50)).in_a_row()["percent_of_optimum"] is None
    assert repr(Compared("a", reason="no torus")) == "<Compared a, no_schedule no torus>"
