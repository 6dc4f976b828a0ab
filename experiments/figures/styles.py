"""Fixed style of each method: colour, marker and line, the same in every figure.

Colours are Okabe and Ito's, which colour-blind readers can distinguish; no two methods share a
colour and a marker, so that figures can be read in grey, too.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from experiments.figures.figure import INK, Style
from experiments.results.rows import Row

__all__ = ["LIMIT", "OPTIMUM", "STYLES", "Palette", "mixed", "palette_of", "styles_of", "variant"]

Palette = Mapping[str, Style]
"""The style of each method, by its name with its parameters."""

OPTIMUM = Style(INK, "bound")
LIMIT = Style(INK, "limit", order=1)

_BLUE, _RED, _GREEN, _PINK, _ORANGE, _SKY, _BLACK = _COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
)  # fmt: skip
_DASHES = ("-", "--", "-.", ":")
_OWN_MARKERS = ("*", "H", "8", "d")
"""For methods of one's own; no method of the toolkit has them."""

_STYLES = {
    "forestcoll": (_BLUE, "o", "-"),
    "ring": (_RED, "s", "-"),
    "multitree": (_GREEN, "^", "-"),
    "teccl": (_PINK, "D", "-"),
    "taccl": (_ORANGE, "v", "-"),
    "tacos": (_SKY, "P", "-"),
    "sccl": (_BLACK, "X", "-"),
    "bfb": (_RED, "^", "--"),
    "bfb-expansion": (_GREEN, "s", "--"),
    "shifted-ring": (_PINK, "v", "--"),
    "shifted-bfb-ring": (_ORANGE, "D", "--"),
    "torus": (_SKY, "v", "--"),
    "all-to-all-lp": (_BLACK, "P", "--"),
    "nccl-tree": (_BLUE, "X", "--"),
    "nccl-nvls": (_GREEN, "o", "-."),
    "nccl-nvls-tree": (_PINK, "s", "-."),
    "double-binary-tree": (_ORANGE, "^", "-."),
    "direct": (_SKY, "D", "-."),
    "one-shot": (_SKY, "o", "-."),
    "recursive-halving-doubling": (_BLACK, "v", "-."),
    "bruck": (_BLUE, "P", "-."),
    "blueconnect": (_RED, "X", "-."),
    "hierarchical": (_GREEN, "D", ":"),
    "fast-reading": (_BLACK, "s", ":"),
    "blink": (_PINK, "o", ":"),
    "blink-switch": (_ORANGE, "s", ":"),
    "unwound": (_SKY, "^", ":"),
    "syccl": (_BLACK, "D", ":"),
    "tto": (_BLUE, "v", ":"),
    "pat": (_BLUE, "s", ":"),
    "swing": (_GREEN, "v", "-."),
    "trivance": (_ORANGE, "P", ":"),
    "bine": (_RED, "o", ":"),
    "nccl-collnet-direct": (_SKY, "X", "--"),
    "nccl-collnet-chain": (_PINK, "X", "--"),
}

STYLES: Mapping[str, Style] = MappingProxyType(
    {
        name: Style(colour, marker=marker, line=dash)
        for name, (colour, marker, dash) in _STYLES.items()
    }
)
"""The style of each method of the toolkit; a new method takes a pair that no other has."""

_SHADES = (0.0, -0.45, 0.35)
"""Towards black or white, by this share."""

_FILLS = ("full", "none", "left", "bottom")


def palette_of(rows: Iterable[Row]) -> Palette:
    """Give each method its style, and each choice of its parameters a variant of that.

    Where series coincide, the first lies on top and the others' larger markers show around it.
    """
    methods = {row.series: row.method for row in rows}
    styles, seen = styles_of(methods.values()), Counter[str]()
    palette = {}
    for position, (series, method) in enumerate(methods.items()):
        palette[series] = replace(
            variant(styles[method], seen[method]),
            size=4.5 + 1.5 * min(position, 3),
            order=2.9 - 0.01 * position,
        )
        seen[method] += 1
    return palette


def styles_of(methods: Iterable[str]) -> dict[str, Style]:
    """Return the style of each method; one that the toolkit does not have gets one by its name.

    Two such methods may meet in one style; then the later of their names takes another.
    """
    names = list(dict.fromkeys(methods))
    found = {name: STYLES[name] for name in names if name in STYLES}
    taken = {(style.colour, style.marker) for style in found.values()}
    for name in sorted(set(names) - set(found)):
        own = list(_own(name))
        free = (style for style in own if (style.colour, style.marker) not in taken)
        found[name] = next(free, own[0])
        taken.add((found[name].colour, found[name].marker))
    return {name: found[name] for name in names}


def variant(style: Style, number: int) -> Style:
    """Return the style of a method's choice of parameters, by its number in the figure.

    The method's marker stays, its colour becomes darker or lighter, and the filling of the marker
    and the line differ; 12 remain distinguishable.
    """
    shade = _SHADES[number % len(_SHADES)]
    return replace(
        style,
        colour=mixed(style.colour, 255 if shade > 0 else 0, abs(shade)),
        line=_DASHES[(_DASHES.index(style.line) + number) % len(_DASHES)],
        fill=_FILLS[number // len(_SHADES) % len(_FILLS)],  # type: ignore[arg-type]
    )


def _own(name: str) -> Iterator[Style]:
    """Yield styles for a name that is not the toolkit's, the one to be preferred first."""
    slots = [(colour, i) for i in range(len(_OWN_MARKERS)) for colour in _COLOURS]
    start = zlib.crc32(name.encode()) % len(slots)
    for colour, i in slots[start:] + slots[:start]:
        yield Style(colour, marker=_OWN_MARKERS[i], line=_DASHES[i])


def mixed(colour: str, towards: int, share: float) -> str:
    """Return a hexadecimal colour, moved towards a level of grey by a share."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + (towards - part) * share):02x}" for part in parts)
