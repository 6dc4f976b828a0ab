"""The kinds of figures, and the way from rows to files.

A figure is asked for by one word, in an experiment file as on the command line: its kind, such as
``generation-time``, with options where the kind has some, such as ``pareto:y=height``. The drawing
itself is in :mod:`experiments.plots.lines`, loaded when something is drawn.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from experiments.config.document import nearest
from experiments.measures.declared import DRAWN
from experiments.results.columns import LABELS
from experiments.results.rows import Row
from forestcoll.errors import ExportError, InvalidExperimentError

__all__ = ["KINDS", "Figure", "Kind", "check_figure", "draw", "parse_figure", "plot"]

FORMATS = (".pdf", ".png", ".svg")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of figure.

    Parameters
    ----------
    summary : str
        What it shows.
    function : str
        The function that draws it, called as ``function(rows, **options)``.
    options : mapping
        What one can choose, with the defaults.
    fixed : mapping
        Options that are as they are.
    sides : collection of str
        Options that may also name a parameter; the others name a column.
    """

    summary: str
    function: str
    options: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)
    sides: Collection[str] = ()


KINDS: Mapping[str, Kind] = {
    "generation-time": Kind(
        "generation time against GPUs", "experiments.plots.lines:lines", fixed={"y": "generation_s"}
    ),
    "theoretical-algbw": Kind(
        "theoretical algbw, flowing, against GPUs, with the optimum",
        "experiments.plots.lines:lines",
        fixed={"y": "algbw_gb_s"},
    ),
    "algbw-in-steps": Kind(
        "theoretical algbw in steps against GPUs, with the optimum",
        "experiments.plots.lines:lines",
        fixed={"y": "algbw_in_steps_gb_s"},
    ),
    "lines": Kind(
        "any column against GPUs", "experiments.plots.lines:lines", {"y": "generation_s"}
    ),
    "time-against-algbw": Kind(
        "generation time against theoretical algbw, flowing, a mark for each method and size",
        "experiments.plots.lines:scatter",
        fixed={"x": "algbw_gb_s", "y": "generation_s"},
    ),
    "pareto": Kind(
        "one column against another on each topology, and the front of what none beats",
        "experiments.plots.lines:pareto",
        {"x": "algbw_gb_s", "y": "generation_s"},
    ),
    "heat-map": Kind(
        "a column over two parameters",
        "experiments.plots.maps:heat_map",
        {"x": "gpus", "y": "method", "value": "ratio"},
        sides=("x", "y"),
    ),
}
"""Every kind of figure by its name."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A kind of figure with all its options."""

    kind: str
    options: Mapping[str, str]


def parse_figure(text: str) -> Figure:
    """Read ``kind`` or ``kind:option=column,option=column``.

    Raises
    ------
    InvalidExperimentError
        For an unknown kind or option, or a column that no row has.

    Examples
    --------
    >>> parse_figure("pareto:y=height").options
    {'x': 'algbw_gb_s', 'y': 'height'}
    """
    name, colon, rest = text.partition(":")
    if name not in KINDS:
        raise InvalidExperimentError(f"unknown kind of figure {name!r}; {nearest(name, KINDS)}")
    kind = KINDS[name]
    options = {**kind.options, **kind.fixed}
    for part in rest.split(",") if colon else []:
        option, equals, word = (piece.strip() for piece in part.partition("="))
        if option not in kind.options:
            hint = nearest(option, kind.options) if kind.options else "it takes none"
            raise InvalidExperimentError(f"{name}: unknown option {option!r}; {hint}")
        if not equals or (word not in DRAWN and option not in kind.sides):
            raise InvalidExperimentError(
                f"{name}: {option} cannot be {word!r}; {nearest(word, DRAWN)}"
            )
        options[option] = word
    if "x" in options and options["x"] == options["y"]:
        raise InvalidExperimentError(f"{name}: x and y are both {options['x']!r}; change one")
    return Figure(name, options)


def check_figure(figure: Figure, parameters: Collection[str], series: int) -> None:
    """Refuse a figure that an experiment cannot give.

    Parameters
    ----------
    figure : Figure
    parameters : collection of str
        Of the topologies and methods.
    series : int
        How many methods and choices of their parameters there are.

    Raises
    ------
    InvalidExperimentError
    """
    known = {*LABELS, *parameters}
    for option in KINDS[figure.kind].sides:
        if figure.options[option] not in known:
            raise InvalidExperimentError(
                f"{figure.kind}: {option} cannot be {figure.options[option]!r}, which is no "
                f"parameter here; {nearest(figure.options[option], known)}"
            )
    if figure.kind == "pareto" and series < 2:
        raise InvalidExperimentError("pareto: there is only one method; add another, or parameters")


def draw(kind: str, rows: Sequence[Row], stem: Path, title: str = "") -> list[Path]:
    """Draw a figure and write it as PNG and PDF.

    Parameters
    ----------
    kind : str
        As for :func:`parse_figure`.
    rows : sequence of Row
    stem : Path
        The files' path without the ending; ``:``, ``=`` and ``,`` in its name become ``-``.
    title : str

    Returns
    -------
    list of Path
        The files.
    """
    name = re.sub("[:=,]+", "-", stem.name)
    return plot(
        kind, rows, [stem.with_name(f"{name}.{ending}") for ending in ("png", "pdf")], title
    )


def plot(kind: str, rows: Sequence[Row], files: Sequence[Path], title: str = "") -> list[Path]:
    """Draw a figure and write it to files, in the formats that their endings say.

    Raises
    ------
    InvalidExperimentError
        For an unknown kind, or one that these rows cannot give.
    ExportError
        For an unknown ending.
    """
    figure = parse_figure(kind)
    if not rows:
        raise InvalidExperimentError("there are no rows to draw")
    for file in files:
        if file.suffix.lower() not in FORMATS:
            raise ExportError(f"{file}: unknown ending; use one of {', '.join(FORMATS)}")
    from experiments.plots.drawing import finish, save, style  # matplotlib takes a while to load

    function = pkgutil.resolve_name(KINDS[figure.kind].function)
    with style():
        picture = function(rows, **figure.options)
        finish(picture, title)
        for file in files:
            save(picture, file)
    return list(files)
