"""Panels of marks: generation time against theoretical algbw, as in the static figure."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.measures.declared import DRAWN
from experiments.plots.panels import Palette, cluster_title
from experiments.report import hover
from experiments.report.line_panels import grouped
from experiments.report.signs import sign_of
from experiments.report.traces import Panel, Part, line, ordinates
from experiments.results.columns import medians
from experiments.results.rows import Row

__all__ = ["scatter"]

_MOST_LABELS = 18
"""Marks in a panel that are labelled with their GPUs; where there are more, the mouse tells."""


def scatter(rows: Sequence[Row], x: str, y: str, palette: Palette) -> list[Panel]:
    """Return a panel for each cluster: a mark for each method and size, sizes joined in order."""
    groups = grouped(rows, "cluster")
    drawn = [_parts(here, x, y, palette) for here in groups.values()]
    axes = ordinates(drawn, y)
    return [
        Panel(
            cluster_title(cluster),
            tuple(parts),
            {"xaxis": {"title": {"text": DRAWN[x].axis}}, "yaxis": axis},
        )
        for cluster, parts, axis in zip(groups, drawn, axes, strict=True)
        if parts
    ]


def _parts(here: Sequence[Row], x: str, y: str, palette: Palette) -> list[Part]:
    parts = []
    for series, its in reversed(grouped(here, "series").items()):
        across, up = medians(its, x), medians(its, y)
        places = [n for n in across if n in up]
        texts = [hover.of_runs([row for row in its if row.gpus == n]) for n in places]
        points = [(across[n], up[n], text) for n, text in zip(places, texts, strict=True)]
        if points:
            part = line(sign_of(series, palette), points, width=0.8)
            parts.append(Part(part.sign, {**part.trace, "text": [str(n) for n in places]}))
    if sum(len(part.trace["x"]) for part in parts) > _MOST_LABELS:
        return parts
    labels = {"mode": "lines+markers+text", "textposition": "top center", "cliponaxis": False}
    return [Part(part.sign, {**part.trace, **labels}) for part in parts]
