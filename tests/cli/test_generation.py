"""Collectives on the command line: the same options for optimum and generate."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from forestcoll import Allreduce, read_schedule
from tests.command_line import document, invoke

COMMANDS = {
    "allgather": [],
    "reduce-scatter": [],
    "broadcast": ["--root", "b1.gpu3"],
    "reduce": ["--root", "11"],
}


@pytest.mark.parametrize("collective", COMMANDS)
def test_generate_attains_what_optimum_tells(collective: str, tmp_path: Path) -> None:
    """Time by time, and the file verifies as that collective."""
    options = ["dgx_a100:boxes=2", "--collective", collective, *COMMANDS[collective]]
    path = tmp_path / "schedule.json"
    best = document("optimum", *options)
    made = document("generate", *options, "-o", path)
    assert best["collective"] == made["collective"] == collective
    assert made["algbw_gb_s"] == best["algbw_gb_s"]
    verdict = document("verify", path)
    assert (verdict["collective"], verdict["optimal"]) == (collective, True)
    assert verdict["roots"] == (1 if COMMANDS[collective] else 16)
    assert collective in invoke("optimum", *options).stdout


def test_an_allreduce_is_generated_verified_and_drawn_in_two_phases(tmp_path: Path) -> None:
    """Facts of each phase, the time of both; there is no optimum of one kind."""
    path, picture = tmp_path / "schedule.npz", tmp_path / "tree.png"
    options = ["dgx_a100:boxes=2", "--collective", "allreduce"]
    made = document("generate", *options, "-o", path, "--factored")
    assert made["algbw_gb_s"]["exact"] == "520/3"  # half of the allgather's 1040/3
    assert made["reduce"]["by"] == "reduce-scatter"
    assert made["gather"]["k"] == 13
    assert isinstance(read_schedule(path), Allreduce)
    verdict = document("verify", path)
    assert verdict["gather"]["time_s_per_gb"]["exact"] == "3/1040"
    assert verdict["time_s_per_gb"]["exact"] == "3/520"
    assert "greatest_possible_height" in verdict["reduce"]
    assert re.search(
        r"^reduce +collective reduce-scatter, GPUs 16", invoke("verify", path).stdout, re.MULTILINE
    )
    for phase in ("reduce", "gather"):
        assert invoke("draw", path, "--phase", phase, "-o", picture).exit_code == 0
        assert picture.read_bytes().startswith(b"\x89PNG")
    refused = invoke("optimum", *options)
    assert refused.exit_code == 2
    assert "the best allreduce is found with its schedule" in refused.stderr


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize("collective", [*COMMANDS, "allreduce"])
def test_a_fixed_k_and_switches_that_copy_go_with_every_collective(
    collective: str, suffix: str, tmp_path: Path
) -> None:
    """A group, k = 2 and NVSwitches that copy, all at once; the file verifies, as fast."""
    path = tmp_path / f"schedule{suffix}"
    options = ["--collective", collective, *COMMANDS.get(collective, []), "--group", "*/0-3"]
    if collective == "reduce":
        options[3] = "b1.gpu2"
    network = "dgx_h100:boxes=2,nvls=true"
    made = document("generate", network, *options, "--k", 2, "--multicast", "-o", path)
    verdict = document("verify", path)
    assert verdict["collective"] == made["collective"] == collective
    phases = [verdict["reduce"], verdict["gather"]] if collective == "allreduce" else [verdict]
    assert [(phase["k"], phase["gpus"]) for phase in phases] == [(2, 8)] * len(phases)
    assert verdict["algbw_gb_s"] == made["algbw_gb_s"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("weights.yaml", "{gpu0: 1/2, gpu2: 0, gpu1: 1.5}"),
        ("weights.yaml", "[1, 3, 0]"),
        ("weights.json", '{"gpu0": 0.5, "gpu1": "3/2", "gpu2": 0}'),
        ("weights.json", "[2, 6, 0]"),
    ],
)
def test_weights_come_from_a_file(name: str, text: str, tmp_path: Path) -> None:
    """Proportions 1, 3 and 0, in YAML or JSON, by name or by rank."""
    (tmp_path / name).write_text(text)
    path = tmp_path / "schedule.json"
    options = ["ring:nodes=3", "--weights", tmp_path / name]
    document("generate", *options, "-o", path)
    assert json.loads(path.read_text())["weights"] == [1, 3, 0]
    assert document("optimum", *options)["collective"] == "allgather"


def test_a_group_is_told_by_names_or_boxes(tmp_path: Path) -> None:
    """GPU 0 of either box: two shards of the pair over eight NICs a box, 200 GB/s."""
    path = tmp_path / "schedule.json"
    made = document("generate", "dgx_a100:boxes=2", "--group", "*/0", "-o", path)
    named = document("optimum", "dgx_a100:boxes=2", "--group", "b0.gpu0,b1.gpu0")
    assert made["algbw_gb_s"]["exact"] == named["algbw_gb_s"]["exact"] == "400"
    assert named["gpus"] == 2
    words = "(1 GPU): 1 shard must leave over 8 links, 200 GB/s in all"
    assert named["bottleneck_cut"]["in_words"].endswith(words)
    alone = document("generate", "dgx_a100:boxes=2", "--group", "b0.gpu0", "-o", path)
    assert (alone["trees"], alone["height"], alone["algbw_gb_s"]) == (0, 0, None)
    assert document("verify", path)["optimal"] is True
    assert invoke("verify", path).exit_code == 0
    empty = tmp_path / "empty.npz"
    one = ["dgx_a100:boxes=2", "--group", "b0.gpu0", "--factored"]
    assert document("generate", *one, "-o", empty)["distinct_trees"] == 0
    undrawn = invoke("draw", empty, "-o", tmp_path / "tree.png")
    assert undrawn.exit_code == 2
    assert "tree 0 does not exist; the schedule is empty" in undrawn.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--collective", "gossip"], "collective is 'gossip'; it must be one of allgather"),
        (["--collective", "broadcast"], "broadcast needs a root; give the name of a GPU"),
        (["--root", "b0.gpu1"], "allgather takes no root"),
        (["--collective", "reduce", "--root", "ib"], "the root is 'ib', which is a switch"),
        (["--collective", "reduce", "--root", "99"], "the root is rank 99; ranks are 0 to 15"),
        (["--group", ""], "the group is empty"),
        (["--group", "7/*"], "has no GPU in such a box"),
        (["--group", "b0.gpu0,b0.gpu0"], "names 'b0.gpu0' twice"),
        (
            ["--group", "*/1", "--collective", "reduce", "--root", "b0.gpu0"],
            "the root is 'b0.gpu0', which is a relay; only a compute node can be one",
        ),
        (["--weights", "none.yaml"], "none.yaml: cannot be read: no such file or directory"),
    ],
)
@pytest.mark.parametrize("command", ["optimum", "generate"])
def test_bad_options_are_told_in_one_line(
    command: str, options: list[str], message: str, tmp_path: Path
) -> None:
    output = ["-o", tmp_path / "schedule.json"] if command == "generate" else []
    result = invoke(command, "dgx_a100:boxes=2", *options, *output)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("7", "holds 7; it must hold a mapping, GPU: weight, or a list"),
        ("", "holds None; it must hold a mapping"),
        ("[1, 2]", "2 weights are given; ring:nodes=3 has 3 GPUs"),
        ("{gpu0: 1, gpu0: 2}", "line 1: the key 'gpu0' is given twice"),
        ("[1, 2", "not valid YAML"),
        ("[1, true, 1]", "the weight of 'gpu1' is True, which is not a number"),
        ("[1, -1, 1]", "the weight of 'gpu1' is -1; it cannot be negative"),
    ],
)
def test_bad_weights_files_are_told_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "weights.yaml").write_text(text)
    result = invoke("optimum", "ring:nodes=3", "--weights", tmp_path / "weights.yaml")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


def test_weights_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "weights.yaml").write_bytes(b"\xff\xfe\x00")
    result = invoke("optimum", "ring:nodes=3", "--weights", tmp_path / "weights.yaml")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "not text in UTF-8" in result.stderr
