"""``forestcoll reproduction``."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from experiments.reproduction.cli import app
from forestcoll.errors import InvalidExperimentError
from tests.experiments.reproduction.conftest import CLONE


def test_coverage_names_what_is_missing_and_what_differs() -> None:
    done = CliRunner().invoke(app, ["coverage", "--clone", str(CLONE)])
    assert done.exit_code == 0, done.output
    assert "EB13  waiting" in done.output
    assert "30 printed, 22 here" in done.output


def test_show_says_how_to_have_an_item_again() -> None:
    done = CliRunner().invoke(app, ["show", "ef5", "--clone", str(CLONE)])
    assert done.exit_code == 0, done.output
    assert "experiments/forestcoll/table1.yaml" in done.output
    assert "354 GB/s printed, 354.133 here (as printed, theory)" in done.output


def test_mistakes_are_typed(tmp_path: Path) -> None:
    for given in (["show", "EF99", "--clone", str(CLONE)], ["page", "--clone", str(tmp_path)]):
        done = CliRunner().invoke(app, given)
        assert isinstance(done.exception, InvalidExperimentError)
