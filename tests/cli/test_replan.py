"""The command that puts a new schedule in place of an old one."""

from pathlib import Path

import pytest

from forestcoll.schedule import read_schedule, verify
from tests.command_line import assert_refused, document


def test_a_schedule_is_replanned_for_a_dead_nic(tmp_path: Path) -> None:
    old, new = tmp_path / "old.npz", tmp_path / "new.npz"
    document("generate", "dgx_a100:boxes=4", "-o", old)
    text = document("replan", old, "-o", new, "--without", "b1.gpu3 - ib")
    assert text["algbw_before_gb_s"]["exact"] == "800/3"
    assert text["algbw_gb_s"] == text["optimum_gb_s"]
    assert text["algbw_gb_s"]["exact"] == "700/3"
    assert text["changes"]["k"] == text["optimum_k"] == 7
    assert text["verified"] is True
    verify(read_schedule(new))
    same = document("replan", old, "-o", new, "--without", "b1.gpu3 - ib", "--same-k")
    assert same["changes"]["k"] == 1
    assert same["changes"]["trees"] == 32
    assert same["algbw_gb_s"]["value"] < text["algbw_gb_s"]["value"]
    back = document("replan", new, "-o", old, "--topology", "dgx_a100:boxes=4")
    assert back["algbw_gb_s"]["exact"] == "800/3"


def test_both_phases_of_an_allreduce_are_reported(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    document("generate", "ring:nodes=4", "--collective", "allreduce", "-o", old)
    text = document("replan", old, "-o", new, "--scale", "gpu0 - gpu1=1/2")
    assert set(text["reduce"]) == set(text["gather"]) >= {"trees", "gpus_touched"}


@pytest.mark.parametrize(
    ("options", "message"),
    [([], "nothing has changed"), (["--without", "gpu9"], "'gpu9' is not a node of ring:nodes=4")],
)
def test_bad_requests_take_one_line(options: list[str], message: str, tmp_path: Path) -> None:
    old = tmp_path / "old.npz"
    document("generate", "ring:nodes=4", "-o", old)
    assert_refused(message, "replan", old, "-o", tmp_path / "new.npz", *options)
    steps = tmp_path / "steps.npz"
    document("baselines", "run", "bruck", "ring:nodes=4", "-o", steps)
    assert_refused(
        "a StepSchedule is not replanned", "replan", steps, "-o", old, "--without", "gpu0"
    )


def test_the_name_of_the_new_file_is_looked_at_first(tmp_path: Path) -> None:
    assert_refused(
        "new.txt", "replan", tmp_path / "none.npz", "-o", tmp_path / "new.txt", "--without", "x"
    )
