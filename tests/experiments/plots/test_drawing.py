"""What all figures share: legends, ticks, letters and files."""

from __future__ import annotations

import itertools

from experiments.plots.drawing import finish, gpu_axis, panels, style


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
