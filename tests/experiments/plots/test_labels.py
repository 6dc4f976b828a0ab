"""Labels beside marks: clear of these, of lines and of each other."""

from __future__ import annotations

import itertools
from pathlib import Path

from matplotlib.transforms import Bbox

from experiments.plots.drawing import finish, panels, style
from experiments.plots.labels import label


def test_labels_keep_clear_of_marks_and_of_each_other(tmp_path: Path) -> None:
    """Three marks at one spot: their labels share no pixel and cover no mark."""
    with style():
        figure, (axes,) = panels(["crowded"])
        axes.plot([1, 1.01, 1.02, 3], [1, 1.01, 1.0, 3], "o")
        for x, y in ((1, 1), (1.01, 1.01), (1.02, 1.0)):
            label(axes, "128", (x, y), "black")
        finish(figure, "")
        figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 3
    for one, other in itertools.combinations(boxes, 2):
        shared = Bbox.intersection(one, other)
        assert shared is None or shared.width * shared.height < 1
    mark = axes.transData.transform((1, 1))
    assert not any(box.contains(*mark) for box in boxes)


def test_labels_without_room_are_left_out() -> None:
    """Of sixty at one spot a few are written, none on another; a lone one is."""
    with style():
        figure, (axes,) = panels(["crowded"])
        axes.plot([1, 3], [1, 3], "o")
        for _ in range(60):
            label(axes, "128", (1, 1), "black")
        label(axes, "64", (3, 3), "black")
        finish(figure, "")
    shown = [text.get_text() for text in axes.texts if text.get_visible()]
    assert shown[-1] == "64"
    assert 1 <= shown.count("128") < 20
