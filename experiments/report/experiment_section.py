"""Section of the page on one experiment: figures, legend, and points without a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.figures.failures import never_done
from experiments.figures.plotly_renderer import Entry
from experiments.figures.styles import palette_of
from experiments.report.charts import charts_of
from experiments.report.legend import button
from experiments.report.sources import Source
from experiments.results.rows import Row, Status
from experiments.results.tables import losses, notes

__all__ = ["Section", "facts"]


class Section:
    """A section of the page; ``assets/page.html`` reads its attributes."""

    def __init__(self, source: Source) -> None:
        palette = palette_of(source.rows)
        words = never_done(source.rows, palette)
        self.source = source
        self.facts = facts(source.rows)
        self.charts = charts_of(source.rows, palette)
        self._plots = [plot for chart in self.charts for plot in chart.plots]
        entries = {Entry(name, palette[name]): words.get(name, name) for name in palette}
        for trace in (trace for plot in self._plots for trace in plot.traces):
            entries.setdefault(trace.entry, trace.entry.name)
        self._places = {entry: place for place, entry in enumerate(entries)}
        self.legend = [button(entry, words) for entry, words in entries.items()]
        place = Path(source.place)
        self.losses = losses(
            source.rows, place.parent if place.suffix in (".jsonl", ".parquet") else place
        )
        self.notes = notes(source.rows)

    def data(self) -> dict[str, Any]:
        """Return what the script draws; texts under the mouse, which figures share, once."""
        texts: dict[str, int] = {}
        panels = [
            {
                "layout": plot.layout,
                "entries": [self._places[trace.entry] for trace in plot.traces],
                "traces": [_sharing(trace.data, texts) for trace in plot.traces],
            }
            for plot in self._plots
        ]
        colours = [[one.light, one.dark] for one in self.legend]
        return {"colours": colours, "panels": panels, "texts": list(texts)}


def _sharing(trace: dict[str, Any], texts: dict[str, int]) -> dict[str, Any]:
    """Return a trace with places in ``texts`` for its texts under the mouse."""
    numbers = [texts.setdefault(text, len(texts)) for text in trace["customdata"]]
    return {**trace, "customdata": numbers}


def facts(rows: Sequence[Row]) -> dict[str, str]:
    """Say how many rows there are, how they ended, where and when they ran and by which code."""
    counts = Counter(row.status for row in rows)
    ended = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])
    days = sorted({row.time[:10] for row in rows})
    return {
        "Rows": f"{len(rows)}: {ended}",
        "Machines": "; ".join(dict.fromkeys(_machine(row) for row in rows)),
        "Commits": ", ".join(dict.fromkeys(row.commit or "unknown" for row in rows)),
        "Run": days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
    }


def _machine(row: Row) -> str:
    if not row.host:
        return "unknown"
    host = dict(row.host)
    name, processors = host.pop("name", "unnamed"), host.pop("processors", None)
    about = [*map(str, host.values()), *([f"{processors} processors"] if processors else [])]
    return f"{name} ({', '.join(about)})" if about else str(name)
