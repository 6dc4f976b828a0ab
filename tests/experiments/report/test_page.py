"""The page needs nothing, and nothing in rows can change what it is."""

import base64
import hashlib
import json
import re
import sys
import time
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from experiments.report.packed_text import unpacked
from experiments.report.page import Section, facts, page, write_report
from experiments.report.sources import Source
from experiments.results.rows import Row, Status
from forestcoll.errors import ExportError, ForestCollError
from tests.experiments.samples import clusters_of_rows, rings_of_rows

NASTY = "</script><script>alert(1)</script><img src=x onerror='alert(2)'>\"$\\frac{1}{2}$ é ☃"


def pack(text: str, name: str) -> str:
    """The packed text of that name in a page."""
    inside = text.partition(f'<script type="text/plain" id="{name}">')[2]
    return inside.partition("</script>")[0]


def made(rows: list[Row], title: str = "Toys") -> str:
    source = Source("results/toy", "toy", title, tuple(rows))
    return page([source], "const plotly = '</script>';", title)


@cache
def page_of_clusters() -> str:
    return made(clusters_of_rows())


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
    """The only source is a picture in the page, and the policy makes the browser refuse others."""
    text = page_of_clusters()
    (picture,) = Elements(text).loads
    assert picture.startswith("data:image/svg+xml;base64,")
    assert 'content="default-src &#39;none&#39;; script-src ' in text
    assert "unsafe-eval" not in text


def test_only_the_scripts_of_the_page_may_run() -> None:
    """The browser knows them by their hashes: that of the page and the unpacked plotly.js."""
    text = page_of_clusters()
    (own,) = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    for script in (own, unpacked(pack(text, "plotly"))):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in text.replace("&#39;", "'")


def test_names_cannot_be_markup() -> None:
    """The elements are those of a page with harmless names."""
    nasty = {"topology": NASTY, "cluster": NASTY, "commit": NASTY, "host": {"name": NASTY}}
    rows = [replace(row, method=NASTY, reason=NASTY, **nasty) for row in rings_of_rows()]
    plain = [replace(row, method="m", reason="r", topology="t", cluster="c", commit="d",
                     host={"name": "h"}) for row in rings_of_rows()]  # fmt: skip
    evil, good = Elements(made(rows, NASTY)), Elements(made(plain))
    assert evil.names == good.names
    assert [one.partition(",")[0] for one in evil.loads] == ["data:image/svg+xml;base64"]


@pytest.mark.slow
def test_equal_rows_give_equal_pages() -> None:
    assert made(clusters_of_rows()) == page_of_clusters()


def test_several_experiments_have_contents() -> None:
    """Links to each, and to the table; one alone has none, and its title once."""
    source = Source("a", "toy", "Toys", tuple(clusters_of_rows()))
    text = page([source, replace(source, place="b", title="More")], "", "Both", ["Left out: c."])
    assert '<a href="#experiment-2">More</a>' in text
    assert 'id="experiment-2"' in text
    assert Elements(text).loads == []  # nobody would see a picture below the contents
    assert "<p>Left out: c.</p>" in text
    assert "<nav" not in page_of_clusters()


@pytest.mark.slow
def test_many_panels_are_folded_away() -> None:
    """Of 14 the last two, in two figures; of three sizes of each the last 30, in the third.

    The picture that stands for the first figure has its open panels.
    """
    rows = [replace(row, cluster=f"c{n}") for n in range(14) for row in clusters_of_rows()[:3]]
    text = made(rows)
    assert text.count("<summary>2 more panels</summary>") == 2
    assert text.count("<summary>30 more panels</summary>") == 1
    (picture,) = Elements(text).loads
    drawn = base64.b64decode(picture.partition("base64,")[2]).decode()
    assert [f">c{n}<" in drawn for n in (0, 11, 12)] == [True, True, False]


def test_points_without_results_are_counted_and_listed() -> None:
    """Points are counted and listed; without any figure a line says why."""
    lost = [replace(row, status=Status.FAILED, reason="crash") for row in clusters_of_rows()]
    text = made(lost)
    assert "<p>No row has a result to draw" in text
    assert "<summary>6 points without a result</summary>" in text


def test_data_cannot_end_its_script() -> None:
    """No angle bracket is left, and the same data come out again."""
    text = made([replace(row, method=NASTY) for row in clusters_of_rows()])
    for name in ("plotly", "figures", "lines", "details"):
        assert "<" not in pack(text, name)
    assert NASTY in json.loads(unpacked(pack(text, "details")))["values"]


def sources(rows: list[Row]) -> list[Source]:
    return [Source("results/toy", "toy", "Toys", tuple(rows))]


