"""The command that checks plans of MSCCL++."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import assert_refused, document, invoke
from tests.runtimes.mscclpp.plans import BROADCAST, GATHER, changed, dropped


def written(folder: Path, data: dict[str, Any] | str) -> Path:
    path = folder / "plan.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_a_right_file_is_a_screen_that_ends_with_yes() -> None:
    result = invoke("check-plan", BROADCAST)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"file          {BROADCAST}",
        "name          by hand: broadcast of four",
        "collective    broadcast",
        "calls         out of place",
        "GPUs          4",
        "protocol      Simple",
        "threadblocks  1",
        "operations    7",
        "chunks        1",
        "min bytes     0",
        "max bytes     18446744073709551615",
        "executed      a launch out of place",
        "findings      none",
        "right         yes",
    ]


def test_a_wrong_file_ends_with_one_and_names_the_operation(tmp_path: Path) -> None:
    path = written(tmp_path, dropped(GATHER, 0, 5))
    result = invoke("check-plan", path)
    assert result.exit_code == 1
    assert "launch: put of GPU 0, threadblock 0, operation 4" in result.stdout
    assert result.stdout.splitlines()[-1] == "right         no"
    assert not result.stderr
    found = json.loads(invoke("check-plan", path, "--json").stdout)
    assert not found["right"]
    assert (found["findings"][0]["gpu"], found["findings"][0]["step"]) == (0, 4)


def test_what_the_loader_ignores_is_noted(tmp_path: Path) -> None:
    path = written(tmp_path, changed(GATHER, 0, 3, comment="own part"))
    found = document("check-plan", path)
    assert found["right"]
    assert "ops[3].comment is unknown" in found["findings"][0]["message"]
    assert "notes         gpus[0].threadblocks[0].ops[3]" in invoke("check-plan", path).stdout


def test_threadblocks_that_run_at_once_and_the_root_may_be_given() -> None:
    assert invoke("check-plan", BROADCAST, "--root", "0", "--threadblocks", "1").exit_code == 0
    assert invoke("check-plan", BROADCAST, "--threadblocks", "0").exit_code == 2
    assert invoke("check-plan", BROADCAST, "--machine", "h100", "--root", "0").exit_code == 0
    assert (
        invoke("check-plan", BROADCAST, "--machine", "h100", "--threadblocks", "9").exit_code == 2
    )
    assert invoke("check-plan", BROADCAST, "--root", "1").exit_code == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{", "plan.json: not JSON"),
        (changed(GATHER, 0, 3, name="sum"), "gpus[0].threadblocks[0].ops[3].name is 'sum'"),
        (changed(GATHER, 0, 3, name="cpkt"), "packets are not modelled"),
    ],
)
def test_bad_plans_take_one_line(tmp_path: Path, data: dict[str, Any] | str, message: str) -> None:
    assert_refused(message, "check-plan", written(tmp_path, data))


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    assert_refused("cannot be read: no such file", "check-plan", tmp_path / "none.json")
