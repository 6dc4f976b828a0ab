"""Fixed style of each method and choice of parameters: colour, marker and line.

It is the same in every figure and does not depend on the order of rows. Colours are Okabe and
Ito's, which colour-blind readers can distinguish; no two methods share a colour and a marker, so
that figures can be read in grey, too.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from experiments.figures.figure import INK, Style
from experiments.results.rows import Row

__all__ = [
    "COLOURS", "LIMIT", "OPTIMUM", "STYLES", "Palette", "mixed", "palette_of", "styles_of",
    "variant",
]  # fmt: skip

Palette = Mapping[str, Style]
"""The style of each method, by its name with its parameters."""

OPTIMUM = Style(INK, "bound")
LIMIT = Style(INK, "limit", order=1)

_BLUE, _RED, _GREEN, _PINK, _ORANGE, _SKY, _BLACK = COLOURS = (
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
    "torus": (_SKY, "v", "-."),
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
    "sum-exchange": (_GREEN, "X", "-."),
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

_PLAIN = len(_SHADES) * len(_FILLS)
"""Number of looks of a marker; multiples differ from a method's own style in their line alone."""

_VARIANTS = tuple(n for n in range(_PLAIN * len(_DASHES)) if n % _PLAIN)
"""Variants of a method's style for choices of parameters."""

_SIZE = 4.5
"""Points of a marker."""

_SALT = "9191:"
"""Chosen so that no two choices of parameters meet in a figure of the repository."""


def palette_of(rows: Iterable[Row]) -> Palette:
    """Give each method its style, and each choice of its parameters a variant of that.

    The entries come in the order of the rows; their styles depend on the names alone. Where markers
    coincide, that of the method registered first lies on top.
    """
    rows = list({row.series: row for row in rows}.values())
    styles, ranks = (
        styles_of(row.method for row in rows),
        {name: i for i, name in enumerate(_STYLES)},
    )
    numbers = _numbers(rows)
    return {
        row.series: replace(
            variant(styles[row.method], numbers[row.series]),
            size=_SIZE,
            order=2.9 - 0.01 * ranks.get(row.method, len(ranks)) - 0.0001 * numbers[row.series],
        )
        for row in rows
    }


def _numbers(rows: Iterable[Row]) -> dict[str, int]:
    """Return the number of each choice of parameters among the variants of its method.

    It follows from the text of the parameters. Two choices in one figure may meet in a number; then
    the later of their names takes the next free one.
    """
    found: dict[str, int] = {}
    taken: set[tuple[str, int]] = set()
    for row in sorted(rows, key=lambda row: (bool(row.parameters), row.series)):
        numbers = _preferred(row.parameters)
        free = (number for number in numbers if (row.method, number) not in taken)
        found[row.series] = next(free, numbers[0])
        taken.add((row.method, found[row.series]))
    return found


def _preferred(parameters: Mapping[str, object]) -> Sequence[int]:
    """Return the numbers for a choice of parameters, the one to be preferred first."""
    if not parameters:
        return (0,)
    text = ",".join(sorted(f"{name}={value}" for name, value in parameters.items()))
    start = zlib.crc32(f"{_SALT}{text}".encode()) % len(_VARIANTS)
    return _VARIANTS[start:] + _VARIANTS[:start]


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
    """Return the style of a method's choice of parameters, by its number among them.

    The method's marker stays, its colour becomes darker or lighter, and the filling of the marker
    and the line differ; 48 remain distinguishable.
    """
    shade = _SHADES[number % len(_SHADES)]
    turns = number // _PLAIN
    return replace(
        style,
        colour=mixed(style.colour, 255 if shade > 0 else 0, abs(shade)),
        line=_DASHES[(_DASHES.index(style.line) + number + turns) % len(_DASHES)],
        fill=_FILLS[number // len(_SHADES) % len(_FILLS)],  # type: ignore[arg-type]
    )


def _own(name: str) -> Iterator[Style]:
    """Yield styles for a name that is not the toolkit's, the one to be preferred first."""
    slots = [(colour, i) for i in range(len(_OWN_MARKERS)) for colour in COLOURS]
    start = zlib.crc32(name.encode()) % len(slots)
    for colour, i in slots[start:] + slots[:start]:
        yield Style(colour, marker=_OWN_MARKERS[i], line=_DASHES[i])


def mixed(colour: str, towards: int, share: float) -> str:
    """Return a hexadecimal colour, moved towards a level of grey by a share."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + (towards - part) * share):02x}" for part in parts)
