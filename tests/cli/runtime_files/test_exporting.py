"""The command that exports a schedule file."""

from pathlib import Path

import pytest

import forestcoll
from forestcoll.runtimes.msccl import read_algorithm
from forestcoll.runtimes.msccl.exporter import executor_limits
from forestcoll.runtimes.mscclpp import parse_plan, read_plan
from tests.command_line import assert_one_line, assert_refused, document, invoke
from tests.runtimes.mscclpp.dsl_stand_in import printed_plan
from tests.runtimes.mscclpp.test_dsl_writing import parts


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schedules") / "ring.json"
    forestcoll.write_schedule(forestcoll.generate("ring:nodes=5").schedule, path)
    return path


def test_exported_schedules_are_verified_and_executed(schedule: Path, tmp_path: Path) -> None:
    """Options go where they belong; sizes are written as those of other commands."""
    out = tmp_path / "ring.xml"
    options = ("--protocol", "LL", "--instances", "2", "--channels", "1", "--in-place")
    sizes = ("--min-size", "1KB", "--max-size", "1MB")
    found = document("export", schedule, "-o", out, *options, *sizes)
    assert (found["format"], found["verified"], found["protocol"]) == ("msccl", True, "LL")
    assert found["executed"]
    algorithm = read_algorithm(out)
    assert (algorithm.min_bytes, algorithm.max_bytes) == (2**10, 2**20)
    assert (algorithm.in_place, algorithm.out_of_place, algorithm.channels) == (True, False, 2)


def test_time_plans_are_not_exported(schedule: Path, tmp_path: Path) -> None:
    """The file is that of the same trees; the command says so, and only where there is a plan."""
    made = forestcoll.generate("ring:nodes=5", size="1MB").schedule
    forestcoll.write_schedule(made, tmp_path / "sized.json")
    found = document("export", tmp_path / "sized.json", "-o", tmp_path / "sized.xml")
    assert found["time_plan"] == "not exported: GPUs send as soon as data arrive"
    assert "time_plan" not in document("export", schedule, "-o", tmp_path / "plain.xml")


def test_a_plan_is_executed_in_all_the_ways_it_may_be_called(tmp_path: Path) -> None:
    """An allreduce in place and out of place; a gather as it is meant."""
    path, out = tmp_path / "s.json", tmp_path / "plan.json"
    forestcoll.write_schedule(
        forestcoll.generate("ring:nodes=4", collective="allreduce").schedule, path
    )
    found = document("export", path, "-o", out, "--format", "mscclpp", "--threadblocks", "3")
    assert found["executed"] == ["a launch out of place", "a launch in place"]
    assert max(len(gpu.threadblocks) for gpu in read_plan(out).plan.gpus) == found["threadblocks"]
    assert found["threadblocks"] <= 3
    assert invoke("check-plan", out, "--threadblocks", "3").exit_code == 0


