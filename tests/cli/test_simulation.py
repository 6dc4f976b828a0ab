"""The command that simulates a schedule file."""

import json
from pathlib import Path

import pytest

import forestcoll
from forestcoll import cli
from forestcoll.schedule.simulate import Simulator
from tests.command_line import assert_refused, document, invoke
from tests.hand_networks import network_of


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schedules") / "ring.json"
    forestcoll.write_schedule(
        forestcoll.generate("ring:nodes=5,bidirectional=false").schedule, path
    )
    return path


def test_a_line_for_each_size_says_that_it_is_simulated(schedule: Path) -> None:
    """Four hops of 10 us, and four fifths of 1 MiB or 2 MiB at 1 GB/s; at least one hop of 10."""
    lines = invoke("simulate", schedule, "--size", "1MB..2MB").stdout.splitlines()
    assert lines[0] == "allgather on ring:nodes=5,bidirectional=false by forestcoll, verified"
    assert lines[1] == "simulated: alpha 10 us a hop, links shared by size"
    assert lines[3].split("  ")[-1].strip() == "of bound"
    assert [line.split() for line in lines[4:]] == [
        ["1MB", "878.86", "us", "1.19", "1", "95.4", "%", "96.6", "%"],
        ["2MB", "1.718", "ms", "1.22", "1", "97.7", "%", "98.3", "%"],
    ]


def test_the_document_has_the_results_of_the_library(schedule: Path) -> None:
    """Model and sizes; gamma and fifo are taken as they are given."""
    options = (
        "--size",
        "1KB,1MB",
        "--alpha",
        "2500ns",
        "--sharing",
        "fifo",
        "--pipeline-chunks",
        "3",
    )
    found = document("simulate", schedule, *options)
    assert (found["simulated"], found["verified"]) == (True, True)
    assert found["alpha_us"] == {"exact": "5/2", "value": 2.5}
    for row, size in zip(found["sizes"], ("1KB", "1MB"), strict=True):
        due = forestcoll.simulate(schedule, size, alpha_us="2.5", sharing="fifo", pipeline_chunks=3)
        assert (row["size_bytes"], row["pipeline_chunks"]) == (due.size_bytes, 3)
        assert row["time_s"] == due.time_s
    steps = document("simulate", schedule, "--size", "1MB", "--lockstep", "--gamma", "1")
    assert (steps["lockstep"], steps["sizes"][0]["closed_form"]) == (True, True)


def test_windows_costs_and_priorities_are_those_of_the_library(schedule: Path) -> None:
    """1 MiB in fifths, over 1 GB/s: chunks of at most 64 KiB are four of each transfer."""
    options = (
        *("--pipeline-chunks", "64KB", "--window", "unlimited", "--chunk-cost", "1.5"),
        *("--message-cost", "2", "--efficiency", "0.9", "--priority", "critical-path"),
    )
    found = document("simulate", schedule, "--size", "1MB", *options)
    due = forestcoll.simulate(
        schedule, "1MB", pipeline_chunks=4, window="unlimited", chunk_cost_us="1.5",
        message_cost_us=2, efficiency="0.9", priority="critical-path",
    )  # fmt: skip
    assert found["sizes"][0]["pipeline_chunks"] == 4
    assert found["sizes"][0]["time_s"] == due.time_s > 4 * 2**20 / 5 / 0.9e9
    assert (found["window"], found["priority"]) == ("unlimited", "critical-path")
    assert [found[name]["value"] for name in ("chunk_cost_us", "efficiency")] == [1.5, 0.9]
    lines = invoke("simulate", schedule, "--size", "1MB", *options).stdout.splitlines()
    assert lines[1] == (
        "simulated: alpha 10 us a hop, links shared by size, window unlimited, 1.5 us a pipeline "
        "chunk, 2 us a transfer, 0.9 of each bandwidth, critical paths first"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--size", "1QB"), "--size has '1QB'; write bytes, or a size"),
        (("--size", "0"), "--size has '0'"),
        (("--alpha", "-1"), "alpha is -1; it must be from 0"),
        (("--alpha", "soon"), "alpha is 'soon', which is not a number"),
        (("--gamma", "1e99"), "gamma is 1e99 s/GB; it must be from 0"),
        (
            ("--pipeline-chunks", "many"),
            "--pipeline-chunks is 'many'; it must be a whole number, best, or a size such as 512KB",
        ),
        (("--window", "some"), "--window is 'some'; it must be a whole number, or unlimited"),
        (("--window", "0"), "window is 0; it must be a whole number from 1"),
        (("--chunk-cost", "-1"), "chunk cost is -1 us; it must be from 0"),
        (("--message-cost", "x"), "message cost is 'x', which is not a number"),
        (("--efficiency", "2"), "efficiency is 2; it must be a share above 0, at most 1"),
        (("--sharing", "fifo", "--priority", "critical-path"), "priorities are for fair sharing"),
        (
            ("--pipeline-chunks", "0"),
            "the number of pipeline chunks is 0; it must be a whole number from 1",
        ),
        (("--clock",), "has no clock to keep to"),
        (("--clock", "--lockstep"), "keeps to steps or to its clock; choose one"),
        (("--usage", "usage.bmp"), "usage.bmp"),
        (("--timeline", "times.txt"), "times.txt"),
        (("--timeline", f"{__file__}/times.csv"), "test_simulation.py"),
    ],
)
def test_mistakes_are_one_line(
    schedule: Path, options: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_refused(message, "simulate", schedule, *options)


def test_a_wrong_schedule_is_not_simulated(schedule: Path, tmp_path: Path) -> None:
    content = json.loads(schedule.read_text())
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(content | {"congestion": "1/9", "congestion_decimal": 1 / 9}))
    assert_refused("overloaded", "simulate", forged, code=1)


