"""The commands ``bundle export`` and ``bundle check``."""

from pathlib import Path
from typing import Any

import pytest

from experiments.advice.bundle import bundling
from forestcoll.runtimes.msccl.exporter import executor_limits
from tests.command_line import assert_refused, document, invoke
from tests.experiments.advice.bundle.tuned_ring import tuned


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tuned(tmp_path_factory.mktemp("tuned") / "ring")


def test_it_is_exported_and_checked(folder: Path, tmp_path: Path) -> None:
    shown = invoke("bundle", "export", folder, "-o", tmp_path / "bundle")
    assert shown.exit_code == 0
    assert "ring:nodes=6, allgather of 6 GPUs, for msccl" in shown.stdout
    assert "msccl/02-bfb.xml  bfb" in shown.stdout
    assert shown.stdout.endswith("index.json and 2 files, each executed\n")
    checked = document("bundle", "check", tmp_path / "bundle")
    assert (checked["right"], checked["files"], checked["open"]) == (True, 2, None)


def test_machines_get_the_index(folder: Path, tmp_path: Path) -> None:
    options = ("--protocol", "LL", "--instances", "2", "--channels", "2", "--in-place")
    found = document("bundle", "export", folder, "-o", tmp_path / "bundle", *options)
    assert found["options"] == {"protocol": "LL", "channels": 2, "instances": 2, "in_place": True}
    assert [one["protocol"] for one in found["ranges"]] == ["LL", "LL"]


@pytest.mark.slow
def test_unused_entries_cost(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 8)
    shown = invoke("bundle", "export", folder, "-o", tmp_path / "bundle").stdout
    assert "% slower than the best" in shown
    assert "not used\n  direct: " in shown
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 2)
    shown = invoke("bundle", "export", folder, "-o", tmp_path / "none").stdout
    assert "open  direct" in shown
    assert len(document("bundle", "check", tmp_path / "none")["open"]) == 2


def test_a_spoilt_bundle_fails_its_check(folder: Path, tmp_path: Path) -> None:
    invoke("bundle", "export", folder, "-o", tmp_path / "bundle")
    (tmp_path / "bundle" / "msccl" / "01-direct.xml").unlink()
    checked = invoke("bundle", "check", tmp_path / "bundle")
    assert checked.exit_code == 1
    assert "msccl/01-direct.xml cannot be read" in checked.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "pdf"), "there is no format 'pdf'"),
        (("--protocol", "UD"), "the protocol is 'UD'"),
        (("--multiple-of", "0"), "the multiple of elements is 0"),
        (("-o", "README.md/folder"), "README.md is a file; name a folder"),
    ],
)
def test_bad_options(folder: Path, tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    assert_refused(message, "bundle", "export", folder, "-o", tmp_path / "bundle", *options)
    assert list(tmp_path.iterdir()) == []
    assert invoke("bundle", "export", tmp_path, "-o", tmp_path / "bundle").exit_code == 2
    assert invoke("bundle", "check", tmp_path).exit_code == 2


@pytest.mark.slow
def test_an_interrupted_export_names_its_checkpoint(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C at the second of two files; the same command goes on there."""
    export, files = bundling.export, [True]

    def one_only(*asked: Any) -> Any:
        if not files:
            raise KeyboardInterrupt
        files.pop()
        return export(*asked)

    command = ("bundle", "export", folder, "-o", tmp_path / "bundle")
    with monkeypatch.context() as patch:
        patch.setattr(bundling, "export", one_only)
        stopped = invoke(*command)
    assert stopped.exit_code == 130
    kept = tmp_path / ".bundle.checkpoint"
    assert stopped.stderr.splitlines() == [
        f"note: 1 file done, kept in {kept}; the same command goes on there",
        "error: interrupted",
    ]
    assert not (tmp_path / "bundle").exists()
    assert invoke(*command).exit_code == 0
    assert not kept.exists()
