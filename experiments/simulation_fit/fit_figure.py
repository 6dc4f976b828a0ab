"""Figure of a fit: measured points and simulated curves, a panel for each collective.

A panel alone is readable at the width of a column of print, 3.3 inches, in grey.
"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.figures.figure import Axis, Figure, Panel, Point, Series, Style
from experiments.simulation_fit.fitting import Residual, SimulationFit

__all__ = ["fit_figure"]

# Curves differ by marker and line too, since prints are often grey.
_LOOKS = (
    ("o", "-", "#0072B2"),
    ("s", "--", "#D55E00"),
    ("^", ":", "#009E73"),
    ("D", "-.", "#7A3E6B"),
    ("v", "-", "#8A6D00"),
    ("P", "--", "#404040"),
)


def fit_figure(found: SimulationFit, collective: str | None = None) -> Figure:
    """Describe measurements as markers, simulations as lines; held back ones are hollow.

    Parameters
    ----------
    collective : str, optional
        Of the only panel; all have one if not given.
    """
    known = dict.fromkeys(one.measured.curve.collective for one in found.residuals)
    collectives = known if collective is None else [collective]
    methods = list(dict.fromkeys(_method(one) for one in found.residuals))
    return Figure(
        tuple(
            _panel(
                collective,
                [one for one in found.residuals if one.measured.curve.collective == collective],
                methods,
            )
            for collective in collectives
        ),
        size=(2.3, 2.0),
    )


def _method(one: Residual) -> str:
    return one.measured.curve.name.partition("/")[2]


def _panel(collective: str, residuals: Sequence[Residual], methods: Sequence[str]) -> Panel:
    series: list[Series] = []
    for number, method in enumerate(methods):
        here = sorted(
            (one for one in residuals if _method(one) == method),
            key=lambda one: one.measured.size_bytes,
        )
        if not here:
            continue
        marker, line, colour = _LOOKS[number % len(_LOOKS)]
        held_back = here[0].held_back
        kind = "held back" if held_back else "fitted"
        points = tuple(Point(one.measured.size_bytes, one.measured.algbw_gb_s) for one in here)
        curve = tuple(
            Point(one.measured.size_bytes, one.measured.size_bytes / 1e9 / one.simulated_s)
            for one in here
        )
        marks = Style(colour, marker=marker, fill="none" if held_back else "full", size=5)
        series += [
            Series(f"{method} ({kind})", marks, points),
            Series("", Style(colour, line=line), curve),
        ]
    sizes = tuple(sorted({float(one.measured.size_bytes) for one in residuals}))
    x = Axis("size", "bytes", places=sizes)
    return Panel(collective, x, Axis("algbw, GB/s", "log", better="more"), tuple(series))
