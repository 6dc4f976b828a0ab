"""What a layout is made of."""

import pytest

from forestcoll.draw.layouts.places import Frame, Layout, Place


def test_a_link_meets_a_bar_under_its_other_end_or_near_the_end_of_the_bar() -> None:
    """A bar from 0 to 4, its outer 0.12 left free; a GPU has no width."""
    bar = Place(2.0, 0.0, 4.0)
    assert [bar.nearest_x(x) for x in (-1.0, 1.5, 9.0)] == pytest.approx([0.12, 1.5, 3.88])
    assert Place(2.0, 0.0).nearest_x(9.0) == 2.0
    assert bar.moved(1, 2) == Place(3.0, 2.0, 4.0)


def test_a_layout_spans_bars_frames_and_lanes() -> None:
    """Each of them is outermost on one side."""
    layout = Layout(
        {0: Place(0, 0, 4.0)}, {0: Frame(-1, -1, 2, 5)}, {(0, 1): ((0.0, 7.0), (6.0, 0.0))}
    )
    corners = list(layout.corners())
    assert (min(corners), max(corners)) == ((-2.0, 0), (6.0, 0.0))
    assert (min(y for _, y in corners), max(y for _, y in corners)) == (-1, 7.0)
