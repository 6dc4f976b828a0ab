"""Figure 9 of the TE-CCL paper, from the rows of both experiments."""

import shutil
from pathlib import Path

import pytest

from experiments.figures.figure import Figure
from experiments.reproduction.copy_benefit import draw
from tests.experiments.figures.described import lines_of

ROOT = Path(__file__).parents[3]


def test_copies_save_half_of_large_transfers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """At 210 MB copies more than double the rate: the paper has half the time on DGX1."""
    for name in ("teccl-figure9", "teccl-figure9-without-copies"):
        folder = tmp_path / "results" / name
        folder.mkdir(parents=True)
        shutil.copy(ROOT / "results" / name / "rows.jsonl", folder)
    found: list[Figure] = []
    monkeypatch.setattr(
        "experiments.figures.matplotlib_renderer.save", lambda figure, _: found.append(figure)
    )
    assert draw(tmp_path) == tmp_path / "results" / "teccl" / "figure9.png"
    (panel,) = found[0].panels
    percent = dict(lines_of(panel)["copies=with"])
    assert percent[210_000_000] > 90
    assert percent[2100] < 20
