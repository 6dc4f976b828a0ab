"""Who comes next where the best cannot be exported."""

from pathlib import Path

import pytest

from experiments.advice.bundle import runners_up as module
from experiments.advice.bundle.runners_up import runners_up
from experiments.advice.bundle.size_ranges import Part
from experiments.advice.bundle.tuned_index import read_tuned
from experiments.advice.tuning import tune
from forestcoll.schedule.program import Program
from tests.experiments.advice.bundle.tuned_ring import METHODS, NETWORK, tuned


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tuned(tmp_path_factory.mktemp("tuned") / "ring")


def part(folder: Path) -> Part:
    """The first range, of ``direct``."""
    one = read_tuned(folder).ranges[0]
    path = folder / one.file
    return Part(one.first_bytes, one.last_bytes, one.use, path, "direct", why="large")


def no_direct(program: Program) -> str:
    return "large" if program.method == "direct" else ""


def test_a_runner_up_is_the_best_of_the_others_with_its_loss(folder: Path, tmp_path: Path) -> None:
    """As a race among them alone would have it, size by size."""
    index, best = read_tuned(folder), part(folder)
    found = runners_up(index, best, tmp_path / "kept", refuses=no_direct, seconds=30)
    assert [one.use for one in found] == ["bfb"]
    assert (found[0].first_bytes, found[0].last_bytes) == (best.first_bytes, best.last_bytes)
    assert (found[0].instead_of, found[0].why, found[0].method) == ("direct", "large", "bfb")
    tried = [at.size_bytes for at in index.sizes if at.size_bytes <= best.last_bytes]
    others = tune(NETWORK, sizes=tried, methods=METHODS[1:])
    times = {at.size_bytes: at.time_us for at in index.sizes}
    lost = [at.time_s * 1e6 / times[at.size_bytes] - 1 for at in others.sizes]
    assert found[0].slower == pytest.approx(max(lost))
    assert found[0].slower > 0.05


def test_no_second_search(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"refuses": no_direct, "seconds": 30.0}
    first = runners_up(read_tuned(folder), part(folder), tmp_path / "kept", **asked)  # type: ignore[arg-type]
    monkeypatch.setattr(module, "tune", None)
    again = runners_up(read_tuned(folder), part(folder), tmp_path / "kept", **asked)  # type: ignore[arg-type]
    assert first == again


def test_sizes_without_a_runner_up_stay_open(folder: Path, tmp_path: Path) -> None:
    found = runners_up(
        read_tuned(folder), part(folder), tmp_path / "kept", refuses=lambda _: "no", seconds=30
    )
    assert [(one.schedule, one.use) for one in found] == [(None, "direct")]
    assert found[0].why.startswith(
        "large; nor can another: no schedule that was made may be used; "
    )
