"""The command ``forestcoll fit-times``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import assert_refused, document, invoke
from tests.experiments.simulation_fit.made import measured_with


@pytest.fixture
def times(tmp_path: Path) -> Path:
    file = tmp_path / "times.csv"
    rows = [
        f"{size},{20 + 10 * steps + 1e-4 * size * 1.5},{steps},1.5"
        for steps in (4, 8)
        for size in (1024, 2**20, 2**28)
    ]
    file.write_text("size_bytes,time_us,steps,share\n" + "\n".join(rows) + "\n")
    return file


def test_numbers_residuals_and_predictions_are_shown(times: Path) -> None:
    shown = invoke("fit-times", times, "--predict", "1MB:2:1.5")
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[0] == "6 measurements: alpha 10 us, epsilon 20 us, B 10 GB/s"
    assert lines[1] == "residuals: 0.0% on average, +0.0% at worst" or "-0.0%" in lines[1]
    assert lines[-1].split() == ["1048576", "2", "1.5", "197.29"]


def test_machines_get_the_same_in_json(times: Path) -> None:
    text = document("fit-times", times)
    assert text["alpha_us"] == pytest.approx(10)
    assert text["bandwidth_gb_s"] == pytest.approx(10)
    assert len(text["residuals"]) == text["measurements"] == 6
    assert abs(text["worst_residual"]) < 1e-9


def test_one_schedule_has_one_latency(times: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.csv"
    one.write_text("size_bytes,time_us\n1024,60\n1048576,160\n")
    shown = invoke("fit-times", one, "--steps", "4", "--share", "1.5").stdout
    assert "one number of steps only: alpha has all of the latency" in shown


def test_measured_and_fitted_times_are_drawn(times: Path, tmp_path: Path) -> None:
    picture = tmp_path / "fit.svg"
    assert invoke("fit-times", times, "--picture", picture).exit_code == 0
    assert "4 steps, 1.5 M / B, measured" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize("asked", ["1MB", "1MB:2", "x:2:1", "1MB:-1:1", "1MB:1:1:1", "1MB:a:1"])
def test_wrong_predictions_are_refused(times: Path, asked: str) -> None:
    assert_refused("write SIZE:STEPS:SHARE", "fit-times", times, "--predict", asked)


@pytest.fixture
def curves(tmp_path: Path) -> Path:
    file = tmp_path / "curves.csv"
    rows = [
        f'"{one.curve.topology}",{one.curve.collective},{one.curve.method},{one.size_bytes},'
        f"{one.time_s * 1e6}"
        for one in measured_with()
    ]
    file.write_text("topology,collective,method,size,time_us\n" + "\n".join(rows) + "\n")
    return file


@pytest.mark.slow
def test_a_file_of_schedules_fits_the_simulator(curves: Path, tmp_path: Path) -> None:
    """The settings that made the times; one window and size of chunks within the time limit."""
    picture = tmp_path / "fit.svg"
    shown = invoke(
        "fit-times", curves, "--hold-out", "reduce-scatter/*", "--seconds", "0",
        "--picture", picture,
    )  # fmt: skip
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[0] == "8 measurements fitted, 4 held back"
    assert lines[1].startswith("settings: alpha ")
    assert lines[3] == "the time limit left 15 windows and sizes untried"
    assert len(lines) == 18
    assert "ring (fitted)" in picture.read_text(encoding="utf-8")
    facts = document("fit-times", curves, "--hold-out", "reduce-scatter/*", "--seconds", "0")
    assert facts["alpha_us"] == pytest.approx(8, rel=0.1)
    assert (facts["fitted"], facts["window"]) == (8, 1)
    assert facts["held_back_error"] < 0.1


def test_options_are_for_one_kind_of_file(times: Path, curves: Path) -> None:
    assert_refused("--hold-out is for curves of schedules", "fit-times", times, "--hold-out", "*")
    assert_refused("are for files with steps", "fit-times", curves, "--steps", "3")
    assert_refused("no curve is named 'x'", "fit-times", curves, "--hold-out", "x")
