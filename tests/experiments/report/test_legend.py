"""Entries of the legend look as in the panels, and can be seen on a dark ground too."""

from dataclasses import replace

import pytest
from matplotlib.colors import to_rgb

from experiments.figures.figure import INK
from experiments.figures.plotly_renderer import SYMBOLS, Entry
from experiments.figures.styles import LIMIT, OPTIMUM, STYLES, palette_of, variant
from experiments.report.legend import BACKGROUND, button, on_dark
from tests.experiments.samples import clusters_of_rows


def luminance(colour: str) -> float:
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in to_rgb(colour)]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def test_a_method_has_its_colour_marker_and_line() -> None:
    """Forestcoll is a blue circle on a solid line; a fifth choice of parameters is hollow."""
    shown = button(Entry("a", palette_of(clusters_of_rows())["forestcoll"]), "words")
    assert (shown.words, shown.light, shown.hollow) == ("words", "#0072b2", False)
    assert shown.stroke == {"stroke-width": "2", "stroke-dasharray": None}
    assert button(Entry("a", variant(STYLES["forestcoll"], 4)), "").hollow


@pytest.mark.parametrize("marker", SYMBOLS)
def test_every_marker_has_an_outline(marker: str) -> None:
    assert button(Entry("a", replace(OPTIMUM, marker=marker)), "").outline.startswith("M")


@pytest.mark.parametrize("colour", [style.colour for style in STYLES.values()])
@pytest.mark.parametrize("number", range(3))
def test_all_colours_can_be_seen_in_the_dark(colour: str, number: int) -> None:
    """WCAG asks for 3 to 1 for what is no text."""
    light = luminance(on_dark(variant(replace(STYLES["ring"], colour=colour), number).colour))
    assert (light + 0.05) / (luminance(BACKGROUND) + 0.05) >= 3


def test_bounds_limits_and_published_values_differ() -> None:
    published = replace(OPTIMUM, role="published", marker="*", fill="none")
    shown = [button(Entry("a", style), "") for style in (OPTIMUM, LIMIT, published)]
    assert len({(str(one.stroke), one.outline) for one in shown}) == 3
    assert on_dark(INK) != INK
