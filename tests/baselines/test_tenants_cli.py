"""``forestcoll baselines tenants``: several collectives share a network."""

from pathlib import Path

import pytest

from forestcoll.schedule import read_schedule, verify
from tests.command_line import document, invoke

RING = ("baselines", "tenants", "ring:nodes=4")


def test_tenants_are_shared_out_and_written(tmp_path: Path) -> None:
    first, then = document(
        *(*RING, "--tenant", "train:size=2KB,group=gpu0+gpu2,priority=1"),
        *("--tenant", "serve:demand=sendrecv:size=1KB", "--set", "epoch=slowest"),
        *("-o", tmp_path / "shared.json"),
    )
    assert (first["tenant"], then["tenant"]) == ("train", "serve")
    assert (first["epochs"], first["bound"]) == (2, 2)
    assert then["epochs"] == then["bound"] >= 1
    assert first["forwarding_outside"] != "no GPU" == then["forwarding_outside"]
    for facts in (first, then):
        schedule = read_schedule(facts["file"])
        assert verify(schedule).collective == "all-to-all"
        assert schedule.demand is not None


def test_the_facts_are_lines() -> None:
    text = invoke(*RING, "--tenant", "a:size=4KB").stdout
    assert "verified" in text
    assert "alone and together" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--tenant", "a", "--tenant", "a"), "two tenants are called 'a'"),
        (("--tenant", "a", "--set", "milp=true"), "tenants have no parameter 'milp'"),
        (("--tenant", "a", "--set", "buffer=x"), "buffer is 'x'"),
        (("--tenant", "a", "-o", "x.txt"), "the file name must end in"),
        (("--tenant", "a:group=gpu9"), "the group names 'gpu9'"),
        (("--tenant", "a:collective=reduce"), "tenant 'a', has no reduce"),
    ],
)
def test_invalid_tenants_are_refused_in_one_line(arguments: tuple[str, ...], words: str) -> None:
    result = invoke(*RING, *arguments)
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output
