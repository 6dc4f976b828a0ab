"""Signs look as in the other figures, and can be seen on a dark ground too."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_rgb

from experiments.plots.looks import LOOKS, looks_of, variant
from experiments.plots.panels import palette_of
from experiments.report.signs import BACKGROUND, SYMBOLS, Sign, band, hollow, rule, sign_of
from tests.experiments.samples import clusters_of_rows


def luminance(colour: str) -> float:
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in to_rgb(colour)]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def test_a_method_has_its_colour_marker_and_line() -> None:
    """Forestcoll is a blue circle on a solid line; a second choice of parameters is darker."""
    sign = sign_of("forestcoll", palette_of(clusters_of_rows()))
    assert (sign.colour, sign.symbol, sign.dash) == ("#0072b2", "circle", "solid")
    looks = {"a": variant(LOOKS["forestcoll"], 0), "b": variant(LOOKS["forestcoll"], 4)}
    assert sign_of("b", looks).symbol == "circle-open"
    assert len({sign_of(name, looks).colour for name in looks}) == 2


def test_every_marker_has_a_symbol_that_can_be_drawn() -> None:
    """Those of the toolkit, of one's own methods, and of published values."""
    own = looks_of(f"mine{number}" for number in range(28)).values()
    for marker in {look["marker"] for look in (*LOOKS.values(), *own)} | set("*dp"):
        for filling in ("", "-open", "-dot", "-open-dot"):
            drawn = Sign("a", "#000000", "method", SYMBOLS[marker] + filling, "dash").drawing()
            assert drawn.count("<path") == 1


@pytest.mark.parametrize("colour", [look["color"] for look in LOOKS.values()])
@pytest.mark.parametrize("number", range(3))
def test_all_colours_can_be_seen_in_the_dark(colour: str, number: int) -> None:
    """WCAG asks for 3 to 1 for what is no text."""
    shade = variant({**LOOKS["ring"], "color": colour}, number)["color"]
    light = luminance(Sign("a", shade, "method").on_dark)
    assert (light + 0.05) / (luminance(BACKGROUND) + 0.05) >= 3


def test_bounds_limits_and_published_values_differ() -> None:
    drawings = {sign.drawing() for sign in (band("a"), rule("a"), hollow("a", "*"))}
    assert len(drawings) == 3
    assert band("a").on_dark != band("a").colour
