"""Panels of lines: a column against the number of GPUs, or against the size of the data.

As in :mod:`experiments.plots.lines`: medians of the repetitions, a panel for each cluster or
topology, and letters where a method has no result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from experiments import published
from experiments.config.kinds import AXES
from experiments.measures.declared import BOUNDED, DRAWN
from experiments.plots.losses import INK, partly_done
from experiments.plots.marks import HOLLOW, found_by_gpus, found_by_size
from experiments.plots.panels import Palette, cluster_title
from experiments.report import hover
from experiments.report.signs import band, hollow, rule, sign_of
from experiments.report.traces import (
    Panel,
    Part,
    bound,
    count_axis,
    letters,
    line,
    marks,
    ordinates,
    side,
)
from experiments.results.columns import (
    BEYOND,
    failed_places,
    medians,
    simulated_bounds,
)
from experiments.results.rows import Row, Status

__all__ = ["by_gpus", "by_size", "grouped", "optimum", "published_by_gpus"]

_LANE = 15
"""Pixels of the letters of one method, above a panel."""

_HEIGHT = 292
_MARGINS = 74
"""Pixels above and below what is drawn, as in ``assets/report.js``."""


def by_gpus(rows: Sequence[Row], y: str, palette: Palette) -> list[Panel]:
    """Return a panel for each cluster; any algbw under the optimum."""
    told = {row.series for row in partly_done(rows)}
    groups = grouped(rows, "cluster")
    drawn = [list(_by_gpus(cluster, here, y, palette, told)) for cluster, here in groups.items()]
    axes = ordinates(drawn, y)
    lanes = max(map(_lanes, drawn), default=0)  # the same for all, so that panels are in line
    panels = []
    for (cluster, here), parts, axis in zip(groups.items(), drawn, axes, strict=True):
        across = count_axis([row.gpus for row in here if row.gpus], AXES["gpus"])
        layout, height = _with_lanes({"xaxis": across, "yaxis": axis}, lanes)
        panels.append(Panel(cluster_title(cluster), tuple(parts), layout, height))
    return panels


def by_size(rows: Sequence[Row], y: str, palette: Palette) -> list[Panel]:
    """Return a panel for each topology; ``rows`` are those of one size each."""
    groups = grouped([row for row in rows if row.size_bytes], "topology")
    drawn = [list(_by_size(here, y, palette)) for here in groups.values()]
    axes = ordinates(drawn, y)
    panels = []
    for (topology, here), parts, axis in zip(groups.items(), drawn, axes, strict=True):
        sizes = [row.size_bytes for row in here if row.size_bytes]
        across = count_axis(sizes, AXES["size_bytes"], sizes=True)
        panels.append(Panel(topology, tuple(parts), {"xaxis": across, "yaxis": axis}))
    return panels


def grouped(rows: Sequence[Row], column: str) -> dict[str, list[Row]]:
    """Put the rows together that have the same in a column."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(getattr(row, column), []).append(row)
    return groups


def _by_gpus(
    cluster: str, here: Sequence[Row], y: str, palette: Palette, told: set[str]
) -> Iterator[Part]:
    sizes = [row.gpus for row in here if row.gpus]
    if y in BOUNDED:
        yield from optimum(here, y)
    lost = {key: row for key, row in failed_places(here).items() if key[1] is not None}
    yield from _at_limits(lost, sizes, y, palette)
    yield from _lines(here, y, palette, "gpus")
    timed = bool(DRAWN[y].limit)
    above = {k: row for k, row in lost.items() if not (timed and row.status is Status.TIMEOUT)}
    yield from _above({key: row for key, row in above.items() if key[0] in told}, palette)
    yield from published_by_gpus(cluster, here, y)


def published_by_gpus(cluster: str, here: Sequence[Row], y: str) -> Iterator[Part]:
    """Yield the published values of a cluster's panel."""
    sizes = [row.gpus for row in here if row.gpus]
    values = published.marks(y, {row.collective for row in here})
    for position, (name, its) in enumerate(found_by_gpus(cluster, sizes, values).items()):
        if its:
            points = [(float(m.gpus), m.value, hover.of_mark(m, y)) for m in its]
            yield marks(hollow(name, HOLLOW[position % 3]), points)


