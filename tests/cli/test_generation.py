"""Collectives on the command line: the same options for optimum and generate."""

import json
import re
from pathlib import Path

import pytest

from forestcoll import Allreduce, read_schedule
from forestcoll.generation import STAGES
from tests.command_line import assert_refused, document, invoke

COMMANDS = {
    "allgather": [],
    "reduce-scatter": [],
    "broadcast": ["--root", "b1.gpu3"],
    "reduce": ["--root", "11"],
}


@pytest.mark.parametrize("collective", COMMANDS)
def test_generate_attains_the_reported_optimum(collective: str, tmp_path: Path) -> None:
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
    assert "greatest_possible_depth" in verdict["reduce"]
    assert re.search(
        r"^reduce +collective reduce-scatter, GPUs 16", invoke("verify", path).stdout, re.MULTILINE
    )
    for phase in ("reduce", "gather"):
        assert invoke("draw", path, "--phase", phase, "-o", picture).exit_code == 0
        assert picture.read_bytes().startswith(b"\x89PNG")
    assert_refused("the best allreduce is found with its schedule", "optimum", *options)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize("collective", [*COMMANDS, "allreduce"])
def test_fixed_k_and_multicast_combine(collective: str, suffix: str, tmp_path: Path) -> None:
    """A group, k = 2 and NVSwitches that multicast, all at once; the file verifies, as fast."""
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
        ("\xff\xfe\x00", "not text in UTF-8"),
    ],
)
def test_bad_weights_files_are_reported_in_one_line(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "weights.yaml").write_text(text, encoding="latin-1")
    assert_refused(message, "optimum", "ring:nodes=3", "--weights", tmp_path / "weights.yaml")


def test_generate_writes_a_verified_schedule_and_a_summary(tmp_path: Path) -> None:
    """Figure 5 of the paper: k = 1, 8 trees, algbw 8 b with b = 1."""
    path = tmp_path / "example.json"
    made = document("generate", "paper_example", "-o", path)
    assert (made["k"], made["trees"], made["algbw_gb_s"]["exact"]) == (1, 8, "8")
    assert made["verified"] is made["optimal"] is True
    assert list(made["stages_s"]) == list(STAGES)
    assert read_schedule(path).num_trees == 8


def test_few_links_are_as_fast_and_a_hop_taller(tmp_path: Path) -> None:
    """24 boxes, all exchanging or any two of them at most two steps apart."""
    cluster = "dgx_a100:boxes=24"
    all_links = document("generate", cluster, "-o", tmp_path / "all.json")
    sparse_exchange = document(
        "generate", cluster, "--sparse-exchange", "-o", tmp_path / "few.json"
    )
    assert all_links["algbw_gb_s"] == sparse_exchange["algbw_gb_s"]
    assert all_links["optimal"] is sparse_exchange["optimal"] is True
    assert (all_links["depth"], sparse_exchange["depth"]) == (2, 3)


@pytest.mark.parametrize("method", ["forestcoll", "paper"])
def test_factored_schedules_are_written_verified_and_drawn(method: str, tmp_path: Path) -> None:
    """The same facts as of the explicit form; the depth is bounded only, and drawing expands."""
    explicit, factored = tmp_path / "explicit.npz", tmp_path / "factored.npz"
    made = [
        document("generate", "paper_example", "--method", method, "-o", path, *form)
        for path, form in ((explicit, ()), (factored, ("--factored", "--exact-depth")))
    ]
    same = ("k", "trees", "distinct_trees", "depth", "algbw_gb_s", "verified", "optimal")
    assert [made[0][key] for key in same] == [made[1][key] for key in same]
    proved = [document("verify", path) for path in (explicit, factored)]
    assert proved[0]["congestion"] == proved[1]["congestion"]
    assert proved[0]["depth"] <= proved[1]["greatest_possible_depth"]
    assert "depth" not in proved[1]
    assert invoke("draw", factored, "-o", tmp_path / "tree.png").exit_code == 0


def test_the_depth_of_factored_schedules_is_bounded_unless_asked_for(tmp_path: Path) -> None:
    """The bound is that of the check, so there is none without it."""
    path = tmp_path / "factored.npz"
    made = document("generate", "dgx_a100:boxes=4", "--factored", "-o", path)
    assert made["greatest_possible_depth"] == document("verify", path)["greatest_possible_depth"]
    assert not {"depth", "at_least", "distinct_trees"} & set(made)
    unchecked = document("generate", "dgx_a100:boxes=4", "--factored", "--no-verify", "-o", path)
    assert unchecked["greatest_possible_depth"] is None


