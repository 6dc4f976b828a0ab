"""The page needs nothing, and nothing in rows can change what it is."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

from experiments.report.page import page
from experiments.report.sources import Source
from experiments.results.rows import Row
from tests.experiments.samples import clusters_of_rows, rings_of_rows

NASTY = "</script><script>alert(1)</script><img src=x onerror='alert(2)'>\"$\\frac{1}{2}$ é ☃"


def made(rows: list[Row], title: str = "Toys") -> str:
    source = Source("results/toy", "toy", title, tuple(rows))
    return page([source], "const plotly = '</script>';", title)


class Elements(HTMLParser):
    """Which elements there are, and what they would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.loads += [str(v) for name, v in attrs if name in ("src", "srcset", "data", "action")]
        self.loads += [str(v) for n, v in attrs if n == "href" and not str(v).startswith("#")]
        assert not [name for name, _ in attrs if name.startswith("on")]


def test_the_page_loads_nothing() -> None:
    """No element has a source, and the browser is told to refuse all others."""
    text = made(clusters_of_rows())
    assert Elements(text).loads == []
    assert 'content="default-src &#x27;none&#x27;; script-src ' in text
    assert "unsafe-eval" not in text


def test_only_the_scripts_of_the_page_may_run() -> None:
    """The browser knows them by their hashes: of the very text between the tags."""
    text = made(clusters_of_rows())
    scripts = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in text.replace("&#x27;", "'")


def test_names_cannot_be_markup() -> None:
    """The elements are those of a page with harmless names."""
    nasty = {"topology": NASTY, "cluster": NASTY, "commit": NASTY, "host": {"name": NASTY}}
    rows = [replace(row, method=NASTY, reason=NASTY, **nasty) for row in rings_of_rows()]
    plain = [replace(row, method="m", reason="r", topology="t", cluster="c", commit="d",
                     host={"name": "h"}) for row in rings_of_rows()]  # fmt: skip
    evil, good = Elements(made(rows, NASTY)), Elements(made(plain))
    assert evil.names == good.names
    assert evil.loads == []


def test_equal_rows_give_equal_pages() -> None:
    assert made(clusters_of_rows()) == made(clusters_of_rows())


def test_several_experiments_have_contents() -> None:
    """Links to each, and to the table; one alone has none, and its title once."""
    source = Source("a", "toy", "Toys", tuple(clusters_of_rows()))
    text = page([source, replace(source, place="b", title="More")], "", "Both", ["Left out: c."])
    assert '<a href="#experiment-2">More</a>' in text
    assert 'id="experiment-2"' in text
    assert "<p>Left out: c.</p>" in text
    assert "<nav" not in made(clusters_of_rows())
