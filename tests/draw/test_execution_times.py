"""Times of runs as bars."""

import pytest

from forestcoll.draw import draw_execution_times
from forestcoll.errors import InvalidParameterError


def test_a_bar_is_the_median_and_a_line_the_spread() -> None:
    """In milliseconds, the first on top."""
    figure = draw_execution_times({"a$b": (0.003, 0.001, 0.002), "c": (0.01,)}, "title", "time")
    (axes,) = figure.axes
    assert [bar.get_width() for bar in axes.patches] == [2, 10]
    (lines,) = axes.collections
    assert [segment[:, 0].tolist() for segment in lines.get_segments()] == [[1, 3], [10, 10]]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a$b", "c"]
    assert [text.get_text() for text in axes.texts] == ["2", "10"]
    assert axes.get_ylim() == (1.5, -0.5)
    assert "ms: bar median, line least to most" in axes.get_xlabel()


@pytest.mark.parametrize("runs", [{}, {"a": ()}])
def test_no_runs_are_refused(runs: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(InvalidParameterError, match="no times to draw"):
        draw_execution_times(runs, "title", "time")
