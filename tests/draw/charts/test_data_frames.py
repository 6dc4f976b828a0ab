"""Lines of data frames."""

import pandas as pd

import forestcoll
from forestcoll.draw.charts.data_frames import draw_frame


def test_a_frame_has_a_line_for_each_column_and_a_panel_for_each_group() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [3.0, None]}, index=pd.Index([10, 20], name="boxes"))
    (axes,) = forestcoll.draw(frame, title="rates", y="GB/s").axes
    assert [line.get_label() for line in axes.lines] == ["a", "b"]
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("rates", "boxes", "GB/s")
    grouped = pd.concat({"A100": frame, "H100": frame}, axis=1)
    panels = draw_frame(grouped).axes
    assert [one.get_title() for one in panels] == ["A100", "H100"]
    assert [len(one.lines) for one in panels] == [2, 2]
