"""One look a method, for ever: colour, marker and line, whatever else is in the figure.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; no two methods share a
colour and a marker, so that figures can be read in grey, too.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from matplotlib.colors import to_hex, to_rgb

__all__ = ["LOOKS", "Look", "looks_of", "variant"]

Look = dict[str, Any]
"""Keywords of a line of matplotlib: color, marker, linestyle, fillstyle, ..."""

_BLUE, _RED, _GREEN, _PINK, _ORANGE, _SKY, _BLACK = _COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
)  # fmt: skip
_DASHES = ("-", "--", "-.", ":")
_OWN_MARKERS = ("*", "H", "8", "d")
"""For methods of one's own; no method of the toolkit has them."""

_LOOKS = {
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
    "recursive-halving-doubling": (_BLACK, "v", "-."),
    "bruck": (_BLUE, "P", "-."),
    "blueconnect": (_RED, "X", "-."),
    "blink": (_PINK, "o", ":"),
    "blink-switch": (_ORANGE, "s", ":"),
    "unwound": (_SKY, "^", ":"),
    "syccl": (_BLACK, "D", ":"),
    "tto": (_BLUE, "v", ":"),
}

LOOKS: Mapping[str, Look] = MappingProxyType(
    {
        name: {"color": colour, "marker": marker, "linestyle": dash}
        for name, (colour, marker, dash) in _LOOKS.items()
    }
)
"""The look of each method of the toolkit; a new method takes a pair that no other has."""

_SHADES = (0.0, -0.45, 0.35)
"""Towards black or white, by this share."""

_FILLS = ("full", "none", "left", "bottom")


def looks_of(methods: Iterable[str]) -> dict[str, Look]:
    """Return the look of each method; one that the toolkit does not have gets one by its name.

    Two such methods may meet in one look; then the later of their names takes another.
    """
    names = list(dict.fromkeys(methods))
    found = {name: LOOKS[name] for name in names if name in LOOKS}
    taken = {(look["color"], look["marker"]) for look in found.values()}
    for name in sorted(set(names) - set(found)):
        free = [look for look in _own(name) if (look["color"], look["marker"]) not in taken]
        found[name] = (free or list(_own(name)))[0]
        taken.add((found[name]["color"], found[name]["marker"]))
    return {name: found[name] for name in names}


def variant(look: Look, number: int) -> Look:
    """Return the look of a method's choice of parameters, by its number in the figure.

    The method's marker stays, its colour becomes darker or lighter, and the filling of the marker
    and the line differ; 12 are told apart.
    """
    start = _DASHES.index(look["linestyle"])
    return {
        **look,
        "color": _shaded(look["color"], _SHADES[number % len(_SHADES)]),
        "linestyle": _DASHES[(start + number) % len(_DASHES)],
        "fillstyle": _FILLS[number // len(_SHADES) % len(_FILLS)],
    }


def _own(name: str) -> Iterator[Look]:
    """Yield looks for a name that is not the toolkit's, the one to be preferred first."""
    slots = [(colour, marker) for marker in _OWN_MARKERS for colour in _COLOURS]
    start = zlib.crc32(name.encode())
    for i in range(len(slots)):
        colour, marker = slots[(start + i) % len(slots)]
        dash = _DASHES[_OWN_MARKERS.index(marker)]
        yield {"color": colour, "marker": marker, "linestyle": dash}


def _shaded(colour: str, towards: float) -> str:
    aim, share = (1.0 if towards > 0 else 0.0), abs(towards)
    red, green, blue = (part + (aim - part) * share for part in to_rgb(colour))
    return str(to_hex((red, green, blue)))