def test_a_plan_of_a_gather_is_for_one_kind_of_call(schedule: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.json"
    options = ("--format", "mscclpp", "--in-place", "--instances", "2", "--min-size", "1KB")
    found = document("export", schedule, "-o", out, *options)
    assert (found["executed"], found["in_place"]) == (["a launch in place"], True)
    assert read_plan(out).plan.min_bytes == 2**10


def test_boxes_are_joined_by_port_channels_unless_nvlink_joins_them(tmp_path: Path) -> None:
    """Eight GPUs in two boxes; each channel of a GPU to the other box is of one kind."""
    path, out = tmp_path / "s.json", tmp_path / "plan.json"
    forestcoll.write_schedule(forestcoll.generate("paper_example").schedule, path)
    found = document("export", path, "-o", out, "--format", "mscclpp")
    assert found["channels_between_boxes"] == 0
    assert found["port_channels"] > 0
    assert found["least_bytes"] == 16 * found["chunks"]
    assert invoke("check-plan", out).exit_code == 0
    options = ("--format", "mscclpp", "--between-boxes", "memory")
    found = document("export", path, "-o", out, *options)
    assert (found["channels_between_boxes"] > 0, found["port_channels"]) == (True, 0)


def test_packets_are_a_protocol_of_plans(schedule: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.json"
    found = document("export", schedule, "-o", out, "--format", "mscclpp", "--protocol", "LL")
    assert (found["protocol"], found["executed"]) == ("LL", ["a launch out of place"])
    assert read_plan(out).plan.double_scratch
    assert document("check-plan", out)["right"]


def test_a_program_of_the_dsl_comes_beside_a_plan(schedule: Path, tmp_path: Path) -> None:
    """Its stand-in prints the operations of the plan, which may be joined otherwise."""
    out, dsl = tmp_path / "plan.json", tmp_path / "plan.py"
    found = document("export", schedule, "-o", out, "--format", "mscclpp", "--dsl", dsl)
    assert found["dsl"] == str(dsl)
    printed = parse_plan(printed_plan(dsl.read_text())).plan
    assert parts(printed) == parts(read_plan(out).plan)
    assert_refused(
        "--dsl is for --format mscclpp, and goal has no DSL",
        *("export", schedule, "-o", out, "--format", "goal", "--dsl", dsl),
    )
    assert_refused(
        f"--dsl and -o are both {out}; name another file",
        *("export", schedule, "-o", out, "--format", "mscclpp", "--dsl", out),
    )


def test_it_can_be_written_unexecuted(schedule: Path, tmp_path: Path) -> None:
    found = document("export", schedule, "-o", tmp_path / "a.xml", "--no-check")
    assert found["executed"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "pdf"), "there is no format 'pdf'; formats are msccl"),
        (("--protocol", "UD"), "the protocol is 'UD'"),
        (("--channels", "33"), "more than the 32 channels"),
        (("--max-size", "large"), "--max-size"),
        (("--threadblocks", "3"), "msccl has no option threadblocks"),
        (("--format", "mscclpp", "--channels", "3"), "mscclpp has no option channels"),
        (("--format", "mscclpp", "--protocol", "LL128"), "the protocol is 'LL128'; plans of"),
    ],
)
def test_bad_options_are_reported_in_a_line(
    schedule: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    assert_refused(message, "export", schedule, "-o", tmp_path / "a.xml", *options)
    assert not (tmp_path / "a.xml").exists()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """4 x 8209 chunks, which no buffer holds; two trees a GPU are as fast as any."""
    path = tmp_path_factory.mktemp("schedules") / "large.json"
    forestcoll.write_schedule(forestcoll.generate("ring:nodes=4", k=8209).schedule, path)
    return path


def test_the_limit_is_reported_with_the_smallest_k_that_fits(large: Path, tmp_path: Path) -> None:
    """Which limit, what is needed, the smallest k that fits and what it costs."""
    result = invoke("export", large, "-o", tmp_path / "a.xml")
    assert result.exit_code == 3
    message = (
        "it needs 32836 chunks in a buffer, and 32768 are the most, whatever the channels; k = 1 "
        "is the smallest that fits, with 2 GB/s instead of 2.66656; "
        "--satisfy-limits exports the fastest"
    )
    assert_one_line(result.stderr, message)
    assert not list(tmp_path.iterdir())


def test_the_fastest_that_fits_is_exported(large: Path, tmp_path: Path) -> None:
    """Verified and executed as everything is, with what it costs."""
    out = tmp_path / "a.xml"
    found = document("export", large, "-o", out, "--satisfy-limits")
    assert (found["k"], found["lost"], found["verified"]) == (2, "0 %", True)
    assert found["algbw_gb_s"]["exact"] == "8/3"
    assert found["executed"]
    assert "32836 chunks" in found["given"]
    assert read_algorithm(out).chunks_per_loop == 8


def test_schedules_within_the_limits_are_exported_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    forestcoll.write_schedule(forestcoll.generate("ring:nodes=4").schedule, path)
    found = document("export", path, "-o", tmp_path / "a.xml", "--satisfy-limits")
    assert "given" not in found


def test_misfits_leave_none(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 2)
    result = invoke(
        "export", large, "-o", tmp_path / "a.xml", "--satisfy-limits", "--satisfy-time", "0"
    )
    assert result.exit_code == 3
    assert_one_line(result.stderr, "no forest of k = 1 fits, and no more of the 8209 were tried")
    assert not list(tmp_path.iterdir())


def test_the_time_is_checked(large: Path, tmp_path: Path) -> None:
    assert_refused(
        "the time to find what fits is -1.0",
        "export",
        large,
        "-o",
        tmp_path / "a.xml",
        "--satisfy-time",
        "-1",
    )


def test_modules_take_pipeline_chunks_and_puts(schedule: Path, tmp_path: Path) -> None:
    out = tmp_path / "ring.py"
    options = ("--format", "nccl4py", "--puts", "--pipeline-chunks", "4")
    found = document("export", schedule, "-o", out, *options)
    assert found["executed"]
    assert found["steps"] == 2 + 3
    assert "NcclPutCommunicator" in out.read_text()
    assert_refused(
        "torch has no option puts; it has pipeline_chunks",
        *("export", schedule, "-o", out, "--format", "torch", "--puts"),
    )


@pytest.mark.parametrize("name", ["torch", "nccl4py"])
def test_a_module_is_run_before_it_is_written(schedule: Path, tmp_path: Path, name: str) -> None:
    """Five GPUs of a ring; there are no options."""
    out = tmp_path / "ring.py"
    found = document("export", schedule, "-o", out, "--format", name)
    assert found["executed"] == ["5 ranks in one process, 20 elements each"]
    assert (found["ranks"], found["steps"]) == (5, 2)
    assert f"for 5 ranks of {'torch.distributed' if name == 'torch' else name}" in out.read_text()
    words = ("export", schedule, "-o", out, "--format", name, "--instances", "2")
    assert_refused(f"{name} has no option instances; it has pipeline_chunks", *words)


def test_goal_has_its_network_beside_it(schedule: Path, tmp_path: Path) -> None:
    """The ring has 1 GB/s in each direction, so G is 1 ns a byte; L is alpha."""
    out = tmp_path / "ring.goal"
    options = ("--format", "goal", "--size", "1KB", "--pipeline-chunks", "2", "--alpha", "3")
    found = document("export", schedule, "-o", out, *options)
    assert (found["pipeline_chunks"], found["size_bytes"]) == (2, 1024)
    assert found["alpha_us"]["exact"] == "3"
    assert out.read_text(encoding="utf-8").startswith("num_ranks 5\n")
    assert " -G 1.0 " in (tmp_path / "ring.loggp").read_text(encoding="utf-8")
    assert {path.name for path in tmp_path.iterdir()} == {"ring.goal", "ring.loggp"}


def test_htsim_gets_a_topology(tmp_path: Path) -> None:
    path, out = tmp_path / "s.json", tmp_path / "box.goal"
    forestcoll.write_schedule(forestcoll.generate("dgx_h100:boxes=1").schedule, path)
    document("export", path, "-o", out, "--format", "goal", "--simulator", "htsim")
    assert (tmp_path / "box.topo").read_text(encoding="utf-8").startswith("Nodes 8\n")


def test_traces_have_their_system_and_network_beside_them(schedule: Path, tmp_path: Path) -> None:
    """The file that was asked for is the system, and names the traces as it is called."""
    folder = tmp_path / "there"
    found = document("export", schedule, "-o", folder / "gather.json", "--format", "chakra")
    assert '"gather"' in (folder / "gather.json").read_text(encoding="utf-8")
    names = {f"gather.{end}" for end in ("json", "memory.json", "network.yml")}
    names |= {f"gather.{kind}{rank}.et" for rank in range(5) for kind in ("", "workload.")}
    assert {path.name for path in folder.iterdir()} == names
    assert (found["files"], found["network"]) == (len(names), "analytical")


def test_a_file_beside_the_one_asked_for_must_not_replace_it(
    schedule: Path, tmp_path: Path
) -> None:
    """Neither is then written."""
    out = tmp_path / "ring.loggp"
    message = "another file of this export ends in .loggp; choose another ending"
    assert_refused(message, "export", schedule, "-o", out, "--format", "goal")
    assert list(tmp_path.iterdir()) == []


def test_options_of_simulators_are_refused_for_runtimes(schedule: Path, tmp_path: Path) -> None:
    options = (("--pipeline-chunks", "2"), ("--alpha", "3"), ("--simulator", "htsim"))
    for option, value in options:
        given = ("export", schedule, "-o", tmp_path / "x.xml", option, value)
        assert_refused("msccl has no option", *given)
    out = ("export", schedule, "-o", tmp_path / "x", "--format")
    message = "there is no simulator 'x' of GOAL; choose one of loggopsim, htsim"
    assert_refused(message, *out, "goal", "--simulator", "x")
    assert_refused("into 0 pipeline chunks", *out, "chakra", "--pipeline-chunks", "0")
