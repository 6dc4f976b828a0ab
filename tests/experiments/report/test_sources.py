"""Folders, files and folders of folders give experiments with their rows."""

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.report.sources import narrowed, read_sources
from experiments.results.rows import Row, RowFile, Status
from forestcoll.errors import InvalidExperimentError
from tests.experiments.samples import rings_of_rows


def write(folder: Path, rows: list[Row]) -> Path:
    with RowFile(folder / "rows.jsonl") as file:
        for row in rows:
            file.append(row)
    return folder


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    """Two experiments, and a folder of one that has not begun."""
    write(tmp_path / "b", rings_of_rows())
    rows = rings_of_rows(experiment="quickstart")
    write(tmp_path / "a", [row for row in rows if row.experiment == "quickstart"])
    write(tmp_path / "empty", [])
    (tmp_path / "empty" / "rows.jsonl").write_text('{"half": ')
    return tmp_path


def test_a_folder_of_folders_is_all_that_is_inside(parent: Path) -> None:
    """By name; the toolkit's experiments have their titles; what has no rows is said."""
    sources, passed = read_sources([parent])
    assert [(s.experiment, s.title, len(s.rows)) for s in sources] == [
        ("quickstart", "Allgather on A100, H100 and MI250 clusters", 2),
        ("toy", "toy", 4),
    ]
    assert passed == [f"{parent / 'empty'}: there are no rows in it yet"]


def test_experiments_of_one_file_are_apart(tmp_path: Path) -> None:
    """A rows file may be joined of several; a place that is named twice counts once."""
    rows = rings_of_rows()
    other = [replace(row, experiment="other", point=f"o{row.point}") for row in rows]
    file = write(tmp_path / "a", [*rows, *other]) / "rows.jsonl"
    sources, _ = read_sources([file, file])
    assert [source.experiment for source in sources] == ["toy", "other"]


def test_no_rows_and_no_folder_are_mistakes(tmp_path: Path) -> None:
    with pytest.raises(InvalidExperimentError, match="there is no such folder or file"):
        read_sources([tmp_path / "none"])
    with pytest.raises(InvalidExperimentError, match=r"there is no rows\.jsonl in this folder"):
        read_sources([tmp_path])
    write(tmp_path / "a", [])
    with pytest.raises(InvalidExperimentError, match="there are no rows in it yet"):
        read_sources([tmp_path])


def test_rows_that_cannot_be_read_are_a_mistake(parent: Path) -> None:
    """Also in a folder of folders: nothing is left out unsaid."""
    (parent / "c").mkdir()
    (parent / "c" / "rows.jsonl").mkdir()
    with pytest.raises(InvalidExperimentError, match=r"there is no rows\.jsonl in this folder"):
        read_sources([parent])


def test_filters_hold_for_all_sources_together(parent: Path) -> None:
    """A method that one of them lacks is no mistake; one that all lack is, and so is nothing."""
    sources, _ = read_sources([parent])
    assert [len(source.rows) for source in narrowed(sources, ["multitree"])] == [2]
    with pytest.raises(InvalidExperimentError, match="no row has the method 'rnig'"):
        narrowed(sources, ["rnig"])
    with pytest.raises(InvalidExperimentError, match="none of the 6 rows is left"):
        narrowed(sources, statuses=[Status.FAILED])
