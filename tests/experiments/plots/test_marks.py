"""Published values as hollow marks: by number of GPUs, and by size of the data."""

from __future__ import annotations

from dataclasses import replace

from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from experiments.plots.marks import marks_by_gpus, marks_by_size
from experiments.plots.panels import palette_of
from experiments.published import Mark
from tests.experiments.samples import clusters_of_rows

MARK = Mark("dgx_a100", 16, 100.0, "a paper", frozenset({"allgather"}))


def test_marks_by_gpus_stand_where_the_rows_are() -> None:
    """Between 8 and 32 GPUs; what is derived only at their sizes, what is of a size nowhere."""
    (axes,) = [Figure().subplots()]
    marks = [
        MARK,
        replace(MARK, gpus=64),
        replace(MARK, label="b", derived=True),
        replace(MARK, label="c", size_bytes=1024),
        replace(MARK, label="d", cluster="mi250"),
    ]
    marks_by_gpus(axes, "dgx_a100", [8, 32], marks)
    assert {c.get_label(): c.get_offsets().tolist() for c in axes.collections} == {
        "a paper": [[16, 100]]
    }
    marks_by_gpus(axes, "dgx_a100", [], marks)
    assert len(axes.collections) == 1


def test_marks_by_size_look_like_their_method() -> None:
    """Hollow, in its colour; those of other sizes, GPUs and panels, or of no size, are not there.

    A method that is not among the rows has a star.
    """
    (axes,) = [Figure().subplots()]
    row = replace(clusters_of_rows()[0], size_bytes=1024)
    sized = replace(MARK, size_bytes=1024, method="forestcoll")
    marks = [
        MARK,
        sized,
        replace(sized, size_bytes=2048),
        replace(sized, gpus=32),
        replace(sized, label="other", method="taccl"),
    ]
    palette = palette_of([row])
    marks_by_size(axes, [row], marks, palette)
    found = {str(c.get_label()): c for c in axes.collections}
    assert found.keys() == {"a paper", "other"}
    assert found["a paper"].get_offsets().tolist() == [[1024, 100]]
    colour = to_rgba(palette["forestcoll"]["color"])
    assert tuple(found["a paper"].get_edgecolor()[0]) == colour
    assert len(found["a paper"].get_facecolor()) == 0
