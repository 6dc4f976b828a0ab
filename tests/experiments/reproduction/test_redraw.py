"""All figures again, and experiments that fit some hours."""

from pathlib import Path

import pytest

from experiments.reproduction.coverage import Coverage
from experiments.reproduction.redraw import Drawn, chosen, recompute, redraw
from forestcoll.errors import InvalidExperimentError
from tests.experiments.reproduction.conftest import TOY
from tests.experiments.reproduction.test_coverage import keep


def test_figures_are_drawn_from_the_rows_alone(clone: Path) -> None:
    """A summary and a figure as PNG and PDF; no row is made or lost."""
    toy = clone / "experiments/toys/toy.yaml"
    toy.write_text(f"{TOY}figures: [theoretical-algbw]\n")
    keep(clone, 2)
    before = (clone / "results/toy/rows.jsonl").read_bytes()
    assert list(redraw(Coverage(clone), 1)) == [Drawn("toy", 3)]
    names = {file.name for file in (clone / "results/toy").iterdir()}
    assert names == {"rows.jsonl", "summary.csv", "theoretical-algbw.png", "theoretical-algbw.pdf"}
    assert (clone / "results/toy/rows.jsonl").read_bytes() == before


def test_broken_results_do_not_stop_the_others(clone: Path) -> None:
    """One is broken; the summary of another is in the way of a folder."""
    keep(clone, 2)
    rows = (clone / "results/toy/rows.jsonl").read_bytes()
    for name in ("a", "b"):
        (clone / f"experiments/toys/{name}.yaml").write_text(TOY.replace("toy", name))
        (clone / "results" / name).mkdir()
        (clone / "results" / name / "rows.jsonl").write_bytes(rows if name == "a" else b"x\n")
    (clone / "results/a/summary.csv").mkdir()
    done = {one.name: one for one in redraw(Coverage(clone), 1)}
    assert done["toy"] == Drawn("toy", 1)
    for name in ("a", "b"):
        assert name in done[name].fault
        assert not done[name].files


def test_the_quickest_experiments_fit_and_the_others_are_named(clone: Path) -> None:
    """Two of 3 s each fit 5 s once; one without rows takes nobody knows how long."""
    (clone / "experiments/toys/new.yaml").write_text(TOY.replace("toy", "new"))
    keep(clone, 2)
    fits, others = chosen(Coverage(clone), 5.0)
    assert [choice.name for choice in fits] == ["toy"]
    assert [choice.name for choice in others] == ["new"]
    assert chosen(Coverage(clone), 2.0)[0] == []


def test_rows_that_are_kept_are_not_run_over(clone: Path, tmp_path: Path) -> None:
    keep(clone, 2)
    fits, _ = chosen(Coverage(clone), 5.0)
    with pytest.raises(InvalidExperimentError, match="choose another folder"):
        list(recompute(fits, clone / "results"))
    ((choice, code),) = recompute(fits, tmp_path / "again")
    assert (choice.name, code) == ("toy", 0)
    assert len((tmp_path / "again/toy/rows.jsonl").read_text().splitlines()) == 2
