"""Figures on paper: panels, legends, axes; all of it where nothing covers anything."""

import itertools
from dataclasses import replace

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.transforms import Bbox

from experiments.figures.figure import INK, Axis, Bar, Figure, Panel, Point, Series, Style
from experiments.figures.matplotlib_renderer import render, style
from experiments.figures.styles import STYLES

RING = STYLES["ring"]


def series(name: str, *heights: float, how: Style = RING) -> Series:
    return Series(name, how, tuple(Point(x, y) for x, y in enumerate(heights, start=1)))


def panel(*lines: Series, x: Axis = Axis(), y: Axis = Axis(), title: str = "one") -> Panel:  # noqa: B008
    return Panel(title, x, y, lines)


def drawn(figure: Figure) -> list[Axes]:
    with style():
        return list(render(figure).axes)


def test_a_long_legend_does_not_crush_the_panel() -> None:
    """Twelve methods in one panel: it stays as tall as with two, the figure grows to the side."""
    heights = []
    for count in (2, 12):
        lines = [series(f"a method (effort={number})", 1, number) for number in range(count)]
        with style():
            figure = render(Figure((panel(*lines),)))
        heights.append(figure.axes[0].get_position().height * figure.get_figheight())
    assert heights[1] >= heights[0]


def test_long_titles_are_broken_and_cover_nothing() -> None:
    """Four panels with a name of 60 letters each and a title of the figure: no two overlap."""
    name = "line_graph:of=(circulant:nodes=16,offsets=3+4+5+6),times=3,x=" + "9" * 40
    title = "A title that describes at some length what the figure is to show, " * 3
    with style():
        figure = render(Figure((panel(series("ring", 1, 2), title=name),) * 4), title)
        figure.draw_without_rendering()
        boxes = [axes.title.get_window_extent() for axes in figure.axes]
        boxes.append(figure.get_suptitle() and figure._suptitle.get_window_extent())
    assert figure.axes[0].get_title().replace("\n", "") == name
    for one, other in itertools.combinations(boxes, 2):
        shared = Bbox.intersection(one, other)
        assert shared is None or shared.width * shared.height < 1
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_a_title_stands_clear_of_a_legend_at_the_side() -> None:
    """One narrow panel, twelve methods, a title wider than the panel."""
    lines = [series(f"a method (effort={i}, size_bytes=1000000)", 1, i) for i in range(12)]
    with style():
        title = "Transfer times on DGX1, 25 KB chunks (TE-CCL paper, table 3)"
        figure = render(Figure((panel(*lines),)), title)
        figure.draw_without_rendering()
        above, legend = figure._suptitle.get_window_extent(), figure.legends[0].get_window_extent()
    shared = Bbox.intersection(above, legend)
    assert shared is None or shared.width * shared.height < 1


def test_a_legend_below_is_never_wider_than_its_figure() -> None:
    """One method with a name of 120 letters below one panel."""
    with style():
        figure = render(Figure((panel(series("a method (" + "x" * 120 + ")", 1, 2)),)))
        figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1


def test_a_series_has_its_colour_marker_and_line() -> None:
    """One without points is in the legend alone; a bound is a line without markers."""
    bound = series("optimum", 3, 3, how=Style(INK, "bound"))
    figure = Figure((panel(bound, series("ring", 1, 2)),), (Series("late: timeout", RING),))
    (axes,) = drawn(figure)
    band, line, empty = axes.get_lines()
    assert (line.get_color(), line.get_marker(), line.get_linestyle()) == ("#d55e00", "s", "-")
    assert list(line.get_ydata()) == [1, 2]
    assert (band.get_marker(), band.get_linestyle()) == ("None", "-")
    assert not len(empty.get_xdata())
    assert axes.get_legend_handles_labels()[1] == ["optimum", "ring", "late: timeout"]


def test_published_values_are_hollow() -> None:
    (axes,) = drawn(Figure((panel(series("paper", 1, 2, how=replace(RING, role="published"))),)))
    (marks,) = axes.collections
    assert marks.get_offsets().tolist() == [[1, 1], [2, 2]]
    assert tuple(marks.get_edgecolor()[0]) == to_rgba("#d55e00")
    assert len(marks.get_facecolor()) == 0


def test_rates_begin_at_zero_and_very_different_ones_have_own_ordinates() -> None:
    """Of 100 GB/s one can see 200; of 300 one cannot see 4, whose axis ends at 4.2."""
    zero = Axis("rate", from_zero=True)
    far, near = (
        drawn(Figure(tuple(panel(series("ring", 1, top), y=zero) for top in tops)))
        for tops in ((300.0, 4.0), (200.0, 100.0))
    )
    assert [axes.get_ylim() for axes in far] == [(0, 315), (0, pytest.approx(4.2))]
    assert [axes.get_ylim() for axes in near] == [(0, 210), (0, 210)]
    assert [axes.get_ylabel() for axes in near] == ["rate", ""]


