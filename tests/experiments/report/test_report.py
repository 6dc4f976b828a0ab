"""A report is a file that is there as a whole, and the same for the same rows."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.report.report import write_report
from experiments.report.sources import Source
from experiments.results.rows import Row
from forestcoll.errors import ExportError, ForestCollError
from tests.experiments.samples import clusters_of_rows


def sources(rows: list[Row]) -> list[Source]:
    return [Source("results/toy", "toy", "Toys", tuple(rows))]


def test_equal_rows_give_equal_bytes(tmp_path: Path) -> None:
    """With plotly.js inside once; a name that is no text is shown with a question mark."""
    files = [tmp_path / name for name in ("a.html", "b.HTM")]
    for file in files:
        write_report([replace(sources(clusters_of_rows())[0], place="\udcff")], file)
    first, second = (file.read_bytes() for file in files)
    assert first == second
    assert b"<title>Toys</title>" in first
    assert first.count(b"plotly.js v") <= 2
    assert b"toy, from ?<" in first


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.pdf", "unknown ending; use .html"),
        ("none/a.html", "there is no directory .*none; create it first"),
        ("folder.html", "cannot be written"),
    ],
)
def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ExportError, match=message):
        write_report(sources(clusters_of_rows()), tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.html"]


def test_without_plotly_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.delitem(sys.modules, "plotly.offline", raising=False)
    with pytest.raises(ForestCollError, match=r"pip install 'forestcoll\[report\]'"):
        write_report(sources(clusters_of_rows()), tmp_path / "a.html")
    assert not list(tmp_path.iterdir())


def test_thousands_of_rows_are_quick_and_small(tmp_path: Path) -> None:
    """3000 rows, in seconds and below 10 MB."""
    row = clusters_of_rows()[0]
    rows = [replace(row, topology=f"t:n={n}", gpus=n + 2, point=f"p{n}") for n in range(3000)]
    start = time.process_time()
    file = write_report(sources(rows), tmp_path / "a.html")
    assert time.process_time() - start < 10
    assert file.stat().st_size < 10e6
