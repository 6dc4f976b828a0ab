"""Panels by cluster or topology, and the looks of what stands in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.measures.declared import BOUNDED, DRAWN
from experiments.plots.drawing import panels
from experiments.plots.looks import Look, looks_of, variant
from experiments.results.rows import Row

__all__ = ["Palette", "cluster_panels", "cluster_title", "palette_of", "topology_panels"]

CLUSTERS: Mapping[str, str] = {
    "dgx_a100": "NVIDIA DGX A100",
    "dgx_h100": "NVIDIA DGX H100",
    "mi250": "AMD MI250",
}
"""Titles of panels, where the family's own name is not how people call it."""

Palette = Mapping[str, Look]
"""How each method looks, by its name with its parameters."""

_APART = 10.0
"""What is that many times lower than in another panel has an ordinate of its own."""


def palette_of(rows: Sequence[Row]) -> Palette:
    """Give each method its look, and each choice of its parameters a variant of that.

    Where series coincide, the first lies on top and the others' larger marks show around it.
    """
    methods = {row.series: row.method for row in rows}
    looks, seen = looks_of(methods.values()), Counter[str]()
    palette = {}
    for position, (series, method) in enumerate(methods.items()):
        depth = {"markersize": 4.5 + 1.5 * min(position, 3), "zorder": 2.9 - 0.01 * position}
        palette[series] = {**variant(looks[method], seen[method]), **depth}
        seen[method] += 1
    return palette


def cluster_title(name: str) -> str:
    """Return a cluster's name as people say it."""
    family, space, changes = name.partition(" ")
    family, colon, options = family.partition(":")
    title = f"{CLUSTERS.get(family, family)}{', ' if colon else ''}{options}"
    return f"{title}{space}{changes}"


def cluster_panels(rows: Sequence[Row], y: str) -> tuple[Figure, dict[str, Axes]]:
    """Return a figure with a panel for each cluster, and the panels by its name.

    ``y`` is the column along the ordinate.
    """
    groups = _grouped(rows, "cluster")
    figure, axes = panels(list(map(cluster_title, groups)), shared=_alike(groups.values(), y))
    return figure, dict(zip(groups, axes, strict=True))


def topology_panels(rows: Sequence[Row], y: str) -> tuple[Figure, dict[str, Axes]]:
    """Return a figure with a panel for each topology, and the panels by its name."""
    groups = _grouped(rows, "topology")
    figure, axes = panels(list(groups), shared=_alike(groups.values(), y))
    return figure, dict(zip(groups, axes, strict=True))


def _grouped(rows: Sequence[Row], column: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(getattr(row, column), []).append(row)
    return groups


def _alike(groups: Iterable[Sequence[Row]], y: str) -> bool:
    """Say whether all panels can be read on one ordinate; on a logarithmic one they can."""
    columns = (y, "optimum_gb_s") if y in BOUNDED else (y,)
    found = ([n for row in rows for c in columns if (n := getattr(row, c))] for rows in groups)
    heights = [max(numbers) for numbers in found if numbers]
    return DRAWN[y].logarithmic or not heights or max(heights) <= _APART * min(heights)
