"""Choice of the figures for given rows, with the text below each.

Clusters of several sizes give lines against the number of GPUs, others give bars. Where the size of
the data varies, lines against it are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from experiments import published
from experiments.figures import plotly_renderer
from experiments.figures.bars import bars
from experiments.figures.bound_lines import BORDERS, cut_bounds
from experiments.figures.figure import Figure
from experiments.figures.lines import lines, lines_by_size
from experiments.figures.panels import grouped
from experiments.figures.plotly_renderer import Plot
from experiments.figures.scatters import scatter
from experiments.figures.styles import Palette
from experiments.measures.declared import DRAWN
from experiments.results.row_groups import medians, scaling_series
from experiments.results.rows import Row, Status
from forestcoll.problem.sizes import size_text

__all__ = ["Chart", "charts_of"]

_BY_GPUS = (
    "generation_s", "algbw_gb_s", "algbw_synchronous_gb_s", "algbw_makespan_gb_s",
    "bandwidth_runtime",
)  # fmt: skip
_BOUNDED = "algbw_gb_s"
_BY_SIZE = ("algbw_simulated_gb_s", "time_simulated_s")
_ASIDE = ("ratio", "generation_s")


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure for the page, with the text below it."""

    title: str
    text: str  # below it
    plots: tuple[Plot, ...]
    figure: Figure  # of which the plots are


def charts_of(rows: Sequence[Row], palette: Palette) -> list[Chart]:
    """Return the figures of the rows of an experiment; none where no row has a result."""
    rows = scaling_series(rows)
    sizes = {int(size) for row in rows for size in row.sizes}
    charts = list(_of_networks(rows, _BY_GPUS, palette))
    bounds = cut_bounds([row for its in _bounded(rows) for row in its], _BOUNDED)
    charts += _chart("Bounds by borders against GPUs", rows, [_BOUNDED], bounds)
    if any(len(_places(its)) > 1 for its in grouped(rows, "cluster").values()):
        title = f"{_label(_ASIDE[1])} against {DRAWN[_ASIDE[0]].label}"
        charts += _chart(title, rows, _ASIDE, scatter(rows, *_ASIDE, palette))
    sized = [one for row in rows for one in row.by_size() if one.size_bytes]
    if len(sizes) == 1:
        charts += _of_networks(sized, _BY_SIZE[:1], palette)
    for y in _BY_SIZE if len(sizes) > 1 else ():
        if _any(sized, y):
            title = f"{_label(y)} against the size of the data"
            charts += _chart(title, sized, [y], lines_by_size(sized, "size_bytes", y, palette))
    return charts


def _of_networks(rows: Sequence[Row], columns: Iterable[str], palette: Palette) -> Iterator[Chart]:
    """Yield a figure of each column against GPUs, and one of bars for clusters of one size."""
    clusters = grouped(rows, "cluster").values()
    scaling_study = [row for its in clusters if len(_places(its)) > 1 for row in its]
    single = [row for its in clusters if len(_places(its)) <= 1 for row in its]
    for y in columns:
        if _any(scaling_study, y):
            title = f"{_label(y)} against GPUs"
            yield from _chart(title, scaling_study, [y], lines(scaling_study, y, palette))
        if _any(single, y):
            yield from _chart(_label(y), single, [y], bars(single, y, palette))


def _bounded(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the rows of each cluster with more than one known kind of border."""
    for its in grouped(rows, "cluster").values():
        if sum(bool(medians(its, column)) for column in BORDERS) > 1:
            yield its


def _chart(
    title: str, rows: Sequence[Row], columns: Sequence[str], figure: Figure
) -> Iterator[Chart]:
    plots = plotly_renderer.render(figure)
    if plots:
        texts = dict.fromkeys(_text(rows, column) for column in columns)
        texts |= dict.fromkeys(_beside(rows, plots, column) for column in columns)
        yield Chart(title, " ".join(filter(None, texts)), tuple(plots), figure)


def _label(y: str) -> str:
    label = DRAWN[y].label
    return label[0].upper() + label[1:]


def _text(rows: Sequence[Row], y: str) -> str:
    if DRAWN[y].simulated:
        how = dict.fromkeys(row.simulated for row in rows if row.simulated)
        sizes = {row.size_bytes for row in rows if row.size_bytes}
        size = f" Size of the data: {size_text(sizes.pop())}." if len(sizes) == 1 else ""
        return f"Simulated, not measured. Assumed: {' | '.join(how) or 'not said'}.{size}"
    if y == "generation_s":
        repeated = ", the median of the repetitions" if any(row.repetition for row in rows) else ""
        return f"Measured: wall time of the method alone{repeated}, on the machines named above."
    return "Theoretical: computed from each verified schedule, without latencies, not measured."


def _beside(rows: Sequence[Row], plots: Iterable[Plot], y: str) -> str:
    """Return a sentence on the published values in the panels, with their sources."""
    entries = (trace.entry for plot in plots for trace in plot.traces)
    names = {entry.name for entry in entries if entry.style.role == "published"}
    clusters = {row.cluster for row in rows}
    known = [m for m in published.marks(y) if m.label in names and m.cluster in clusters]
    if not known:
        return ""
    kind = "times, measured on other machines" if y == "generation_s" else "values"
    if DRAWN[y].simulated:
        kind = "measurements on the hardware that their panel is of"
    sources = dict.fromkeys(mark.source for mark in known)
    return f"Hollow marks are published {kind} ({'; '.join(sources)})."


def _places(rows: Iterable[Row]) -> set[int]:
    return {row.gpus for row in rows if row.gpus}


def _any(rows: Sequence[Row], y: str) -> bool:
    return any(row.status is Status.OK for row in rows) and bool(medians(rows, y))
