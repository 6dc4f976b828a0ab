"""From rows to the files of a figure.

The kinds of :mod:`experiments.config.kinds` name the functions that describe figures. These and
matplotlib are imported when a figure is drawn.
"""

from __future__ import annotations

import functools
import pkgutil
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from baselines.interface.own_function import told
from experiments.config.figure_options import Figure, check_one_size, parse_figure
from experiments.config.kinds import is_function, kind_of
from experiments.config.own_functions import missing
from experiments.figures.figure import Figure as Description
from experiments.measures.declared import DRAWN, SIMULATED
from experiments.results.rows import Row, Status
from forestcoll.atomic_write import write_whole
from forestcoll.draw.canvas import UNDATED
from forestcoll.errors import ExportError, ForestCollError, InvalidExperimentError
from forestcoll.problem.sizes import size_text

__all__ = ["check_values", "draw", "plot", "titled"]

FORMATS = (".pdf", ".png", ".svg")


def draw(kind: str, rows: Sequence[Row], stem: Path, title: str = "") -> list[Path]:
    """Draw a figure and write it as PNG and PDF.

    Parameters
    ----------
    kind : str
        As for :func:`experiments.config.figure_options.parse_figure`.
    stem : Path
        The files' path without the ending; ``:``, ``=`` and ``,`` in its name become ``-``.

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
        For an unknown kind, or one that these rows cannot provide; for a function of the user
        that does not exist, raises something or returns no figure.
    ExportError
        For an unknown ending.
    """
    figure = parse_figure(kind)
    own = is_function(kind)
    complaint = missing(kind) if own else ""
    if complaint:
        raise InvalidExperimentError(f"kind of figure {kind!r}, {complaint}")
    if not rows:
        raise InvalidExperimentError("there are no rows to draw")
    for file in files:
        if file.suffix.lower() not in FORMATS:
            raise ExportError(f"{file}: unknown ending; use one of {', '.join(FORMATS)}")
    from experiments.figures import matplotlib_renderer  # matplotlib takes a while to load

    describe = pkgutil.resolve_name(kind_of(figure.kind).draws)
    sizes = list(dict.fromkeys(size for row in rows for size in row.sizes))
    check_one_size(figure, len(sizes))
    if figure.sized or figure.of_one_size:
        rows = [one for row in rows for one in row.by_size()]
    with matplotlib_renderer.style():
        above = titled(title, figure, rows)
        described = _own(kind, describe, rows) if own else describe(rows, **figure.options)
        picture = matplotlib_renderer.render(described, above)
        for file in files:
            write_whole(file, functools.partial(_save, picture, file.suffix.lower()))
    return list(files)


def _own(kind: str, describe: Callable[[Sequence[Row]], Any], rows: Sequence[Row]) -> Description:
    """Let a function of the user describe a figure; what it raises becomes an error of one line."""
    try:
        described = describe(rows)
    except (ForestCollError, MemoryError):
        raise
    except Exception as error:
        raise InvalidExperimentError(told(kind, error, describe)) from error
    if not isinstance(described, Description):
        raise InvalidExperimentError(
            f"{kind} returns {type(described).__name__}; it must return an "
            f"experiments.figures.figure.Figure"
        )
    return described


def check_values(kind: str, rows: Sequence[Row]) -> None:
    """Refuse a figure of a column in which no row with a result has a value.

    Raises
    ------
    InvalidExperimentError
    """
    done = [one for row in rows if row.status is Status.OK for one in (row, *row.by_size())]
    for key, column in parse_figure(kind).options.items():
        chosen = kind_of(kind.partition(":")[0]).options[key]
        if not done or chosen.fixed or column not in DRAWN:
            continue
        if all(getattr(row, column) is None for row in done):
            why = "; they were not simulated: add simulate: {alpha_us: 10} and run again"
            raise InvalidExperimentError(
                f"{kind}: no row has {column}{why if column in SIMULATED else ''}"
            )


def _save(picture: Any, ending: str, draft: Path) -> None:
    """Write a picture without the date, so that equal figures give equal files."""
    picture.savefig(draft, format=ending.removeprefix("."), metadata=UNDATED[ending])


def titled(title: str, figure: Figure, rows: Sequence[Row]) -> str:
    """Add to a title the single size, the machines of times, and the assumptions of simulations."""
    parts = [title]
    if figure.of_one_size:
        parts += {f"Size: {size_text(row.size_bytes)}": None for row in rows if row.size_bytes}
    if figure.timed:
        parts += {f"Ours on {_machine(row)}": None for row in rows if row.host}
    if figure.simulated:
        every = dict.fromkeys(row.simulated for row in rows if row.simulated)
        parts.append(f"Simulated: {' | '.join(every)}")
    return ". ".join(filter(None, parts))


def _machine(row: Row) -> str:
    processors = row.host.get("processors", "an unknown number of")
    return f"{processors} processors, {row.host.get('machine', 'of an unknown kind')}"