def test_factored_schedules_are_binary(tmp_path: Path) -> None:
    assert_refused(
        "schedule.json: --factored needs a name that ends in .npz",
        "generate",
        "paper_example",
        "--factored",
        "-o",
        tmp_path / "schedule.json",
    )


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_multicast_reports_the_traffic_removed(tmp_path: Path, suffix: str) -> None:
    """One H100 box: 7 bytes a byte into the NVSwitch become 1; the file is verified as any."""
    file = tmp_path / f"schedule.{suffix}"
    facts = document("generate", "dgx_h100:boxes=1", "--multicast", "-o", file)
    assert (facts["verified"], facts["optimal"], facts["depth"]) == (True, True, 2)
    into, out_of = facts["traffic"]
    assert [into[key]["exact"] for key in ("before", "after", "factor")] == ["7", "1", "1/7"]
    assert out_of["factor"]["exact"] == "1"
    assert document("verify", file)["tree_edges"] == 64


def test_multicast_in_words_for_each_phase_of_an_allreduce(tmp_path: Path) -> None:
    """Sums leave the NVSwitch once, copies enter it once."""
    arguments = ("dgx_h100:boxes=1", "--collective", "allreduce", "--multicast")
    result = invoke("generate", *arguments, "-o", tmp_path / "schedule.json")
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("traffic of reduce"))
    assert lines[start].endswith(": 7 -> 7 bytes per byte of data (unchanged)")
    assert lines[start + 1].endswith(": 7 -> 1 bytes per byte of data (14.29 %)")
    assert lines[start + 2].startswith("traffic of gather")
    assert lines[start + 2].endswith(": 7 -> 1 bytes per byte of data (14.29 %)")


def test_multicast_is_not_for_factored_forests(tmp_path: Path) -> None:
    """What to do instead is said."""
    file = tmp_path / "schedule.npz"
    assert_refused(
        "leave --factored away",
        "generate",
        "dgx_h100:boxes=1",
        "--multicast",
        "--factored",
        "-o",
        file,
    )


def test_a_schedule_for_a_size(tmp_path: Path) -> None:
    """Both bounds on the time, by hand: 10 us, and 8 x 1 000 bytes over 25 GB/s."""
    path = tmp_path / "schedule.json"
    options = ["dgx_a100:boxes=2", "--size", "16000", "--alpha", "10us", "-o", path]
    made = document("generate", *options)
    assert made["time_us"] == made["bound_us"] == {"exact": "258/25", "value": 10.32}
    assert (made["by"], made["size_bytes"]) == ("constant rates", 16_000)
    assert document("verify", path)["verified"] is True
    again = tmp_path / "again.json"
    assert_refused("give a size", "generate", "ring:nodes=4", "--alpha", "1", "-o", again)
    options = ["ring:nodes=4", "--size", "1", "--best-k", "2", "-o", again]
    assert_refused("leave out --best-k", "generate", *options)


def test_a_time_limit_is_for_sizes_and_all_to_alls(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    asked = ["generate", "ring:nodes=4", "--time-limit", "60", "-o", path]
    assert document(*asked, "--size", "1MB")["verified"] is True
    assert document(*asked, "--collective", "all-to-all")["verified"] is True
    assert_refused("the time limit is for a size", *asked)
    late = ["dgx_a100:boxes=2", "--size", "1MB", "--time-limit", "0.001", "-o", path]
    assert_refused("the limit of 0.001 s was reached", "generate", *late, code=3)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["mi250:boxes=1"], True),  # 8 hops, at least 5
        (["mi250:boxes=1", "--collective", "allreduce"], True),
        (["mi250:boxes=1", "--max-depth", "7"], False),
        (["mi250:boxes=1", "--json"], False),
        (["dgx_a100:boxes=2"], False),  # 2 hops, at least 2
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_deep_forest_names_the_command_for_shallower_ones(
    options: list[str], named: bool, tmp_path: Path
) -> None:
    """Throughput alone decided its depth; other depths are a search of their own."""
    printed = invoke("generate", *options, "-o", tmp_path / "x.json").stdout
    assert ("forestcoll depths shows the rate at smaller depths" in printed) == named
