"""Text in panels: labels clear of markers and of each other, failure marks, notes."""

import itertools
from dataclasses import replace

import pytest
from matplotlib.transforms import Bbox

from experiments.figures.figure import (
    INK,
    Axis,
    Cell,
    Failure,
    Figure,
    Note,
    Panel,
    Point,
    Series,
    Style,
)
from experiments.figures.matplotlib_annotations import glyph, lanes_of, notes_of
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


def test_labels_keep_clear_of_bands() -> None:
    """A wide upright line through a marker, such as that of the least T_B, is no place for text."""
    band = Series("best", replace(DOTS, marker="", line="-"), (Point(1, 0), Point(1, 2)), width=4)
    labelled = Series("dots", DOTS, (Point(1, 1, label="a long name"), Point(3, 1)))
    with style():
        (axes,) = render(Figure((Panel("band", Axis(margin=0.5), Axis(), (band, labelled)),))).axes
    (text,) = axes.texts
    middle = axes.transData.transform((1, 1))[0]
    box = text.get_window_extent()
    assert box.x0 > middle + 4 or box.x1 < middle - 4


def test_labels_without_room_are_left_out() -> None:
    """Of sixty at one spot a few are written, none on another; a lone one is."""
    with style():
        crowd = [Point(1, 1, label="128")] * 60
        (axes,) = render(Figure((dots(*crowd, Point(3, 3, label="64")),))).axes
    shown = [text.get_text() for text in axes.texts if text.get_visible()]
    assert shown[-1] == "64"
    assert 1 <= shown.count("128") < 20


def test_failures_stand_in_lanes_with_the_markers_of_their_methods() -> None:
    """Two at one place are one above the other; a third far to the right has room in a lane."""
    lost = [
        Failure(x, None, status, name, DOTS)
        for x, status, name in (
            (1, Status.TIMEOUT, "a"), (1, Status.UNSUPPORTED, "b"), (9, Status.TIMEOUT, "c"),
        )
    ]  # fmt: skip
    panel = Panel("", Axis(), Axis(), failures=tuple(lost))
    assert [[one.name for one in lane] for lane in lanes_of(panel, 2.0)] == [["a", "c"], ["b"]]
    with style():
        figure = render(Figure((panel,)))
    markers = [line.get_marker() for line in figure.axes[0].get_lines()]
    late, unable = glyph(Status.TIMEOUT), glyph(Status.UNSUPPORTED)
    assert sorted(markers) == sorted([late, late, unable, "o", "o", "o"])
    words = figure.legends[0].get_title().get_text()
    assert words == "Above the panels, from that place on: T timeout, U unsupported"


def test_failures_without_a_place_stand_one_after_the_other() -> None:
    """Six of them in lines of as many as an inch has room for."""
    lost = tuple(Failure(None, None, Status.TIMEOUT, str(i), DOTS) for i in range(6))
    lanes = lanes_of(Panel("", Axis(), Axis(), failures=lost), 1.0)
    assert [[one.name for one in lane] for lane in lanes] == [["0", "1", "2", "3", "4"], ["5"]]


def test_cells_without_a_result_have_a_letter_each() -> None:
    lost = Failure(0, 0, Status.FAILED, "", DOTS)
    panel = Panel("", Axis(), Axis(), cells=(Cell(0, 0, None),), failures=(lost,))
    assert lanes_of(panel, 1.0) == []
    with style():
        figure = render(Figure((panel,)))
    assert [line.get_marker() for line in figure.axes[0].get_lines()] == [glyph(Status.FAILED)]
    assert figure.legends[0].get_title().get_text() == "In cells: F failed"


def test_markers_that_coincide_move_apart() -> None:
    """Two lines at one place: their markers do not share a centre; the lines stay."""
    lines = [
        Series(name, replace(DOTS, line="-", size=4), (Point(1, 1), Point(2, y)))
        for name, y in (("a", 2), ("b", 3))
    ]
    with style():
        (axes,) = render(Figure((Panel("", Axis(), Axis(), tuple(lines)),))).axes
    drawn = [line for line in axes.get_lines() if line.get_marker() == "o"]
    starts = [float(line.get_xdata()[0]) for line in drawn]
    assert starts[0] < 1 < starts[1]
    assert [float(line.get_xdata()[1]) for line in drawn] == pytest.approx([2, 2])
    kept = [list(line.get_xdata()) for line in axes.get_lines() if line.get_marker() == "None"]
    assert kept == [[1, 2], [1, 2]]


def test_the_best_corner_is_where_both_axes_are_better() -> None:
    """Much algbw in little time: at the right, at the bottom."""
    panel = Panel("", Axis(better="more"), Axis(), (Series("a", DOTS, (Point(1, 1),)),))
    with style():
        (axes,) = render(Figure((replace(panel, corner="ideal"),))).axes
    (word,) = [text for text in axes.texts if text.get_text() == "ideal"]
    assert word.xy == (1.0, 0.0)


def test_page_only_failures_are_not_on_paper() -> None:
    lost = Failure(1, None, Status.FAILED, "a", DOTS, page_only=True)
    with style():
        (axes,) = render(Figure((Panel("", Axis(), Axis(), failures=(lost,)),))).axes
    assert not axes.get_lines()


def test_more_notes_than_have_room_are_counted() -> None:
    """Of nine, three and how many are left; a long one is broken."""
    notes = tuple(Note(f"note {i}", "#ff0000") for i in range(9))
    panel = Panel("one", Axis(), Axis(), notes=notes)
    shown = notes_of(panel, 2.0)
    words = ["note 0", "note 1", "note 2", "and 6 more without a result"]
    assert [note.text for note in shown] == words
    assert shown[-1].colour == INK
    long = replace(panel, notes=(Note("unsupported: one, two, three, four, five", INK),))
    assert [note.text for note in notes_of(long, 1.0)] == [
        "unsupported: one,", "two, three, four,", "five",
    ]  # fmt: skip
    with style():
        (axes,) = render(Figure((panel,))).axes
    assert sorted(text.get_text() for text in axes.texts) == sorted(words)


def test_a_failure_in_words_stands_at_the_start_of_its_bar() -> None:
    lost = Failure(None, 1, Status.OUT_OF_MEMORY, "a", DOTS)
    names = Axis(names=("a", "b"), downwards=True)
    with style():
        (axes,) = render(Figure((Panel("", Axis(), names, failures=(lost,)),))).axes
    (word,) = axes.texts
    assert (word.get_text(), word.xy) == ("out of memory", (0, 1))
