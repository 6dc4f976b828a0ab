"""What a description says of itself."""

from dataclasses import replace

from experiments.figures.figure import INK, Axis, Failure, Figure, Panel, Point, Series, Style
from experiments.results.rows import Status

LINE = Series("a", Style(INK), (Point(1, 100.0),))


def figure(*heights: float, scale: str = "even") -> Figure:
    up = Axis(scale=scale)  # type: ignore[arg-type]
    return Figure(
        tuple(Panel("", Axis(), up, (replace(LINE, points=(Point(1, n),)),)) for n in heights)
    )


def test_panels_share_an_ordinate_unless_one_is_ten_times_lower() -> None:
    """Of 100, 50 and 5; on an axis of decades one can read all of them."""
    assert figure(100.0, 50.0).shares_ordinate
    assert not figure(100.0, 5.0).shares_ordinate
    assert figure(100.0, 5.0, scale="log").shares_ordinate


def test_panels_with_equal_names_share_the_ordinate() -> None:
    named = [Panel("", Axis(), Axis(names=names)) for names in (("a",), ("a",), ("b",))]
    assert Figure(tuple(named[:2])).shares_ordinate
    assert not Figure(tuple(named)).shares_ordinate


def test_failures_have_a_height_unless_they_are_above_the_panel() -> None:
    """A limit of 60 s is on the ordinate; what is above is not; both fill a panel."""
    late = Failure(8, 60.0, Status.TIMEOUT, "a", LINE.style)
    panel = Panel("", Axis(), Axis(), (LINE,), failures=(late, replace(late, y=None)))
    assert list(panel.heights()) == [100.0, 60.0]
    assert not replace(panel, series=()).empty
    assert replace(panel, series=(), failures=()).empty
