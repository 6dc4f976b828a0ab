"""Panels of bounds: what borders of GPUs, of linked GPUs and of boxes allow, against the GPUs.

As in :mod:`experiments.plots.cut_bounds`: the least of the bounds is the optimum wherever its line
meets that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.config.kinds import AXES
from experiments.plots.cut_bounds import BORDERS
from experiments.plots.panels import cluster_title
from experiments.report import hover
from experiments.report.line_panels import grouped, optimum, published_by_gpus
from experiments.report.signs import sign_of
from experiments.report.traces import Panel, Part, count_axis, line, ordinates
from experiments.results.columns import medians
from experiments.results.rows import Row

__all__ = ["borders"]

_PALETTE = {
    name: {"color": colour, "marker": marker, "linestyle": dash}
    for name, colour, marker, dash in BORDERS.values()
}


def borders(rows: Sequence[Row], y: str) -> list[Panel]:
    """Return a panel for each cluster of which more than one kind of border is known.

    Parameters
    ----------
    rows : sequence of Row
    y : str
        The algbw that they bound.
    """
    groups = {
        cluster: here
        for cluster, here in grouped(rows, "cluster").items()
        if sum(bool(medians(here, column)) for column in BORDERS) > 1
    }
    drawn = [list(_parts(cluster, here, y)) for cluster, here in groups.items()]
    panels = []
    for (cluster, here), parts, axis in zip(
        groups.items(), drawn, ordinates(drawn, y), strict=True
    ):
        across = count_axis([row.gpus for row in here if row.gpus], AXES["gpus"])
        axis = {**axis, "title": {"text": f"bound on {axis['title']['text']}"}}
        panels.append(Panel(cluster_title(cluster), tuple(parts), {"xaxis": across, "yaxis": axis}))
    return panels


def _parts(cluster: str, here: Sequence[Row], y: str) -> Iterator[Part]:
    yield from optimum(here, y)
    for column, (name, *_) in BORDERS.items():
        bounds = medians(here, column)
        if bounds:
            points = [
                (n, value, hover.of_bound(f"border of {name}", value, y, f"{n} GPUs"))
                for n, value in bounds.items()
            ]
            yield line(sign_of(name, _PALETTE), points)
    yield from published_by_gpus(cluster, here, y)
