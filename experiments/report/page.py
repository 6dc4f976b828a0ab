"""The whole page: a head that allows no network, an overview, a section for each experiment."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from importlib import resources

from experiments.report.markup import Html, json_script, tag
from experiments.report.one_experiment import OneExperiment, counted, facts
from experiments.report.row_details import details
from experiments.report.rows_table import rows_table
from experiments.report.sources import Source

__all__ = ["page"]


def page(sources: Sequence[Source], plotly: str, title: str, remarks: Sequence[str] = ()) -> str:
    """Return a page of HTML that needs no other file and loads none.

    Parameters
    ----------
    sources : sequence of Source
    plotly : str
        The script of plotly.js.
    title : str
    remarks : sequence of str
        For the top of the page.
    """
    sections = [OneExperiment(number, source) for number, source in enumerate(sources, start=1)]
    rows = [row for source in sources for row in source.rows]
    scripts = [plotly.replace("</script", "<\\/script"), _asset("report.js")]
    body = tag(
        "body",
        tag("a", "Skip to the table", href="#all-rows", class_="skip"),
        tag("header", tag("h1", title), facts(rows), *(tag("p", text) for text in remarks)),
        *([_contents(sections)] if len(sections) > 1 else []),
        tag(
            "main",
            *(section.html(alone=len(sections) == 1) for section in sections),
            rows_table(sources),
        ),
        tag("noscript", tag("p", "Figures need JavaScript; the table of rows does not.")),
        *(section.data() for section in sections),
        json_script("details", details(rows)),
        *(tag("script", Html(script)) for script in scripts),
    )
    return f"<!DOCTYPE html>\n{tag('html', _head(title, scripts), body, lang='en')}\n"


def _asset(name: str) -> str:
    return (resources.files("experiments.report") / "assets" / name).read_text(encoding="utf-8")


def _head(title: str, scripts: Iterable[str]) -> Html:
    """Return the head: the browser itself refuses networks, and scripts other than these."""
    hashes = " ".join(f"'sha256-{_sha256(script)}'" for script in scripts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(_asset("report.css"))),
    )


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _contents(sections: Iterable[OneExperiment]) -> Html:
    items = [tag("li", tag("a", s.source.title, href=f"#{s.identity}"), Html(" "),
                 tag("small", f"{s.source.experiment}, {counted(len(s.source.rows), 'row')}"))
             for s in sections]  # fmt: skip
    items.append(tag("li", tag("a", "All rows", href="#all-rows")))
    return tag("nav", tag("h2", "Contents"), tag("ol", *items), aria_label="contents")
