"""Bundles: a file for each range of sizes."""

from pathlib import Path
from typing import Any

import pytest

from experiments.advice.bundle import bundling
from experiments.advice.bundle.bundle_check import faults_in
from experiments.advice.bundle.bundling import Bundling
from experiments.advice.bundle.tuned_index import read_tuned
from forestcoll.errors import InvalidParameterError, VerificationError
from forestcoll.runtimes.msccl import read_algorithm
from forestcoll.runtimes.msccl.exporter import MscclOptions, executor_limits
from forestcoll.runtimes.msccl.interpreter import interpret
from forestcoll.runtimes.mscclpp import read_plan
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions
from forestcoll.runtimes.python_modules.python_module import TorchOptions
from forestcoll.runtimes.simulators.chakra_trace import ChakraOptions
from forestcoll.runtimes.simulators.goal import GoalOptions
from tests.experiments.advice.bundle.tuned_ring import tuned

MOST = 2**20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tuned(tmp_path_factory.mktemp("tuned") / "ring")


def test_each_size_has_one_file_which_is_right(folder: Path, tmp_path: Path) -> None:
    """The runtime takes a file for sizes from minBytes to maxBytes, both included."""
    made = Bundling(folder, tmp_path / "bundle", MscclOptions(protocol="LL")).run()
    files = sorted((tmp_path / "bundle" / "msccl").iterdir())
    read = [read_algorithm(file) for file in files]
    assert [file.name for file in files] == ["01-direct.xml", "02-bfb.xml"]
    assert all(interpret(one).is_right and one.protocol == "LL" for one in read)
    border = read_tuned(folder).ranges[1].first_bytes
    sizes = [(one.min_bytes, one.max_bytes) for one in read]
    assert sizes == [(1024, border - 1), (border, MOST)]
    assert sizes == [(one.first_bytes, one.last_bytes) for one in made.ranges]
    assert all(one.executed and one.why is None for one in made.ranges)
    assert list(faults_in(tmp_path / "bundle")) == []


def test_a_bundle_of_plans_is_right(folder: Path, tmp_path: Path) -> None:
    """MSCCL++ takes a plan by its sizes, too."""
    made = Bundling(folder, tmp_path / "bundle", MscclppOptions()).run()
    files = sorted((tmp_path / "bundle" / "mscclpp").iterdir())
    read = [read_plan(file).plan for file in files]
    sizes = [(one.min_bytes, one.max_bytes) for one in read]
    assert sizes == [(one.first_bytes, one.last_bytes) for one in made.ranges]
    assert len({one.name for one in read}) == len(files)
    assert all(one.executed for one in made.ranges)
    assert list(faults_in(tmp_path / "bundle")) == []


def test_misfits_get_next(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU that sends to 5 others has 11 threadblocks; one in a ring 5, with its copy."""
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 8)
    made = Bundling(folder, tmp_path / "bundle").run()
    first, second = made.ranges
    assert (first.use, first.instead_of, second.use) == ("bfb", "direct", "bfb")
    assert "11 threadblocks of a GPU, and 8 are the most" in (first.why or "")
    assert first.slower_than_the_best_by > 0.05
    assert second.slower_than_the_best_by == 0
    assert list(faults_in(tmp_path / "bundle")) == []


def test_misfits_leave_a_gap(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 2)
    made = Bundling(folder, tmp_path / "bundle").run()
    assert [one.file for one in made.ranges] == [None, None]
    assert all("nor can another" in (one.why or "") for one in made.ranges)
    assert list(faults_in(tmp_path / "bundle")) == []


def test_files_that_would_not_take_all_calls_are_not_used(folder: Path, tmp_path: Path) -> None:
    """The chunks of ``bfb`` are 12 or more, a multiple of 6 in any case: 4096 is none."""
    made = Bundling(folder, tmp_path / "all", multiple_of=4096).run()
    assert all("takes calls of a multiple of" in (one.why or "") for one in made.ranges)
    chunks = Bundling(folder, tmp_path / "bundle").run().ranges
    both = (chunks[0].chunks or 1) * (chunks[1].chunks or 1)
    taken = Bundling(folder, tmp_path / "some", multiple_of=both).run()
    assert [one.file for one in taken.ranges] == ["msccl/01-direct.xml", "msccl/02-bfb.xml"]


def test_a_format_without_sizes_has_them_in_the_index(folder: Path, tmp_path: Path) -> None:
    """And one that nothing executes says so."""
    made = Bundling(folder, tmp_path / "bundle", GoalOptions()).run()
    assert [one.file for one in made.ranges] == ["goal/01-direct.goal", "goal/02-bfb.goal"]
    assert not any(one.sizes_in_file or one.executed for one in made.ranges)
    assert list(faults_in(tmp_path / "bundle")) == []


def test_traces_are_too_many_files_for_a_bundle(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="Chakra needs a trace for each rank; export"):
        Bundling(folder, tmp_path / "bundle", ChakraOptions())
    assert not (tmp_path / "bundle").exists()


def test_python_modules_are_executed_when_they_are_written(folder: Path, tmp_path: Path) -> None:
    """They have no sizes, and a check of a bundle runs no Python that it finds."""
    made = Bundling(folder, tmp_path / "bundle", TorchOptions()).run()
    assert [one.file for one in made.ranges] == ["torch/01-direct.py", "torch/02-bfb.py"]
    assert not any(one.sizes_in_file for one in made.ranges)
    assert all("ranks in one process" in one.executed[0] for one in made.ranges if one.executed)
    assert list(faults_in(tmp_path / "bundle")) == []


def test_interrupts_resume(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first file is kept, there is no bundle; then only the second is exported."""
    exports: list[Any] = []
    export = bundling.export

    def counted(*asked: Any) -> Any:
        exports.append(asked)
        return export(*asked)

    def stops(stage: str, done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(bundling, "export", counted)
    with pytest.raises(KeyboardInterrupt):
        Bundling(folder, tmp_path / "bundle").run(stops)
    assert len(exports) == 1
    assert not (tmp_path / "bundle").exists()
    again = Bundling(folder, tmp_path / "bundle")
    assert again.checkpoint.done == 1
    again.run()
    assert len(exports) == 2
    assert list(faults_in(tmp_path / "bundle")) == []


def test_the_same_is_the_same_bundle(folder: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        Bundling(folder, tmp_path / name).run()
    files = [
        {path.relative_to(tmp_path / name): path.read_bytes() for path in one}
        for name in ("one", "two")
        if (one := [path for path in (tmp_path / name).rglob("*") if path.is_file()])
    ]
    assert files[0] == files[1]


def test_a_wrong_file_is_not_written(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoilt(*asked: Any) -> Any:
        found = export(*asked)
        return type(found)(found.text.replace('srcoff="1"', 'srcoff="0"'), found.facts)

    export = bundling.export
    monkeypatch.setattr(bundling, "export", spoilt)
    with pytest.raises(VerificationError, match="is not right, so it is not written"):
        Bundling(folder, tmp_path / "bundle").run()
    assert not (tmp_path / "bundle").exists()


def test_bad_questions_are_reported(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="the multiple of elements is 0"):
        Bundling(folder, tmp_path / "bundle", multiple_of=0)
