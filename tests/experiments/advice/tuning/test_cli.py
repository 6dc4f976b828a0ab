"""The command ``forestcoll tune``."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forestcoll.schedule import verify
from forestcoll.schedule.files import read_schedule
from tests.command_line import ROOT, assert_refused, document, invoke

TRIED = ("direct", "ring", "bfb", "nccl-tree")

NETWORK = "dgx_a100:boxes=1"


def test_ranges_and_sizes_are_tables_with_untried_methods() -> None:
    methods = [word for name in TRIED for word in ("--method", name)]
    shown = invoke("tune", "ring:nodes=6", "--sizes", "1KB,1MB,1GB", *methods)
    assert shown.exit_code == 0
    assert shown.stdout == (
        "ring:nodes=6, allgather of 6 GPUs\n"
        "simulated: alpha 10 us a hop, links shared by size; the best of 3 verified schedules\n"
        "bound: 30 us by latency, 2.4 GB/s by the bottleneck cut; each size by both together\n"
        "\n"
        "      from         to    chunks  of bound  best\n"
        "       1KB       58KB         1    64.0 %  direct\n"
        "      61KB        1GB         1    64.3 %  bfb\n"
        "\n"
        "      size         us     algbw  of bound  best\n"
        "       1KB     30.256   0.03384    99.4 %  direct\n"
        "       1MB    466.907     2.246    95.7 %  bfb\n"
        "       1GB     447422       2.4   100.0 %  bfb\n"
        "\n"
        "not tried\n"
        "  nccl-tree: unsupported: nccl-tree has no allgather; it has allreduce\n"
        "\n"
        "tried, nowhere best\n"
        "  ring\n"
    )


@pytest.mark.slow
def test_machines_get_the_same_in_json() -> None:
    options = ["--collective", "allreduce", "--sizes", "1KB,1GB", "--alpha", "2.5us"]
    result_text = document("tune", NETWORK, *options, "--gamma", "1/100", "--sharing", "fifo")
    assert result_text["complete"]
    assert result_text["topology"] == NETWORK
    assert result_text["alpha_us"]["exact"] == "5/2"
    assert result_text["gamma_s_per_gb"]["exact"] == "1/100"
    assert result_text["sharing"] == "fifo"
    assert {"bfb", "nccl-tree"} <= {one["name"] for one in result_text["candidates"]}


def test_windows_and_costs_are_simulated() -> None:
    """Two hops cost 3 us each more, in two messages."""
    methods = ["--method", "ring", "--sizes", "1KB"]
    plain = document("tune", "ring:nodes=3", *methods)
    options = ["--window", "unlimited", "--chunk-cost", "1", "--message-cost", "2"]
    found = document("tune", "ring:nodes=3", *methods, *options)
    assert found["window"] == "unlimited"
    assert (found["chunk_cost_us"]["value"], found["message_cost_us"]["value"]) == (1, 2)
    later = found["sizes"][0]["time_us"] - plain["sizes"][0]["time_us"]
    assert later == pytest.approx(6, abs=1e-3)
    head = invoke("tune", "ring:nodes=3", *methods, *options).stdout.splitlines()[1]
    assert head == (
        "simulated: alpha 10 us a hop, links shared by size, window unlimited, 1 us a pipeline "
        "chunk, 2 us a transfer; the best of 1 verified schedules"
    )
    assert_refused("--window is 'some'", "tune", "ring:nodes=3", "--window", "some")


def test_forests_over_time_keep_to_their_plans() -> None:
    """4 MB in 29.13 us by slots; links shared by size take longer."""
    options = ["--sizes", "3906.25KB", "--method", "forestcoll"]
    found = document("tune", "dgx_a100:boxes=2", *options)
    at = found["sizes"][0]
    assert (at["best"], at["by_plan"]) == ("forest, for 4000000", True)
    assert at["time_us"] == pytest.approx(670 / 23)
    assert found["ranges"][0]["by_plan"]
    assert found["ranges"][0]["least_pipeline_chunks"] is None
    shared = document("tune", "dgx_a100:boxes=2", *options, "--no-plans")["sizes"][0]
    assert not shared["by_plan"]
    assert shared["time_us"] > 31
    lines = invoke("tune", "dgx_a100:boxes=2", *options).stdout.splitlines()
    assert lines[5].split()[2] == "plan"
    assert lines[8].endswith("forest, for 4000000, by plan")


def test_it_takes_changes_groups_and_roots() -> None:
    changed = ["--without", "b1.gpu2 - ib", "--scale", "* - ib=1/2", "--group", "0-1/0-3"]
    result_text = document(
        "tune", "dgx_a100:boxes=3", *changed, "--sizes", "1KB", "--method", "forestcoll"
    )
    assert result_text["gpus"] == 8
    assert result_text["topology"].startswith("dgx_a100:boxes=3 ")
    rooted = ["--collective", "broadcast", "--root", "b0.gpu3"]
    result_text = document("tune", NETWORK, "--sizes", "1KB", *rooted)
    assert result_text["root"] == 3
    lines = invoke("tune", NETWORK, "--sizes", "1KB", *rooted, "--gamma", "2").stdout.splitlines()
    assert lines[0] == "dgx_a100:boxes=1, broadcast of 8 GPUs, root rank 3"
    assert "alpha 10 us a hop, gamma 2 s/GB, links" in lines[1]


def test_files_are_written_for_each_range(tmp_path: Path) -> None:
    few = [word for name in ("ring", "bfb", "direct") for word in ("--method", name)]
    asked = ["--collective", "allreduce", "--sizes", "64KB..4MB", "--within", "10", *few]
    folder = tmp_path / "best"
    made = invoke("tune", "hypercube:dimension=3", *asked, "--format", "json", "-o", folder)
    assert made.exit_code == 0
    index = json.loads((folder / "index.json").read_text())
    assert "% slower than the best" in made.stdout
    assert f"{folder}: index.json and" in made.stdout
    for one in index["ranges"]:
        assert one["file"] in made.stdout
        verify(read_schedule(folder / one["file"]))


def test_methods_out_of_time_are_reported() -> None:
    shown = invoke("tune", "ring:nodes=6", "--sizes", "1KB", "--seconds", "0")
    assert shown.exit_code == 3
    assert "forest, k=1: took longer than 0 s to make; give each more seconds" in shown.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sizes", "1XB"], "--sizes has '1XB'; write bytes, or a size"),
        (["--sizes", ""], "--sizes has ''"),
        (["--alpha", "-1"], "alpha is -1; it must be from 0"),
        (["--alpha", "nan"], "alpha is 'nan', which is not a number"),
        (["--gamma", "x"], "gamma is 'x', which is not a number"),
        (["--sharing", "x"], "--sharing is 'x'; it must be fair or fifo"),
        (["--collective", "gossip"], "it must be one of allgather"),
        (["--method", "gossip"], "no method 'gossip' to try"),
        (["--root", "gpu1"], "allgather takes no root"),
        (["--group", "gpu1"], "has a single GPU: there is nothing to send"),
        (["--format", "xml", "-o", "."], "written as .json or .npz, not as .xml"),
        (["--format", "npz"], "--format is of the files in --output; name a folder, too"),
        (["-o", ""], "--output is empty; name a folder"),
        (["-o", "README.md/folder"], "README.md is a file; name a folder"),
        (["-o", "README.md"], "README.md: is a file; name a folder"),
    ],
)
def test_bad_questions(options: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert_refused(message, "tune", "ring:nodes=4", *options)


def test_an_interrupted_run_keeps_its_ranges(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "forestcoll", "tune", "dgx_h100:boxes=4"]
    command += ["--sizes", "1KB..1TB", "--collective", "allreduce", "-o", str(tmp_path)]
    command += ["--method", "direct", "--method", "blink-switch", "--within", "900"]
    work = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    index = tmp_path / "index.json"
    end = time.monotonic() + 60
    while not index.exists() and time.monotonic() < end:
        time.sleep(0.05)
    os.kill(work.pid, signal.SIGINT)
    _, stderr = work.communicate(timeout=60)
    assert work.returncode == 130
    note, error = stderr.splitlines()
    assert note.startswith(f"note: {tmp_path} has the best of ")
    assert error == "error: interrupted"
    kept = json.loads(index.read_text())
    assert not kept["complete"]
    for one in kept["ranges"]:
        verify(read_schedule(tmp_path / one["file"]))


def test_the_help_lists_it() -> None:
    assert "Find the best schedule at each size" in invoke("--help").stdout
