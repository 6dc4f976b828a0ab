"""``forestcoll baselines``: listing methods, and running one."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from baselines import METHODS
from baselines.cli import app
from baselines.interface.method import Schedule
from forestcoll.errors import (
    ForestCollError,
    InvalidParameterError,
    UnknownMethodError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.schedule import StepSchedule, read_schedule, verify
from forestcoll.topology import Topology, load_topology, write_topology
from tests.command_line import document, invoke


def run(*arguments: object) -> Result:
    """Run without the main command, whose plug-ins need an installation."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_every_method_is_listed() -> None:
    """By name, with its parameters."""
    text = run("list").stdout
    assert all(f"{name}: " in text for name in METHODS)
    listed = document("baselines", "list")
    assert [entry["name"] for entry in listed] == list(METHODS)


def test_a_method_is_run_and_verified(tmp_path: Path) -> None:
    """The cost is exact, and the file holds the schedule."""
    file = tmp_path / "ring.json"
    facts = document(
        *("baselines", "run", "ring", "dgx_a100:boxes=2", "--set", "rings=8"),
        *("--collective", "reduce-scatter", "-o", file),
    )
    assert facts["algbw_gb_s"]["exact"] == "640/3"
    assert facts["algbw_synchronous_gb_s"]["exact"] == "640/3"
    assert facts["algbw_makespan_gb_s"] is None
    assert (facts["verified"], facts["collective"]) == (True, "reduce-scatter")
    assert facts["differences"] == (METHODS[facts["method"]].notes or None)
    assert verify(read_schedule(file)).collective == "reduce-scatter"


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize(
    ("method", "network"),
    [("tacos", "ring:nodes=4"), ("bruck", "dgx_a100:boxes=2"), ("nccl-nvls", "dgx_h100:boxes=2")],
)
def test_runs_are_saved_and_proved(method: str, network: str, suffix: str, tmp_path: Path) -> None:
    """Step schedules, clocks and multicast switches: `verify FILE` finds the same rate."""
    file = tmp_path / f"schedule.{suffix}"
    facts = document("baselines", "run", method, network, "-o", file)
    found = document("verify", file, "--topology", network)
    assert found["verified"]
    assert found["algbw_gb_s"] == facts["algbw_gb_s"]
    assert invoke("verify", file, "--topology", "ring:nodes=5").exit_code == 1


def test_every_measure_is_reported() -> None:
    """Pipelined and synchronous for all methods, makespan for those with a clock."""
    facts = document("baselines", "run", "blueconnect", "dgx_a100:boxes=2")
    assert facts["algbw_gb_s"]["exact"] == "2400/7"
    assert facts["algbw_synchronous_gb_s"]["exact"] == "2400/13"
    assert facts["algbw_makespan_gb_s"] is None
    clocked = document("baselines", "run", "tacos", "ring:nodes=4")
    assert clocked["algbw_makespan_gb_s"]["value"] <= clocked["algbw_gb_s"]["value"]
    text = run("run", "tacos", "ring:nodes=4").stdout
    for label in ("algbw ", "algbw synchronous ", "algbw makespan "):
        assert f"\n{label}" in text


def test_searches_report_status_incumbent_bound_and_gap() -> None:
    """TE-CCL on a ring of 3, a chunk of 1 MB each: the fewest epochs are found and proved.

    Every GPU sends its chunk to both neighbours at once, so each stage ends "optimal" with a gap of
    0. A method that does not search reports none.
    """
    facts = document("baselines", "run", "teccl", "ring:nodes=3", "--seconds", "60")
    assert facts["searches"]
    for search in facts["searches"].values():
        assert search["status"] == "optimal"
        assert search["incumbent"] == search["bound"]
        assert search["gap"] == 0
    text = run("run", "teccl", "ring:nodes=3", "--seconds", "60").stdout
    assert re.search(r"optimal, incumbent [\d.]+ .*, bound .*, gap 0, by ", text)
    assert document("baselines", "run", "ring", "ring:nodes=3")["searches"] is None


def gathered(topology: Topology) -> Schedule:
    """A reader's own method."""
    return METHODS["ring"].run(topology, "allgather")


def test_a_function_of_a_reader_runs() -> None:
    facts = document("baselines", "run", "tests.baselines.test_cli:gathered", "ring:nodes=4")
    assert facts["method"] == "tests.baselines.test_cli:gathered"
    assert facts["verified"]
    assert facts["algbw_gb_s"]


