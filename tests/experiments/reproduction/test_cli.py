"""``forestcoll reproduction``."""

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from experiments.reproduction import claims, cli, reproduction_page
from experiments.reproduction.claims import Claim, Paper, Papers
from experiments.reproduction.cli import app
from experiments.reproduction.coverage import Coverage
from experiments.reproduction.difference import Difference
from forestcoll.errors import InvalidExperimentError
from tests.experiments.reproduction.conftest import CLONE
from tests.experiments.reproduction.test_coverage import keep


@pytest.fixture(autouse=True)
def _read_once(coverage: Coverage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands share the rows of the clone we stand in, whose reading takes a second."""
    # Now, before a test changes what it is made of.
    shared = {"shown": coverage.shown, "_read": coverage._read, "_parsed": coverage._parsed}

    def covered(root: Path) -> Coverage:
        found = Coverage(root)
        if root == CLONE:
            vars(found).update(shared)
        return found

    monkeypatch.setattr("experiments.reproduction.coverage.Coverage", covered)


@pytest.mark.slow
def test_coverage_names_missing_and_differing_numbers() -> None:
    done = CliRunner().invoke(app, ["coverage", "--clone", str(CLONE)])
    assert done.exit_code == 0, done.output
    assert "32 are reproduced, 9 lack only the machine" in done.output
    assert "30 printed, 22 here" in done.output


def test_broken_results_are_named_in_one_line_with_an_exit_code(clone: Path) -> None:
    (clone / "results/toy/rows.jsonl").write_text('{"algbw_gb_s": NaN}\n')
    for command in ("draw", "coverage"):
        done = CliRunner().invoke(app, [command, "--clone", str(clone)])
        assert done.exit_code == 1, done.output
        (line,) = (line for line in done.stderr.splitlines() if line.startswith("broken: "))
        assert "results/toy/rows.jsonl, line 1: " in line
    done = CliRunner().invoke(app, ["page", "--clone", str(clone)])
    assert isinstance(done.exception, InvalidExperimentError)


def test_an_unknown_difference_ends_with_an_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_missing", lambda found: [])
    monkeypatch.setattr(reproduction_page, "page_tables", lambda found: {"summary": []})
    monkeypatch.setattr(Coverage, "differences", (Difference("EF5", "algbw", "4", 5),))
    done = CliRunner().invoke(app, ["coverage", "--clone", str(CLONE)])
    assert done.exit_code == 1, done.output
    assert "not known to come out otherwise: EF5, algbw" in done.stderr
    monkeypatch.setattr(Coverage, "differences", (Difference("EF5", "algbw", "5", 5),))
    assert CliRunner().invoke(app, ["coverage", "--clone", str(CLONE)]).exit_code == 0


@pytest.mark.slow
def test_reruns_are_compared(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line that is printed works as it stands, from a folder beside the clone."""
    keep(clone, 2)
    stand = tmp_path / "a stand"
    stand.mkdir()
    monkeypatch.chdir(stand)
    done = CliRunner().invoke(app, ["recompute", "--clone", "..", "--results", "once more"])
    assert done.exit_code == 0, done.output
    (line,) = done.stdout.splitlines()
    assert line == "forestcoll results compare ../results/toy 'once more/toy'"
    for folder in shlex.split(line)[3:]:
        assert (stand / folder / "rows.jsonl").is_file()


def test_show_says_how_to_have_an_item_again() -> None:
    done = CliRunner().invoke(app, ["show", "ef5", "--clone", str(CLONE)])
    assert done.exit_code == 0, done.output
    assert "experiments/forestcoll/table1.yaml" in done.output
    assert "354 GB/s printed, 354.133 here (as printed, theory)" in done.output


def test_mistakes_are_typed(tmp_path: Path) -> None:
    for given in (["show", "EF99", "--clone", str(CLONE)], ["page", "--clone", str(tmp_path)]):
        done = CliRunner().invoke(app, given)
        assert isinstance(done.exception, InvalidExperimentError)


def test_claims_are_decided_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One claim on a page of its own: a mesh of 9 GPUs reaches what three trees have."""
    claim = Claim(
        source="A", place="b", said="three trees", printed="3/2", kind="theory", unit="B",
        network="torus:dims=3x3,wrap=false", collective="allreduce", rate="3/2",
    )  # fmt: skip
    monkeypatch.setattr(
        claims, "read_claims", lambda: Papers({"A": Paper("t", "n", "r")}, (claim,))
    )
    page = tmp_path / "docs" / "papers" / "claims.md"
    page.parent.mkdir(parents=True)
    mark = "forestcoll reproduction claims -->\n<!-- end -->\n"
    page.write_text(f"<!-- summary: {mark}<!-- claims: {mark}")
    done = CliRunner().invoke(app, ["claims", "--clone", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "1 claims of 1 methods: 1 reached." in done.output
    assert "| 3/2 = 1.5 B | 3/2 = 1.5 B | reached |" in page.read_text()
