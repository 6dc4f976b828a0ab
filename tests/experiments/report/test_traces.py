"""Parts of panels: axes, letters, lines."""

from __future__ import annotations

import math

from experiments.report.signs import Sign, band, rule
from experiments.report.traces import bound, count_axis, letters, line, ordinate, ordinates, side
from experiments.results.rows import Status

SIGN = Sign("a", "#000000", "method", "circle", "dash")


def test_an_abscissa_doubles_and_ticks_where_there_is_room() -> None:
    axis = count_axis([8, 64, 16, 8], "GPUs")
    assert axis["type"] == "log"
    assert axis["ticktext"] == ["8", "16", "64"]
    assert axis["range"][0] < math.log10(8)
    sizes = count_axis([1024, 2**20], "size", sizes=True)
    assert sizes["ticktext"] == ["1KB", "1MB"]


def test_an_abscissa_of_one_place_has_some_width() -> None:
    low, high = count_axis([8], "GPUs")["range"]
    assert low < math.log10(8) < high


def test_ordinates_go_by_decades_or_from_zero() -> None:
    """What spreads over decades is logarithmic and leaves out zeros; rates begin at zero."""
    times = ordinate([0.0, 0.01, 100.0], "generation_s")
    assert times["type"] == "log"
    assert times["range"][0] < -2 < 2 < times["range"][1]
    assert ordinate([100.0], "algbw_gb_s")["range"] == [0, 107.0]
    assert ordinate([], "algbw_gb_s")["range"][0] == 0


def test_panels_share_an_ordinate_unless_one_is_ten_times_lower() -> None:
    parts = [[line(SIGN, [(1, height, "")])] for height in (100.0, 50.0, 5.0)]
    alike = ordinates(parts[:2], "algbw_gb_s")
    assert alike[0] == alike[1]
    apart = ordinates(parts, "algbw_gb_s")
    assert apart[0]["range"] != apart[2]["range"]


def test_letters_stand_beside_each_other_or_in_a_lane() -> None:
    """One alone stands on its place; several have all a side of their own."""
    alone = letters(SIGN, [(8, 60, "why")], [Status.TIMEOUT], [side(0, 1)])
    assert (alone.trace["text"], alone.trace["textposition"]) == (["<b>T</b>"], ["middle center"])
    assert len({side(turn, 8) for turn in range(8)}) == 8
    assert letters(SIGN, [(8, 0, "why")], [Status.FAILED]).trace["yaxis"] == "y2"


def test_bounds_are_broad_and_limits_thin() -> None:
    broad, thin = (bound(sign, [(1, 2, "")]).trace["line"] for sign in (band("a"), rule("b")))
    assert broad["width"] > thin["width"]
    assert thin["dash"] == "dash"
