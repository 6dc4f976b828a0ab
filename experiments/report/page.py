"""The page of results: one HTML file that loads no other."""

from __future__ import annotations

import base64
import hashlib
import importlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.figures.failures import never_done
from experiments.figures.figure import Figure
from experiments.figures.plotly_renderer import Entry, template
from experiments.figures.styles import palette_of
from experiments.report.charts import charts_of
from experiments.report.legend import button
from experiments.report.packed_text import packed, packed_json
from experiments.report.rows_table import RowsTable, details
from experiments.report.sources import Source
from experiments.results.rows import Row, Status
from experiments.results.tables import losses, notes
from forestcoll.atomic_write import write_whole
from forestcoll.errors import ExportError
from forestcoll.extras import missing
from forestcoll.topology.describe import counted

if TYPE_CHECKING:
    import jinja2

__all__ = ["Section", "check_ending", "facts", "page", "write_report"]

_MOST_PANELS = 12
"""Panels of a figure that are open; the others are folded away."""


def check_ending(file: Path) -> None:
    """Refuse a file name that does not end in .html or .htm.

    Raises
    ------
    ExportError
    """
    if file.suffix.lower() not in (".html", ".htm"):
        raise ExportError(f"{file}: unknown ending; use .html")


def write_report(
    sources: Sequence[Source], file: Path, title: str = "", remarks: Sequence[str] = ()
) -> Path:
    """Write a page with the figures and the table of some results; equal rows give equal bytes.

    Parameters
    ----------
    sources : sequence of Source
        From :func:`experiments.report.sources.read_sources`.
    file : Path
        Ending in .html.
    title : str
        By default that of the experiment, or the number of experiments.
    remarks : sequence of str
        For the top of the page.

    Raises
    ------
    ExportError
        For another ending, or a file that cannot be written.
    MissingPackageError
        If plotly, Jinja2 or matplotlib is not installed.
    """
    check_ending(file)
    several = f"Results of {len(sources)} experiments"
    title = title or (sources[0].title if len(sources) == 1 else several)
    # A folder's name may hold bytes that are no text; they are shown as "?".
    content = page(sources, _plotly(), title, remarks).encode("utf-8", errors="replace")
    write_whole(file, lambda draft: draft.write_bytes(content))
    return file


def _plotly() -> str:
    """Return the script of plotly.js from the package plotly; check for Jinja2 and matplotlib."""
    try:
        from plotly.offline import get_plotlyjs

        importlib.import_module("jinja2")
        importlib.import_module("matplotlib")
    except ModuleNotFoundError as error:
        raise missing(error, "results html") or error from None
    return str(get_plotlyjs())


def page(sources: Sequence[Source], plotly: str, title: str, remarks: Sequence[str] = ()) -> str:
    """Return the page, with a policy by which browsers load nothing and run no other scripts.

    Parameters
    ----------
    plotly : str
        The script of plotly.js.
    remarks : sequence of str
        For the top of the page.
    """
    rows = [row for source in sources for row in source.rows]
    sections, table, script = list(map(Section, sources)), RowsTable(sources), _asset("page.js")
    first = [chart for section in sections for chart in section.charts][:1]
    preview = _preview(first[0].figure) if first and len(sections) == 1 else ""
    hashes = " ".join(f"'sha256-{_sha256(one)}'" for one in (plotly, script))
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return _environment().from_string(_asset("page.html")).render(
        title=title, policy=policy, facts=facts(rows), remarks=remarks, script=script,
        sections=sections, table=table, css=_asset("page.css"), most_panels=_MOST_PANELS,
        preview=preview,
        packs={
            "plotly": packed(plotly),
            "figures": packed_json({
                "sections": [section.data() for section in sections],
                "templates": [template(dark=False), template(dark=True)],
            }),
            "lines": packed_json(list(table.lines())),
            "details": packed_json(details(rows)),
        },
    )  # fmt: skip


def _preview(figure: Figure) -> str:
    """Return the open panels of a figure as a picture, which is there before plotly.js has started.

    As the address of an image. Above the figures of several experiments are their contents.
    """
    from experiments.figures.matplotlib_renderer import render, style
    from forestcoll.draw.canvas import svg_text

    with style():
        text = svg_text(render(replace(figure, panels=figure.panels[:_MOST_PANELS])))
    return f"data:image/svg+xml;base64,{base64.b64encode(text.encode()).decode()}"


def _environment() -> jinja2.Environment:
    """Return the template environment; it escapes all texts, as names come from files."""
    import jinja2

    made = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    made.filters["counted"] = counted
    return made


def _asset(name: str) -> str:
    return (resources.files("experiments.report") / "assets" / name).read_text(encoding="utf-8")


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _without_line(entry: Entry) -> Entry:
    """Return what entries of a name share: some figures draw only the markers of a line."""
    style = entry.style
    return replace(entry, style=replace(style, line="", size=0) if style.marker else style)


class Section:
    """A section of the page; ``assets/page.html`` reads its attributes."""

    def __init__(self, source: Source) -> None:
        palette = palette_of(source.rows)
        words = never_done(source.rows, palette)
        self.source = source
        self.facts = facts(source.rows)
        self.charts = charts_of(source.rows, palette)
        self._plots = [plot for chart in self.charts for plot in chart.plots]
        drawn = [trace.entry for plot in self._plots for trace in plot.traces]
        entries: dict[Entry, Entry] = {}
        for entry in (*(Entry(name, palette[name]) for name in palette), *drawn):
            entries.setdefault(_without_line(entry), entry)
        self._places = {entry: place for place, entry in enumerate(entries)}
        self.legend = [button(one, words.get(one.name, one.name)) for one in entries.values()]
        place = Path(source.place)
        self.losses = losses(
            source.rows, place.parent if place.suffix in (".jsonl", ".parquet") else place
        )
        self.notes = notes(source.rows)

    def data(self) -> dict[str, Any]:
        """Return the data for the script; hover texts, which figures share, appear once."""
        texts: dict[str, int] = {}
        panels = [
            {
                "layout": plot.layout,
                "entries": [self._places[_without_line(trace.entry)] for trace in plot.traces],
                "traces": [_sharing(trace.data, texts) for trace in plot.traces],
            }
            for plot in self._plots
        ]
        return {
            "legend": list(map(asdict, self.legend)), "panels": panels, "texts": list(texts),
            "losses": self.losses, "notes": self.notes,
        }  # fmt: skip


def _sharing(trace: dict[str, Any], texts: dict[str, int]) -> dict[str, Any]:
    """Return a trace with its hover texts replaced by their places in ``texts``."""
    numbers = [texts.setdefault(text, len(texts)) for text in trace["customdata"]]
    return {**trace, "customdata": numbers}


def facts(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the number of rows by status, the machines, the commits and the dates."""
    counts = Counter(row.status for row in rows)
    ended = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])
    days = sorted({row.time[:10] for row in rows})
    return {
        "Rows": [f"{len(rows)}: {ended}"],
        "Machines": list(dict.fromkeys(_machine(row) for row in rows)),
        "Commits": list(dict.fromkeys(row.commit or "unknown" for row in rows)),
        "Run": [days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"],
    }


def _machine(row: Row) -> str:
    if not row.host:
        return "unknown"
    host = dict(row.host)
    name, processors = host.pop("name", "unnamed"), host.pop("processors", None)
    about = [*map(str, host.values()), *([f"{processors} processors"] if processors else [])]
    return f"{name} ({', '.join(about)})" if about else str(name)
