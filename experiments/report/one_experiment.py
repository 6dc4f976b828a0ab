"""What the page says of one experiment: its figures with their legend, and what had no result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.plots.losses import never_done
from experiments.plots.panels import palette_of
from experiments.report.charts import Chart, charts_of
from experiments.report.markup import Html, json_script, tag
from experiments.report.signs import sign_of
from experiments.report.sources import Source
from experiments.report.traces import Panel, Part
from experiments.results.rows import Row, Status
from experiments.results.tables import losses, notes

__all__ = ["OneExperiment", "counted", "facts"]

_MOST_PANELS = 12
"""Of a figure; the others are folded away."""


class OneExperiment:
    """A section of the page.

    Parameters
    ----------
    number : int
        In the page, from 1.
    source : Source
    """

    def __init__(self, number: int, source: Source) -> None:
        palette = palette_of(source.rows)
        words = never_done(source.rows, palette)
        self.number = number
        self.source = source
        self._charts = charts_of(source.rows, palette)
        self._signs = {sign_of(name, palette): words.get(name, name) for name in palette}
        for part in (part for panel in self._panels() for part in panel.parts):
            self._signs.setdefault(part.sign, part.sign.name)

    def _panels(self) -> Iterator[Panel]:
        return (panel for chart in self._charts for panel in chart.panels)

    @property
    def identity(self) -> str:
        """What links to it name."""
        return f"experiment-{self.number}"

    def html(self, *, alone: bool) -> Html:
        """Return the section; one that is alone has its title and facts from the page."""
        source = self.source
        return tag(
            "section",
            tag("h2", "Figures" if alone else source.title),
            tag("p", f"{source.experiment}, from {source.place}", class_="place"),
            *([] if alone else [facts(source.rows)]),
            *self._figures(),
            *self._remarks(),
            id=self.identity,
            class_="experiment",
        )

    def _figures(self) -> Iterator[Html]:
        if not self._charts:
            yield tag("p", "No row has a result to draw; what became of them is below.")
            return
        numbers = iter(range(sum(len(chart.panels) for chart in self._charts)))
        figures = [self._figure(chart, numbers) for chart in self._charts]
        yield tag("div", self._legend(), tag("div", *figures), class_="figures")

    def _figure(self, chart: Chart, numbers: Iterator[int]) -> Html:
        panels = [self._panel(panel, next(numbers), chart) for panel in chart.panels]
        grid = tag("div", *panels[:_MOST_PANELS], class_="panels")
        rest = panels[_MOST_PANELS:]
        folded = [tag("details", tag("summary", counted(len(rest), "more panel")),
                      tag("div", *rest, class_="panels"))] if rest else []  # fmt: skip
        return tag("figure", tag("h3", chart.title), grid, *folded, tag("figcaption", chart.says))

    def _panel(self, panel: Panel, number: int, chart: Chart) -> Html:
        drawn = tag(
            "div", class_="plot", data_section=self.number, data_panel=number, role="img",
            aria_label=f"{chart.title}, {panel.title}; the numbers are in the table of all rows",
            style=f"height:{panel.height}px",
        )  # fmt: skip
        return tag("div", tag("h4", panel.title), drawn, class_="panel")

    def _legend(self) -> Html:
        """Return the legend; its buttons switch what they name in all panels of the section."""
        buttons = [
            tag(
                "button", sign.drawing(), tag("span", words), type="button", aria_pressed="true",
                data_sign=place, style=f"--light:{sign.colour};--dark:{sign.on_dark}",
            )
            for place, (sign, words) in enumerate(self._signs.items())
        ]  # fmt: skip
        every = tag("button", "show all", type="button", data_all="true")
        none = tag("button", "hide all", type="button", data_all="false")
        return tag(
            "div", tag("div", *buttons, class_="signs"), tag("div", every, none, class_="every"),
            class_="legend", role="group", aria_label="legend: shows and hides",
            data_section=self.number,
        )  # fmt: skip

    def _remarks(self) -> Iterator[Html]:
        """List what has no result, and what the tables' notes say."""
        rows = self.source.rows
        place = Path(self.source.place)
        lost = losses(rows, place.parent if place.suffix in (".jsonl", ".parquet") else place)
        for what, texts in (("point", lost), ("note", notes(rows))):
            if texts:
                more = " without a result" if what == "point" else ""
                yield tag("details", tag("summary", counted(len(texts), what) + more),
                          tag("ul", *(tag("li", text) for text in texts)))  # fmt: skip

    def data(self) -> Html:
        """Return what the script draws; texts under the mouse, which figures share, once."""
        places = {sign: place for place, sign in enumerate(self._signs)}
        texts: dict[str, int] = {}
        panels = [
            {
                "layout": panel.layout,
                "signs": [places[part.sign] for part in panel.parts],
                "traces": [_sharing(part, texts) for part in panel.parts],
            }
            for panel in self._panels()
        ]
        colours = [[sign.colour, sign.on_dark] for sign in self._signs]
        document = {"colours": colours, "panels": panels, "texts": list(texts)}
        return json_script(f"data-{self.number}", document)


def _sharing(part: Part, texts: dict[str, int]) -> dict[str, Any]:
    """Return a trace with places in ``texts`` for its texts under the mouse."""
    numbers = [texts.setdefault(text, len(texts)) for text in part.trace["hovertext"]]
    return {**part.trace, "hovertext": numbers}


def counted(number: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def facts(rows: Sequence[Row]) -> Html:
    """Say how many rows there are, how they ended, where and when they ran and by which code."""
    counts = Counter(row.status for row in rows)
    ended = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])
    days = sorted({row.time[:10] for row in rows})
    said = {
        "Rows": f"{len(rows)}: {ended}",
        "Machines": "; ".join(dict.fromkeys(_machine(row) for row in rows)),
        "Commits": ", ".join(dict.fromkeys(row.commit or "unknown" for row in rows)),
        "Run": days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
    }
    return tag("dl", *(tag(name, text) for pair in said.items() for name, text in
                      zip(("dt", "dd"), pair, strict=True)), class_="facts")  # fmt: skip


def _machine(row: Row) -> str:
    if not row.host:
        return "unknown"
    host = dict(row.host)
    name, processors = host.pop("name", "unnamed"), host.pop("processors", None)
    about = [*map(str, host.values()), *([f"{processors} processors"] if processors else [])]
    return f"{name} ({', '.join(about)})" if about else str(name)