@pytest.mark.slow
def test_equal_rows_give_equal_files(tmp_path: Path) -> None:
    """With plotly.js inside; a name that is no text is shown with a question mark."""
    files = [tmp_path / name for name in ("a.html", "b.HTM")]
    for file in files:
        write_report([replace(sources(clusters_of_rows())[0], place="\udcff")], file)
    first, second = (file.read_bytes() for file in files)
    assert first == second
    assert b"<title>Toys</title>" in first
    assert "plotly.js v" in unpacked(pack(first.decode(), "plotly"))[:1000]
    assert b"toy, from ?<" in first


@pytest.mark.first_rows(2)
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.pdf", "unknown ending; use .html"),
        ("file/a.html", "cannot be written"),
        ("folder.html", "cannot be written"),
    ],
)
def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(ExportError, match=message):
        write_report(sources(clusters_of_rows()), tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {"folder.html", "file"}


@pytest.mark.parametrize("library", ["plotly", "jinja2", "matplotlib"])
def test_errors_name_extras(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, "plotly.offline", raising=False)
    with pytest.raises(ForestCollError, match=rf"{library}; .*'forestcoll\[experiments\]'"):
        write_report(sources(clusters_of_rows()), tmp_path / "a.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_thousands_of_rows_are_quick_and_small(tmp_path: Path) -> None:
    """3000 rows, in seconds and below 3 MB."""
    row = clusters_of_rows()[0]
    rows = [replace(row, topology=f"t:n={n}", gpus=n + 2, point=f"p{n}") for n in range(3000)]
    start = time.process_time()
    file = write_report(sources(rows), tmp_path / "a.html")
    assert time.process_time() - start < 10
    assert file.stat().st_size < 3e6


ROWS = clusters_of_rows()


def section(rows: list[Row], place: str = "results/toy") -> Section:
    return Section(Source(place, "toy", "Toys", tuple(rows)))


def test_every_trace_belongs_to_an_entry_of_the_legend() -> None:
    """The entry has the colours, for a light ground and a dark one; texts are kept once."""
    one = section(ROWS)
    drawn = one.data()
    assert [(entry.light, entry.words) for entry in one.legend] == [
        (entry["light"], entry["words"]) for entry in drawn["legend"]
    ]
    assert sum(len(chart.plots) for chart in one.charts) == len(drawn["panels"])
    for panel in drawn["panels"]:
        assert len(panel["entries"]) == len(panel["traces"])
        assert max(panel["entries"]) < len(one.legend)
        for trace in panel["traces"]:
            assert max(trace["customdata"]) < len(drawn["texts"])
    assert len(set(drawn["texts"])) == len(drawn["texts"])


def test_a_method_has_one_entry_for_lines_and_for_markers_alone() -> None:
    """Generation time against GPUs is drawn with lines, against the optimum without."""
    words = [entry.words for entry in section(clusters_of_rows()).legend]
    assert words.count("forestcoll") == words.count("ring") == 1


def test_losses_are_listed_and_named_in_the_legend() -> None:
    """One that never has a result says so there."""
    one = section(rings_of_rows())
    assert len(one.losses) == 2
    assert "unsupported: multitree on ring:nodes=3: no" in one.losses
    assert "multitree: unsupported" in [entry.words for entry in one.legend]


def test_rows_without_any_success_have_no_panel() -> None:
    one = section([replace(row, status=Status.FAILED, reason="crash") for row in ROWS])
    assert one.charts == []
    assert one.data()["panels"] == []


def test_facts_count_statuses_machines_commits_and_dates() -> None:
    assert facts([*rings_of_rows(), *ROWS[:1]]) == {
        "Rows": ["5: 3 ok, 2 unsupported"],
        "Machines": ["here (2 processors)", "unknown"],
        "Commits": ["abc", "unknown"],
        "Run": ["2026-01-01"],
    }


@pytest.mark.slow
def test_many_commits_are_folded_away() -> None:
    rows = [replace(row, commit=f"c{n}") for n, row in enumerate(ROWS[:3])]
    assert "<details><summary>3</summary>c0; c1; c2</details>" in made(rows)
    assert "c0; c1</dd>" in made(rows[:2])


def test_logs_are_found_from_the_page() -> None:
    """They are in the folder of the rows, whose name may have a dot."""
    row = replace(ROWS[0], status=Status.FAILED, reason="crash", log="logs/p.log")
    for place, log in (("results/v1.2", "results/v1.2"), ("results/toy/rows.jsonl", "results/toy")):
        (loss,) = section([row], place).losses
        assert f"crash; see {log}/logs/p.log" in loss