@pytest.mark.parametrize(
    ("axis", "texts", "label"),
    [
        (Axis("GPUs", "doubling", (8, 16, 32)), ["8", "16", "32"], "GPUs"),
        (Axis("size", "bytes", (1 << 10, 64 << 20)), ["1KB", "64MB"], "size"),
        (Axis("size", "bytes", (1000, 10**9)), ["1k", "1G"], "size (bytes)"),
    ],
)
def test_an_abscissa_has_ticks_at_its_places(axis: Axis, texts: list[str], label: str) -> None:
    line = Series("ring", RING, tuple(Point(place, 1) for place in axis.places))
    (axes,) = drawn(Figure((panel(line, x=axis),)))
    assert [tick.get_text() for tick in axes.get_xticklabels()] == texts
    assert axes.get_xlabel() == label


def test_bars_that_are_far_apart_go_by_decades() -> None:
    """From 10 ms, that is 0.01, to three times 20 s; names stand from the top down."""
    bars = tuple(Bar(i, 0.8, 0, length, RING, beside="x") for i, length in enumerate((0.02, 20.0)))
    names = Axis(names=("a", "b"), downwards=True)
    (axes,) = drawn(Figure((Panel("", Axis(scale="log"), names, bars=bars),)))
    assert axes.get_xlim() == (0.01, 60.0)
    assert axes.get_ylim() == (1.5, -0.5)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert [text.get_text() for text in axes.texts] == ["x", "x"]


def test_a_front_is_a_staircase_from_side_to_side() -> None:
    """Much at little cost is good: the stairs go up at the last place."""
    front = replace(series("front", 1, 2, how=Style(INK, "front")), opacity=0.5)
    (axes,) = drawn(Figure((panel(series("ring", 1, 2), front, x=Axis(better="more")),)))
    stairs = axes.get_lines()[-1]
    assert list(stairs.get_xdata())[1:] == [1, 2, 2]
    assert list(stairs.get_ydata())[:3] == [1, 1, 2]
    assert stairs.get_drawstyle() == "steps-pre"


def test_stairs_cut_off_no_panel_of_a_shared_ordinate() -> None:
    """The first panel ends at 2, the second at 5: both show all of it."""
    panels = [
        panel(series("ring", 1, top), series("front", 1, top, how=Style(INK, "front")))
        for top in (2, 5)
    ]
    assert all(axes.get_ylim()[1] > 5 for axes in drawn(Figure(tuple(panels))))


def test_an_ordinate_is_labelled_wherever_it_is_another_one() -> None:
    """Three panels side by side: pipelined, pipelined again, by makespan."""
    panels = tuple(
        Panel("", Axis(), Axis(label), (Series("ring", STYLES["ring"], (Point(1, 2),)),))
        for label in ("pipelined", "pipelined", "by makespan")
    )
    with style():
        picture = render(Figure(panels, columns=3))
    assert [axes.get_ylabel() for axes in picture.axes] == ["pipelined", "", "by makespan"]


@pytest.mark.first_rows(1)
@pytest.mark.parametrize("tops", [(100, 1.5), (1.5, 100)])
def test_panels_of_a_shared_logarithmic_ordinate_have_ticks_for_all_values(tops) -> None:
    """One panel spans five decades, the other less than one: powers of ten, no text on another."""
    panels = tuple(panel(series("ring", 0.001, 1), y=Axis(scale="log")) for _ in "a") + tuple(
        panel(series("ring", 1, top), y=Axis(scale="log")) for top in tops
    )
    with style():
        picture = render(Figure(panels))
        picture.draw_without_rendering()
        texts = [text for text in picture.axes[0].get_yticklabels() if text.get_text()]
        boxes = [text.get_window_extent() for text in texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_an_ordinate_of_few_decades_has_plain_numbers() -> None:
    """From 1 to 5: more ticks than the one power of ten."""
    (axes,) = drawn(Figure((panel(series("ring", 1, 5), y=Axis(scale="log")),)))
    shown = [tick for tick in axes.get_yticks() if 1 <= tick <= 5]
    assert len(shown) >= 4


def test_the_optimum_of_a_single_place_is_a_dash() -> None:
    """A network of one size: a line through one place could not be seen."""
    bound = Series("optimum", Style(INK, "bound"), (Point(8, 30),), 4, 0.25)
    (axes,) = drawn(Figure((panel(bound, series("ring", 20)),)))
    (dash,) = [
        line for line in axes.get_lines() if line.get_label() == "optimum" and len(line.get_xdata())
    ]
    assert dash.get_marker() == "_"
    assert dash.get_markersize() > 10
