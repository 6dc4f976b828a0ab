"""All figures again, and experiments that fit some hours."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest

from benchmarks.lp import bench_alltoall_skew
from experiments.reproduction.coverage import Coverage
from experiments.reproduction.redraw import Drawn, chosen, recompute, redraw
from forestcoll.errors import InvalidExperimentError
from tests.experiments.reproduction.conftest import TOY
from tests.experiments.reproduction.test_coverage import keep

ROOT = Path(__file__).parents[3]

FIT = "tests/experiments/simulation_fit/test_simulation_page.py"

OTHERS = {
    "results/all_to_all/matchings.png": "tests/experiments/reproduction/test_redraw.py",
    "results/all_to_all/skew.png": "tests/experiments/reproduction/test_redraw.py",
    "results/forestcoll/figure13.png": "tests/experiments/reproduction/test_training_gap.py",
    "results/own-times-over-bound/allgather-and-reduce-scatter.png": (
        "tests/experiments/own/test_times_figure.py"
    ),
    "results/own-times-over-bound/allreduce-and-broadcast.png": (
        "tests/experiments/own/test_times_figure.py"
    ),
    "results/simulation-fit/allgather.png": FIT,
    "results/simulation-fit/allreduce.png": FIT,
    "results/simulation-fit/reduce-scatter.png": FIT,
    "results/teccl/figure9.png": "tests/experiments/reproduction/test_copy_benefit.py",
}
"""Pictures in the pages that no experiment draws, and who tests the command that does."""


@pytest.mark.slow
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


@pytest.mark.slow
def test_rows_that_are_kept_are_not_run_over(clone: Path, tmp_path: Path) -> None:
    keep(clone, 2)
    fits, _ = chosen(Coverage(clone), 5.0)
    with pytest.raises(InvalidExperimentError, match="choose another folder"):
        list(recompute(fits, clone / "results"))
    ((choice, code),) = recompute(fits, tmp_path / "again")
    assert (choice.name, code) == ("toy", 0)
    assert len((tmp_path / "again/toy/rows.jsonl").read_text().splitlines()) == 2


def pictures() -> Iterator[tuple[Path, Path]]:
    """Yield each page with each of its pictures of results; tests/across has the drawings."""
    written = (page for page in (ROOT / "docs").rglob("*.md") if "generated" not in page.parts)
    for page in (ROOT / "README.md", *sorted(written)):
        for place in re.findall(r"!\[[^\]]*\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            picture = (page.parent / place).resolve()
            if picture.is_relative_to(ROOT / "results"):
                yield page, picture


def test_every_picture_of_a_page_is_drawn_by_a_tested_command() -> None:
    """``forestcoll reproduction draw`` draws those of experiments, from the kinds of their file."""
    coverage = Coverage(ROOT)
    found = list(pictures())
    assert len(found) > 10
    for page, picture in found:
        assert picture.is_file(), f"{page}: {picture}"
        name = str(picture.relative_to(ROOT))
        if picture.parent.name in coverage.experiments:
            kinds = coverage.parsed(picture.parent.name).experiment.figures
            assert picture.stem in {re.sub("[:=,]+", "-", kind) for kind in kinds}, name
        else:
            assert (ROOT / OTHERS[name]).is_file()


@pytest.mark.slow
def test_pictures_of_all_to_alls_are_drawn_from_their_tables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for table in ("skew.csv", "matchings.csv"):
        shutil.copy(ROOT / "results" / "all_to_all" / table, tmp_path)
    monkeypatch.setattr("sys.argv", ["bench", "--draw", str(tmp_path)])
    with mpl.rc_context():
        bench_alltoall_skew.main()
    assert {file.name for file in tmp_path.glob("*.png")} == {"skew.png", "matchings.png"}


def test_the_quickstart_is_drawn_with_the_experiments_of_papers() -> None:
    """Its file stands beside the folders, and its figures in the README."""
    assert Coverage(ROOT).experiments["quickstart"] == ROOT / "experiments" / "quickstart.yaml"
