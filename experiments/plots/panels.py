"""Panels by cluster or topology, and what is lost said in words above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.plots.drawing import GLYPHS, Look, look, panels
from experiments.results.columns import failed_places, series_of
from experiments.results.rows import Row, Status

__all__ = ["Palette", "cluster_panels", "cluster_title", "lost_in_words", "palette_of"]

CLUSTERS: Mapping[str, str] = {
    "dgx_a100": "NVIDIA DGX A100",
    "dgx_h100": "NVIDIA DGX H100",
    "mi250": "AMD MI250",
}
"""Titles of panels, where the family's own name is not how people call it."""

Palette = Mapping[str, Look]
"""How each method looks, by its name with its parameters."""


def palette_of(rows: Sequence[Row]) -> Palette:
    """Give each method a look of its own."""
    return {series: look(position) for position, series in enumerate(series_of(rows))}


def cluster_title(name: str) -> str:
    """Return a cluster's name as people say it."""
    family, colon, options = name.partition(":")
    return f"{CLUSTERS.get(family, family)}{', ' if colon else ''}{options}"


def cluster_panels(rows: Sequence[Row]) -> tuple[Figure, dict[str, Axes]]:
    """Return a figure with a panel for each cluster, and the panels by its name."""
    clusters = list(dict.fromkeys(row.cluster for row in rows))
    figure, axes = panels([cluster_title(name) for name in clusters])
    return figure, dict(zip(clusters, axes, strict=True))


def lost_in_words(rows: Sequence[Row], palette: Palette, **panel: str) -> list[tuple[str, str]]:
    """Say which methods gave no result in a panel, and in which colour to say it."""
    ((column, name),) = panel.items()
    sizes: dict[tuple[str, Status], list[str]] = {}
    for (series, size), row in failed_places(
        [row for row in rows if getattr(row, column) == name]
    ).items():
        sizes.setdefault((series, row.status), []).append("?" if size is None else str(size))
    order = list(palette)
    return [
        (
            f"{series}: {GLYPHS[status][1]}"
            + (f" at {', '.join(where)} GPUs" if column == "cluster" else ""),
            palette[series]["color"],
        )
        for (series, status), where in sorted(sizes.items(), key=lambda o: order.index(o[0][0]))
    ]
