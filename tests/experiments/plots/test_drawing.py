"""What all figures share: legends, ticks, letters and files."""

from __future__ import annotations

import itertools

from matplotlib.transforms import Bbox

from experiments.plots.drawing import finish, gpu_axis, panels, size_axis, style


def test_a_long_legend_does_not_crush_the_panel() -> None:
    """Twelve methods in one panel: it stays as tall as with two, the figure grows to the side."""
    heights = []
    for count in (2, 12):
        with style():
            figure, (axes,) = panels(["many"])
            for number in range(count):
                axes.plot([1, 2], [1, number], label=f"a method (effort={number})")
            finish(figure, "")
        heights.append(axes.get_position().height * figure.get_figheight())
    assert heights[1] >= heights[0]


def test_crowded_sizes_leave_ticks_out_but_the_ends_stay() -> None:
    """Of 1 to 128 one by one there is room for the doublings or so; both ends are there."""
    with style():
        _figure, (axes,) = panels(["many"])
        gpu_axis(axes, range(1, 129))
    ticks = [int(tick) for tick in axes.get_xticks()]
    assert ticks[0] == 1
    assert ticks[-1] == 128
    assert len(ticks) <= 10
    assert all(b / a > 1.6 for a, b in itertools.pairwise(ticks))


def test_long_titles_are_broken_and_cover_nothing() -> None:
    """Four panels with a name of 60 letters each and a title of the figure: no two overlap."""
    name = "line_graph:of=(circulant:nodes=16,offsets=3+4+5+6),times=3,x=" + "9" * 40
    with style():
        figure, grid = panels([name] * 4)
        for axes in grid:
            axes.plot([1, 2], [1, 2], label="ring")
        finish(figure, "A title that tells at some length what the figure is to show, " * 3)
        figure.draw_without_rendering()
        boxes = [axes.title.get_window_extent() for axes in grid]
        boxes.append(figure.get_suptitle() and figure._suptitle.get_window_extent())
    assert grid[0].get_title().replace("\n", "") == name
    for one, other in itertools.combinations(boxes, 2):
        shared = Bbox.intersection(one, other)
        assert shared is None or shared.width * shared.height < 1
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_a_title_stands_clear_of_a_legend_at_the_side() -> None:
    """One narrow panel, twelve methods, a title wider than the panel."""
    with style():
        figure, (axes,) = panels(["one"])
        for i in range(12):
            axes.plot([1, 2], [1, i], label=f"a method (effort={i}, size_bytes=1000000)")
        finish(figure, "Transfer times on DGX1, 25 KB chunks (TE-CCL paper, table 3)")
        figure.draw_without_rendering()
        title, legend = figure._suptitle.get_window_extent(), figure.legends[0].get_window_extent()
    shared = Bbox.intersection(title, legend)
    assert shared is None or shared.width * shared.height < 1


def test_sizes_of_an_axis_are_all_in_units_or_all_in_bytes() -> None:
    """1 KB and 64 MB have few digits in their units; 256,000 bytes beside 1 MB have not."""
    with style():
        _figure, (axes,) = panels(["sizes"])
        for sizes, texts in (
            ((1 << 10, 64 << 20), ["1KB", "64MB"]),
            ((1000, 4_096_000, 1_000_000_000), ["1000", "4.1e6", "1e9"]),
        ):
            size_axis(axes, sizes, "size")
            form = axes.xaxis.get_major_formatter()
            assert [form(size) for size in sizes] == texts
            assert axes.get_xlabel() == ("size" if "KB" in texts[0] else "size (bytes)")


def test_a_legend_below_is_never_wider_than_its_figure() -> None:
    """One method with a name of 120 letters below one panel."""
    with style():
        figure, (axes,) = panels(["one"])
        axes.plot([1, 2], [1, 2], label="a method (" + "x" * 120 + ")")
        finish(figure, "")
        figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