@pytest.mark.parametrize("form", ["specification", "path", "topology"])
def test_a_method_takes_a_network_in_every_form(form: str, tmp_path: Path) -> None:
    """As generate does; the schedule is the same."""
    topology = load_topology("ring:nodes=4")
    write_topology(topology, tmp_path / "ring.yaml")
    networks: dict[str, str | Path] = {
        "specification": "ring:nodes=4",
        "path": tmp_path / "ring.yaml",
    }
    made = METHODS["ring"].run(networks.get(form, topology))
    assert made == METHODS["ring"].run(topology)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["rnig", "ring:nodes=4"], UnknownMethodError, "did you mean ring?"),
        (["rings:of", "ring:nodes=4"], UnknownMethodError, "there is no module 'rings'"),
        (
            ["tests.baselines.test_cli:gathered", "ring:nodes=4", "--collective", "allreduce"],
            VerificationError,
            "of allgather; allreduce was due",
        ),
        (["ring", "ring:nodes=4", "--set", "rings"], InvalidParameterError, "NAME=VALUE"),
        (["ring", "ring:nodes=4", "--set", "unit=3"], InvalidParameterError, "it has: rings"),
        (
            ["ring", "torus:dims=3x3", "--set", "rings=x"],
            InvalidParameterError,
            "ring: rings is 'x'",
        ),
        (["nccl-tree", "ring:nodes=4", "--set", "rails=x"], InvalidParameterError, "rails is 'x'"),
        (["nccl-tree", "ring:nodes=4", "--set", "double=no"], InvalidParameterError, "is 'no'"),
        (["sccl", "ring:nodes=4", "--set", "rounds=x"], InvalidParameterError, "a whole number"),
        (["sccl", "ring:nodes=4", "--set", "chunks=true"], InvalidParameterError, "is True"),
        (["sccl", "ring:nodes=4", "--set", "steps="], InvalidParameterError, "steps is ''"),
        (["multitree", "ring:nodes=4", "--set", "unit=x"], InvalidParameterError, "unit is 'x'"),
        (["ring", "ring:nodes=4", "--collective", "gossip"], UnsupportedError, "it has allgather"),
    ],
)
def test_mistakes_are_named(
    arguments: list[str], error: type[ForestCollError], message: str
) -> None:
    """Each is one of our errors, which the main command prints in a line."""
    result = run("run", *arguments)
    assert isinstance(result.exception, error)
    assert message in str(result.exception)


@pytest.mark.parametrize(
    ("text", "trees"), [("true", 16), ("True", 16), ("false", 8), ("False", 8), ("FALSE", 8)]
)
def test_truth_values_are_read_in_any_case(text: str, trees: int) -> None:
    """Eight trees, one for each GPU of a box, or two for each."""
    arguments = ("baselines", "run", "nccl-tree", "dgx_a100:boxes=2", "--set", f"double={text}")
    assert document(*arguments)["trees"] == 2 * trees  # of the reduction and the broadcast


def test_the_main_command_prints_them_in_a_line() -> None:
    """With the exit code of bad input."""
    result = invoke("baselines", "run", "rnig", "ring:nodes=4")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_a_demand_is_scheduled_and_saved(tmp_path: Path) -> None:
    """It is an all-to-all of its own; GPUs that it does not name are said to forward."""
    file = tmp_path / "demand.json"
    facts = document(
        *("baselines", "run", "teccl", "ring:nodes=4", "--demand", "scatter:group=gpu0+gpu2"),
        *("-o", file),
    )
    assert facts["collective"] == "all-to-all"
    assert facts["demand"] == "scatter:group=gpu0+gpu2"
    assert facts["forwarding_outside"] in ("gpu1", "gpu3", "gpu1, gpu3")
    schedule = read_schedule(file)
    verify(schedule)
    assert isinstance(schedule, StepSchedule)
    assert schedule.demand is not None
    assert schedule.demand.bytes == facts["bytes"]


def test_chunks_for_several_gpus_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "experts.yaml"
    file.write_text("chunks:\n- {from: gpu0, to: [gpu1, gpu2], size: 5}\n")
    facts = document(
        *("baselines", "run", "teccl", "ring:nodes=4", "--demand", file, "--set", "chunks=2")
    )
    assert (facts["chunks"], facts["bytes"]) == (1, 5)
    stage = "bytes of the all-to-all, crossing through, rounded up to chunks"
    assert facts["searches"][stage]["incumbent"] == 6


def test_a_method_without_demands_refuses_one() -> None:
    result = invoke("baselines", "run", "ring", "ring:nodes=4", "--demand", "zipf")
    assert result.exit_code == 2
    assert "ring has no parameter 'demand'" in result.output


@pytest.mark.parametrize("method", ["direct", "hierarchical", "fast-reading"])
def test_all_to_alls_of_any_amounts_come_from_a_name(method: str, tmp_path: Path) -> None:
    file = tmp_path / "demand.npz"
    facts = document(
        *("baselines", "run", method, "dgx_h100:boxes=2", "--demand", "zipf:size=1MB", "-o", file)
    )
    assert facts["forwarding_outside"] == "no GPU"
    assert document("verify", file)["demand"] == facts["demand"] == "zipf:size=1MB"


def test_bruck_names_the_methods_for_unequal_parts() -> None:
    result = invoke("baselines", "run", "bruck", "ring:nodes=4", "--demand", "zipf")
    assert result.exit_code != 0
    assert "see the methods direct, hierarchical and fast-reading" in result.output