def test_the_use_of_links_is_drawn(schedule: Path, tmp_path: Path) -> None:
    """The same bytes again."""
    for name in ("usage.svg", "again.svg"):
        assert invoke("simulate", schedule, "--usage", tmp_path / name).exit_code == 0
    text = (tmp_path / "usage.svg").read_text()
    assert "gpu0 -&gt; gpu1  and 4 like it" in text
    assert text == (tmp_path / "again.svg").read_text()


def test_the_timeline_is_drawn_or_written(schedule: Path, tmp_path: Path) -> None:
    """At the last size: 20 transfers in 3 pipeline chunks, up to the makespan of the document."""
    options = ("--size", "1KB,1MB", "--pipeline-chunks", "3")
    for name in ("times.svg", "again.svg", "times.csv"):
        assert invoke("simulate", schedule, *options, "--timeline", tmp_path / name).exit_code == 0
    text = (tmp_path / "times.svg").read_text()
    assert "gpu1 -&gt; gpu2, data of gpu0" in text
    assert text == (tmp_path / "again.svg").read_text()
    lines = (tmp_path / "times.csv").read_text().splitlines()
    assert len(lines) == 1 + 20 * 3
    due = document("simulate", schedule, *options)["sizes"][-1]["time_s"]
    assert float(lines[-1].split(",")[-1]) == pytest.approx(due)


def test_columns_stay_apart_and_one_gpu_has_no_picture(tmp_path: Path, schedule: Path) -> None:
    result = invoke("simulate", schedule, "--size", "976562500000000KB", "--pipeline-chunks", "1")
    assert "  " in result.stdout.splitlines()[-1]
    assert result.stdout.splitlines()[-1].split()[0] == "976562500000000KB"
    alone = tmp_path / "alone.json"
    forestcoll.write_schedule(forestcoll.generate(network_of("alone", "", "one")).schedule, alone)
    assert invoke("simulate", alone, "--size", "1MB").stdout.splitlines()[-1].split()[-1] == "-"
    for option in ("--usage", "--timeline"):
        picture = tmp_path / "picture.svg"
        assert_refused("nothing moves in this schedule", "simulate", alone, option, picture)


def test_ctrl_c_is_one_line(schedule: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Simulator, "run", interrupted)
    assert_refused("interrupted", "simulate", schedule, code=130)
    assert "simulate" in invoke("--help").stdout
    assert cli.app.info.help


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("planned") / "a100.npz"
    made = forestcoll.generate("dgx_a100:boxes=2", size=4_000_000)
    forestcoll.write_schedule(made.schedule, path)
    return path


SLOT_S = 40e-6 / 23
"""A slot of the plan for 4 MB."""


def test_a_plan_is_kept_to(planned: Path) -> None:
    """29.13 us for 4 MB, by the plan of 11 slots; equal shares take longer."""
    lines = invoke("simulate", planned, "--size", "4000000").stdout.splitlines()
    assert lines[1] == "simulated: alpha 10 us a hop, by its time plan"
    assert lines[4].split()[:5] == ["4000000", "29.13", "us", "137.31", "plan"]
    (row,) = document("simulate", planned, "--size", "4000000")["sizes"]
    assert (row["by_plan"], row["time_s"]) == (True, pytest.approx(10e-6 + 11 * SLOT_S))
    assert forestcoll.simulate(planned, 4_000_000).by_plan
    for options in (("--no-plan",), ("--pipeline-chunks", "2"), ("--sharing", "fifo")):
        (row,) = document("simulate", planned, "--size", "4000000", *options)["sizes"]
        assert not row["by_plan"]
        assert row["time_s"] > 31e-6
    assert forestcoll.simulate(planned, 4_000_000, plan=False).time_s > 31e-6
    assert not forestcoll.simulate(planned, 4_000_000, bins=4).by_plan


def test_a_timeline_by_plan_is_drawn_and_written(planned: Path, tmp_path: Path) -> None:
    """Each line a part in its slot; parts of a transfer are its bytes."""
    for name in ("x.svg", "x.csv"):
        options = ("--size", "4000000", "--timeline", tmp_path / name)
        assert invoke("simulate", planned, *options).exit_code == 0
    text = (tmp_path / "x.csv").read_text().splitlines()
    rows = [line.split(",") for line in text[1:]]
    slots = [float(row[7]) / SLOT_S for row in rows]
    assert slots == pytest.approx([*map(round, slots)], abs=1e-6)
    assert max(float(row[10]) for row in rows) == pytest.approx(10e-6 + 11 * SLOT_S)
    assert sum(float(row[6]) for row in rows) == pytest.approx(15 * 4_000_000)
    found = forestcoll.simulate(planned, 4_000_000, timeline=True)
    assert found.by_plan
    assert found.timeline is not None


def test_usage_is_not_drawn_by_plan(planned: Path, tmp_path: Path) -> None:
    options = ("--size", "4000000", "--usage", tmp_path / "x.svg")
    assert_refused("add --no-plan", "simulate", planned, *options)
    assert invoke("simulate", planned, "--no-plan", *options).exit_code == 0
