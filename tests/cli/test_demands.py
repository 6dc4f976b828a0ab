"""All-to-alls and demands on the command line: optimum, generate, verify, and what is refused."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.cli.demands import check_all_to_all, flow_facts, flow_for
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule import FlowSchedule, read_schedule, verify
from forestcoll.topology import load_topology
from tests.command_line import assert_refused, document, invoke

BOXES = "dgx_a100:boxes=2"


def test_the_optimum_of_equal_parts_by_hand() -> None:
    """Half of a GPU's data leaves its box over 25 GB/s a GPU: 50 GB/s, 50 / 16 for a pair."""
    found = document("optimum", BOXES, "--collective", "all-to-all")
    assert found["algbw_gb_s"]["exact"] == "50"
    assert found["pair_gb_s"]["exact"] == "25/8"
    assert (found["optimal"], found["verified"], found["gpus"]) == (True, True, 16)
    assert found["at_most_gb_s"] is None
    assert "8 x 25 GB/s" in found["what_binds"][0]


def test_the_optimum_of_a_demand_by_hand() -> None:
    """8000 bytes from box 0 to box 1 over 200 GB/s: 0.04 us."""
    found = document("optimum", BOXES, "--demand", "pipeline:size=1000,stages=2")
    assert found["time_us"]["exact"] == "1/25"
    assert found["algbw_gb_s"]["exact"] == "200"
    assert (found["demand"], found["bytes"]) == ("pipeline:size=1000,stages=2", 8000)


def test_the_lines_of_a_demand() -> None:
    lines = invoke("optimum", BOXES, "--demand", "sendrecv:size=400").stdout.splitlines()
    words = [" ".join(line.split()) for line in lines]
    assert "demand sendrecv:size=400" in words
    assert "time 1/500 = 0.002 us" in words


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_a_schedule_is_written_verified_and_read(suffix: str, tmp_path: Path) -> None:
    matrix = tmp_path / "layer.csv"
    matrix.write_text(",gpu2,gpu0,gpu1\ngpu2,0,6,0\ngpu0,0,0,2\ngpu1,0,0,0\n")
    path = tmp_path / f"made.{suffix}"
    made = document("generate", "ring:nodes=3", "--demand", matrix, "-o", path)
    assert (made["optimal"], made["file"]) == (True, str(path))
    found = read_schedule(path)
    assert isinstance(found, FlowSchedule)
    assert found.demand is not None
    assert found.demand.matrix.tolist() == [[0, 2, 0], [0, 0, 0], [6, 0, 0]]
    proved = document("verify", path)
    assert (proved["demand"], proved["optimal"]) == (str(matrix), True)
    assert verify(found).congestion == 3  # half of 6 bytes each way round
    assert made["time_us"]["exact"] == "3/1000"


def test_a_schedule_that_is_not_verified_says_so(tmp_path: Path) -> None:
    made = document(
        "generate", "ring:nodes=3", "--collective", "all-to-all", "--no-verify",
        "-o", tmp_path / "a.json",
    )  # fmt: skip
    assert made["verified"] is False
    assert "optimal" not in made


def test_damage_and_groups_come_before_the_demand(tmp_path: Path) -> None:
    """8 GPUs of 16 with a dead NIC: 4 bytes a pair from 4 GPUs to 4 over 3 x 25 GB/s."""
    found = document(
        "optimum", BOXES, "--without", "b0.gpu0 - ib", "--group", "*/0-3", "--idle", "absent",
        "--demand", "pipeline:size=300,stages=2",
    )  # fmt: skip
    assert found["gpus"] == 8
    assert found["time_us"]["exact"] == str(Fraction(4 * 300, 75) / 1000)


TREES = [
    ["--root", "gpu1"],
    ["--k", "2"],
    ["--best-k", "3"],
    ["--max-depth", "2"],
    ["--sparse-exchange"],
    ["--multicast"],
    ["--method", "paper"],
]


@pytest.mark.parametrize("option", TREES, ids=lambda option: option[0])
def test_options_of_trees_are_refused(option: list[str], tmp_path: Path) -> None:
    ask = ["generate", "ring:nodes=3", "-o", tmp_path / "never.json", "--demand", "sendrecv"]
    message = f"{option[0]} is for trees; an all-to-all has paths, so leave it out"
    assert_refused(message, *ask, *option)
    assert list(tmp_path.iterdir()) == []


REFUSED = {
    "another collective": (
        ["--collective", "allreduce", "--demand", "sendrecv"],
        "--demand states who has data for whom; leave --collective allreduce away",
    ),
    "no such demand": (["--demand", "sendrec"], "did you mean 'sendrecv'"),
    "no such file": (["--demand", "layer.csv"], "layer.csv: cannot be read: no such file"),
    "no such GPU": (["--demand", "scatter:root=gpu8"], "scatter: root: names 'gpu8'"),
    "a root outside the group": (
        ["--group", "gpu0,gpu1", "--demand", "scatter:root=gpu2"],
        "scatter: root: names 'gpu2', which is a relay",
    ),
    "an exponent out of range": (["--demand", "zipf:exponent=99"], "exponent is 99; it must be"),
    "a petabyte": (["--demand", "sendrecv:size=1000T"], "at most 1e+14 are possible"),
    "one GPU": (["--group", "gpu0", "--collective", "all-to-all"], "which has nothing to exchange"),
    "no way": (
        ["--without", "gpu0 -> gpu1", "--without", "gpu0 -> gpu2", "--demand", "sendrecv:size=5"],
        "gpu0 has 5 for gpu1 but no path",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_demand_that_is_refused_is_a_line(name: str) -> None:
    options, message = REFUSED[name]
    assert_refused(message, "optimum", "ring:nodes=3", *options)


def test_a_chunk_for_several_is_refused_with_the_method_that_takes_it(tmp_path: Path) -> None:
    path = tmp_path / "chunks.yaml"
    path.write_text("chunks: [{from: gpu0, to: '*', size: 1MB}]\n")
    asked = ("generate", "ring:nodes=3", "--demand", path, "-o", tmp_path / "made.json")
    assert_refused("see the method teccl", *asked)


def test_check_all_to_all_detects_requests_and_refuses_tree_options() -> None:
    assert not check_all_to_all("allgather", None, {"root": "gpu1"})
    assert check_all_to_all("allgather", "sendrecv", {"root": None, "low": False})
    assert check_all_to_all("all-to-all", None, {})
    with pytest.raises(InvalidParameterError, match="--k is for trees"):
        check_all_to_all("all-to-all", None, {"k": 0})


def test_facts_of_a_schedule_that_is_not_optimal_have_a_bound() -> None:
    topology = load_topology("ring:nodes=3")
    made = flow_for(topology, "sendrecv:size=6", 60.0)
    facts = flow_facts(replace(made, price=(1, *made.price[1:-1], 7)))
    assert facts["optimal"] is False
    assert facts["at_most_gb_s"] > facts["algbw_gb_s"]