def _by_size(here: Sequence[Row], y: str, palette: Palette) -> Iterator[Part]:
    if y in BEYOND:
        best = simulated_bounds(here, y)
        words = "beyond which no simulation is"
        if best:
            points = [(float(n), v, hover.of_bound("bound", v, y, words)) for n, v in best.items()]
            yield bound(band("bound"), points)
    yield from _lines(here, y, palette, "size_bytes")
    first = {row.method: row.series for row in reversed(here)}
    values = published.marks(y, {row.collective for row in here})
    for (label, method), its in found_by_size(here, values).items():
        points = [(float(m.size_bytes or 0), m.value, hover.of_mark(m, y)) for m in its]
        look = palette.get(first.get(method, ""))
        marker, colour = (look["marker"], look["color"]) if look else ("*", INK)
        yield marks(hollow(label, marker, colour), points)


def _lines(here: Sequence[Row], y: str, palette: Palette, along: str) -> Iterator[Part]:
    """Yield the lines, that of the first method last, as it lies on top."""
    for series, its in reversed(grouped(here, "series").items()):
        at: dict[int, list[Row]] = {}
        for row in its:
            at.setdefault(getattr(row, along), []).append(row)
        values = medians(its, y, along)
        if values:
            points = [(n, value, hover.of_runs(at[n])) for n, value in values.items()]
            yield line(sign_of(series, palette), points)


def optimum(here: Sequence[Row], y: str) -> Iterator[Part]:
    """Yield the band that no rate exceeds."""
    best = {row.gpus: row for row in here if row.gpus and row.optimum_gb_s}
    if best:
        points = [
            (n, rate, hover.of_bound("optimum", rate, y, f"{n} GPUs", best[n].optimum_by or ""))
            for n in sorted(best)
            if (rate := best[n].optimum_gb_s) is not None
        ]
        yield bound(band("optimum"), points)


Lost = Mapping[tuple[str, int | None], Row]
"""A row without a result for each method and number of GPUs."""


def _at_limits(lost: Lost, sizes: Sequence[int], y: str, palette: Palette) -> Iterator[Part]:
    """Yield letters of timeouts at their limits, where time is drawn, and these limits."""
    limit = DRAWN[y].limit
    late = {key: row for key, row in lost.items() if limit and row.status is Status.TIMEOUT}
    for edge in sorted({getattr(row, limit) for row in late.values()}):
        text = hover.of_bound("limit", edge, y)
        yield bound(rule("limit"), [(n, edge, text) for n in sorted(set(sizes))])
    crowds = Counter((size, getattr(row, limit)) for (_, size), row in late.items())
    taken = Counter[tuple[int | None, float]]()
    for series, its in _by_series(late).items():
        places = [(size, getattr(row, limit)) for size, row in its]
        sides = [side(taken[place], crowds[place]) for place in places]
        taken.update(places)
        points = [(*place, hover.of_loss(row)) for place, (_, row) in zip(places, its, strict=True)]
        yield letters(sign_of(series, palette), points, [row.status for _, row in its], sides)


def _above(lost: Lost, palette: Palette) -> Iterator[Part]:
    """Yield letters above the panel, those of each method in a lane of its own."""
    for lane, (series, its) in enumerate(_by_series(lost).items()):
        points = [(float(size), float(lane), hover.of_loss(row)) for size, row in its]
        yield letters(sign_of(series, palette), points, [row.status for _, row in its])


def _by_series(lost: Lost) -> dict[str, list[tuple[int, Row]]]:
    found: dict[str, list[tuple[int, Row]]] = {}
    for (series, size), row in lost.items():
        if size is not None:
            found.setdefault(series, []).append((size, row))
    return found


def _lanes(parts: Sequence[Part]) -> int:
    return sum(part.trace.get("yaxis") == "y2" for part in parts)


def _with_lanes(layout: dict[str, object], lanes: int) -> tuple[dict[str, object], int]:
    """Make room above a panel for lanes of letters."""
    if not lanes:
        return layout, _HEIGHT
    room = _LANE * lanes + 8
    height = _HEIGHT + room
    share = room / (height - _MARGINS)
    axis = layout["yaxis"]
    assert isinstance(axis, dict)
    above = {
        "domain": [1 - share + 8 / (height - _MARGINS), 1],
        "range": [lanes - 0.5, -0.5],
        "visible": False,
        "fixedrange": True,
    }
    return {**layout, "yaxis": {**axis, "domain": [0, 1 - share]}, "yaxis2": above}, height
