"""What tuning found as a document, and as files."""

import json
import os
from pathlib import Path

import pytest

from experiments.advice.tuning import Tuning, tune
from experiments.advice.tuning.records import INDEX, Folder, document
from forestcoll.cli.facts import as_json
from forestcoll.compilation import compile_program
from forestcoll.errors import ExportError, InvalidParameterError
from forestcoll.forest_over_time.planned_simulation import PlannedSimulator
from forestcoll.schedule import verify
from forestcoll.schedule.files import read_schedule
from forestcoll.schedule.simulate import Simulator

NETWORK = "dgx_a100:boxes=2"
SIZES = ["1KB..16KB", "1MB", "1GB"]


@pytest.mark.first_rows(1)
@pytest.mark.parametrize("ending", [".npz", ".json"])
def test_files_are_proved_and_take_the_time_of_the_index(tmp_path: Path, ending: str) -> None:
    folder = Folder(tmp_path / "best", ending)
    found = tune(NETWORK, sizes=SIZES, keep=folder.keep)
    index = json.loads((tmp_path / "best" / INDEX).read_text())
    assert index["complete"]
    assert index["simulated"]
    files = {one["file"] for one in index["ranges"]}
    assert {path.name for path in (tmp_path / "best").iterdir()} == files | {INDEX}
    assert all(name.endswith(ending) for name in files)
    for at in index["sizes"]:
        schedule = read_schedule(tmp_path / "best" / at["file"])
        verify(schedule)
        assert schedule.collective == "allgather"
        planned = PlannedSimulator.of(schedule) if at["by_plan"] else None
        again = Simulator(compile_program(schedule)).run(
            at["size_bytes"], found.model, at["pipeline_chunks"]
        )
        if planned is not None and (by_plan := planned.run(at["size_bytes"], found.model)):
            assert by_plan.time_s < again.time_s
            again = by_plan
        assert again.time_s * 1e6 == at["time_us"]
    for one in index["ranges"]:
        ends = [
            at
            for at in index["sizes"]
            if at["size_bytes"] in (one["first_bytes"], one["last_bytes"])
        ]
        assert {at["file"] for at in ends} == {one["file"]}


def test_the_document_is_json_and_says_all() -> None:
    found = tune("ring:nodes=4", "allreduce", ["1KB", "1MB"])
    shown = json.loads(as_json(document(found, trials=True)))
    assert shown["format"] == "forestcoll-tuning"
    assert shown["alpha_us"] == {"exact": "10", "value": 10.0}
    assert shown["sharing"] == "fair"
    assert [at["size_bytes"] for at in shown["sizes"] if at["asked"]] == [1024, 2**20]
    assert len(shown["candidates"]) == len(found.candidates)
    tried = [one["name"] for one in shown["candidates"] if one["tried"]]
    for at in shown["sizes"]:
        assert [trial["name"] for trial in at["trials"]] == tried
        times = [trial["time_us"] for trial in at["trials"] if trial["time_us"] is not None]
        assert min(times) == pytest.approx(at["time_us"])
        assert at["share_of_the_bound"] == pytest.approx(at["bound_us"] / at["time_us"])
        assert at["file"] is None
    assert "trials" not in document(found)["sizes"][0]


def test_results_survive_an_interruption(tmp_path: Path) -> None:
    folder = Folder(tmp_path)

    def stop(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("sizes", 3):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(NETWORK, sizes=SIZES, keep=folder.keep, progress=stop)
    index = json.loads((tmp_path / INDEX).read_text())
    assert not index["complete"]
    assert [at["size_bytes"] for at in index["sizes"]] == [1024, 2048, 4096]
    for one in index["ranges"]:
        verify(read_schedule(tmp_path / one["file"]))


@pytest.mark.slow
def test_files_that_no_range_uses_in_the_end_are_taken_away(tmp_path: Path) -> None:
    """While sizes are still to come, ranges within a share may use others."""
    folder = Folder(tmp_path)
    written: set[str] = set()

    def keep(found: Tuning) -> None:
        folder.keep(found)
        written.update(path.name for path in tmp_path.iterdir())

    few = ["bfb", "direct", "swing"]
    network, sizes = "torus:dims=2x4", ["64KB..1MB"]
    tune(network, "allreduce", sizes, methods=few, within=0.1, plans=False, keep=keep)
    index = json.loads((tmp_path / INDEX).read_text())
    files = {one["file"] for one in index["ranges"]}
    assert {path.name for path in tmp_path.iterdir()} == files | {INDEX} < written


def test_an_old_index_is_replaced_once_there_is_something_new(tmp_path: Path) -> None:
    before: set[str] = set()
    for spec, method in (
        ("ring:nodes=5", "ring"),
        ("ring:nodes=4", "direct"),
        ("ring:nodes=5", "bfb"),
    ):
        folder = Folder(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == before
        tune(spec, sizes=["1KB"], methods=[method], keep=folder.keep)
        assert json.loads((tmp_path / INDEX).read_text())["topology"] == spec
        before = {f"{method}.npz", INDEX}
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("text", ["old", "[]", "{}", '{"format": "other"}', '"x"', "\xff"])
def test_an_index_that_is_not_ours_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / INDEX).write_bytes(text.encode("latin-1"))
    with pytest.raises(ExportError, match=r"index\.json: is not an index of forestcoll tune"):
        Folder(tmp_path)
    assert (tmp_path / INDEX).read_bytes() == text.encode("latin-1")


def test_schedules_that_no_index_names_are_left_alone(tmp_path: Path) -> None:
    """Others than those that it writes are no concern of it."""
    for name in ("mine.npz", "forest-mine.npz", "ring.txt"):
        (tmp_path / name).touch()
    Folder(tmp_path)
    for name in ("forest-k1.npz", "forest-depth-3.json", "nccl-ring.npz", "ring.npz"):
        (tmp_path / name).touch()
        if name == "nccl-ring.npz":
            Folder(tmp_path)
        else:
            with pytest.raises(ExportError, match=rf"{name}: no index\.json here names this file"):
                Folder(tmp_path)
        (tmp_path / name).unlink()


def test_a_directory_in_a_schedules_place_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "forest-optimal-k.npz").mkdir()
    with pytest.raises(ExportError, match=r"optimal-k\.npz: is a directory where a schedule may"):
        Folder(tmp_path)


def test_folders_that_cannot_be_are_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ExportError, match="is a file; name a folder"):
        Folder(tmp_path / "file")
    with pytest.raises(ExportError, match="file is a file; name a folder"):
        Folder(tmp_path / "file" / "such")
    with pytest.raises(InvalidParameterError, match=r"written as \.json or \.npz, not as \.xml"):
        Folder(tmp_path, ".xml")
    Folder(tmp_path / "new" / "folder")
    assert not (tmp_path / "new").exists()


def test_a_read_only_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *given: False)
    with pytest.raises(ExportError, match="no permission to write"):
        Folder(tmp_path)


def test_a_folder_that_cannot_be_made_after_all_is_reported(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "best")
    (tmp_path / "best").touch()
    with pytest.raises(ExportError, match="cannot be written"):
        tune("ring:nodes=4", sizes=["1KB"], keep=folder.keep)
