"""Text in panels: labels clear of markers and of each other, failure marks, notes."""

import itertools

from matplotlib.transforms import Bbox

from experiments.figures.figure import INK, Axis, Failure, Figure, Note, Panel, Point, Series, Style
from experiments.figures.matplotlib_annotations import glyph
from experiments.figures.matplotlib_renderer import render, style
from experiments.results.rows import Status

DOTS = Style("#000000", marker="o")


def dots(*points: Point) -> Panel:
    return Panel("crowded", Axis(), Axis(), (Series("dots", DOTS, points),))


def test_labels_keep_clear_of_markers_and_of_each_other() -> None:
    """Three markers at one spot: their labels share no pixel and cover no marker."""
    crowd = [Point(1, 1, label="128"), Point(1.01, 1.01, label="128"), Point(1.02, 1, label="128")]
    with style():
        figure = render(Figure((dots(*crowd, Point(3, 3)),)))
        figure.draw_without_rendering()
        (axes,) = figure.axes
        boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 3
    for one, other in itertools.combinations(boxes, 2):
        shared = Bbox.intersection(one, other)
        assert shared is None or shared.width * shared.height < 1
    marker = axes.transData.transform((1, 1))
    assert not any(box.contains(*marker) for box in boxes)


def test_labels_without_room_are_left_out() -> None:
    """Of sixty at one spot a few are written, none on another; a lone one is."""
    with style():
        crowd = [Point(1, 1, label="128")] * 60
        (axes,) = render(Figure((dots(*crowd, Point(3, 3, label="64")),))).axes
    shown = [text.get_text() for text in axes.texts if text.get_visible()]
    assert shown[-1] == "64"
    assert 1 <= shown.count("128") < 20


def test_many_failures_at_one_place_are_counted() -> None:
    """Twelve unsupported and two timeouts: U 12 and T 2; of four, each is a letter of its own."""
    many = [Failure(1, None, Status.UNSUPPORTED, "a", DOTS)] * 12
    many += [Failure(1, None, Status.TIMEOUT, "b", DOTS)] * 2
    panels = [Panel("", Axis(), Axis(), failures=tuple(some)) for some in (many, many[-4:])]
    with style():
        figure = render(Figure(tuple(panels)))
    crowded, clear = ([line.get_marker() for line in axes.get_lines()] for axes in figure.axes)
    late, unable = glyph(Status.TIMEOUT), glyph(Status.UNSUPPORTED)
    assert sorted(crowded) == sorted([late, unable])
    assert sorted(clear) == sorted([late, late, unable, unable])
    assert sorted(text.get_text() for text in figure.axes[0].texts) == ["12", "2"]
    assert not figure.axes[1].texts
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["timeout", "unsupported"]


def test_page_only_failures_are_not_on_paper() -> None:
    lost = Failure(1, None, Status.FAILED, "a", DOTS, page_only=True)
    with style():
        (axes,) = render(Figure((Panel("", Axis(), Axis(), failures=(lost,)),))).axes
    assert not axes.get_lines()


def test_more_notes_than_have_room_are_counted() -> None:
    """Of nine, four and how many are left."""
    notes = tuple(Note(f"note {i}", "#ff0000") for i in range(9))
    with style():
        (axes,) = render(Figure((Panel("one", Axis(), Axis(), notes=notes),))).axes
    written = [text.get_text() for text in axes.texts]
    assert sorted(written) == ["and 5 more without a result", *(f"note {i}" for i in range(4))]
    assert axes.texts[0].get_color() == INK


def test_a_failure_in_words_stands_at_the_start_of_its_bar() -> None:
    lost = Failure(None, 1, Status.OUT_OF_MEMORY, "a", DOTS)
    names = Axis(names=("a", "b"), downwards=True)
    with style():
        (axes,) = render(Figure((Panel("", Axis(), names, failures=(lost,)),))).axes
    (word,) = axes.texts
    assert (word.get_text(), word.xy) == ("out of memory", (0, 1))
