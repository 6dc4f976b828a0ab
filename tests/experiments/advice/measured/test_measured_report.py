"""``forestcoll expected --measured``: a run beside what its network can give."""

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.advice.measured.hypotheses import Explained
from experiments.advice.measured.measured_report import compare, figure, lines
from forestcoll.schedule.simulate import AlphaBeta
from forestcoll.topology import load_topology
from tests.command_line import assert_refused, document, invoke
from tests.experiments.advice.measured.runs import output

GIB = 1 << 30


@pytest.fixture
def one_box(tmp_path: Path) -> Path:
    """8 H100s: 1 GiB at 268 GB/s of algbw, 470 of busbw, more than any ring has."""
    path = tmp_path / "run.txt"
    path.write_text(output([(1 << 20, 35.0), (GIB, 4000.0)], 8, 1.75), encoding="utf-8")
    return path


def test_a_run_beside_its_network(one_box: Path) -> None:
    shown = invoke("expected", "dgx_h100:boxes=1", "--measured", one_box).stdout
    assert "dgx_h100:boxes=1, allreduce of 8 GPUs, measured by nccl-tests" in shown
    assert "       1GB      4000.00    268.44    469.76    59.7%        67.1%" in shown
    assert "Fastest: 469.76 GB/s of busbw at 1GB" in shown
    would, would_not = shown.split("What would not: the run is faster")
    assert "NCCL NVLS             700   67.1%" in would
    assert "NCCL ring             450" in would_not
    assert (
        "as if boxes had PCIe 5.0 only                        any                110.28"
        in would_not
    )
    assert "above the bound" not in shown


def test_machines_get_the_same_in_json(one_box: Path) -> None:
    said = document("expected", "dgx_h100:boxes=1", "--measured", one_box, "--alpha", "2us")
    assert said["sizes"][1]["share_of_the_method"] == pytest.approx(268.435456 / 400)
    assert [one["method"] for one in said["explained_by"]] == ["NCCL NVLS"]
    assert [one["method"] for one in said["slower"]] == ["NCCL ring", "NCCL tree"]
    assert {one["as_if"] for one in said["ruled_out"]} == {
        "boxes had PCIe 5.0 only", "boxes had PCIe 4.0 only",
    }  # fmt: skip
    assert said["above_the_bound"] is False


def test_a_dead_nic_explains_the_rate_of_two_boxes(tmp_path: Path) -> None:
    """With a NIC dead the ring has 7 NICs of 50 GB/s; 340 of busbw are 97 % of them."""
    network = load_topology("dgx_h100:boxes=2,nvls=false")
    path = tmp_path / "run.txt"
    us = GIB / (340 * 8 / 15) / 1000
    path.write_text(output([(GIB, us)], 16, 15 / 8), encoding="utf-8")
    report = compare(path, network, "allreduce", None, AlphaBeta(), 90)
    nearest = report.explained[0]
    assert nearest.rate_gb_s is not None
    assert 340 <= float(nearest.rate_gb_s) * 15 / 8 <= 375
    assert "the NIC of b0.gpu0 were dead" in [one.words for one in report.explained]
    assert "one NIC of each box were used" in [one.words for one in report.ruled_out]


def test_what_the_time_limit_cuts_off_is_named(one_box: Path) -> None:
    report = compare(one_box, load_topology("dgx_h100:boxes=1"), "allreduce", None, AlphaBeta(), 90)
    no_rate = Explained("a link were dead", None, "", None, "over 3 s")
    late = [replace(row, of_simulated=None) for row in report.rows]
    said = lines(replace(report, rows=tuple(late), undecided=(no_rate,)))
    assert "  (simulations without a share took too long; see --time-limit)" in said
    at = said.index("Undecided: no rate of NCCL's algorithms, or no time for it; see --time-limit")
    assert [line.split() for line in said[at + 1 :]] == [
        ["as", "if", "a", "link", "were", "dead", "over", "3", "s"]
    ]
    assert not any("took too long" in line or "Undecided" in line for line in lines(report))


def test_a_run_above_the_bound_is_of_another_network(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text(output([(GIB, 2000.0)], 8, 1.75), encoding="utf-8")
    shown = invoke("expected", "dgx_a100:boxes=1", "--measured", path).stdout
    assert "It is above the bound: the network has wider links than described here" in shown


def test_the_picture_shows_measured_rates_and_bounds(one_box: Path, tmp_path: Path) -> None:
    network = load_topology("dgx_h100:boxes=1")
    drawn = figure(compare(one_box, network, "allreduce", None, AlphaBeta(), 60))
    (panel,) = drawn.panels
    series = {one.name: [point.y for point in one.points] for one in panel.series}
    assert list(series) == ["bound", "measured", "NCCL NVLS", "NCCL NVLS, simulated"]
    assert series["bound"] == pytest.approx([787.5, 787.5])
    assert series["NCCL NVLS"] == pytest.approx([700, 700])
    assert series["measured"][1] == pytest.approx(469.76, abs=0.01)
    assert series["NCCL NVLS, simulated"][0] < series["NCCL NVLS, simulated"][1] < 700
    picture = tmp_path / "run.png"
    done = invoke("expected", "dgx_h100:boxes=1", "--measured", one_box, "--picture", picture)
    assert done.exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_options_that_do_not_go_together_are_refused(one_box: Path, tmp_path: Path) -> None:
    network = "dgx_h100:boxes=1"
    measured = ("expected", network, "--measured", one_box)
    assert_refused("leave --demand and --sizes away", *measured, "--sizes", "1MB")
    assert_refused("is of --sizes or --measured", "expected", network, "--alpha", "1")
    assert_refused("is of --measured; add it", "expected", network, "--picture", tmp_path / "a.png")
    assert_refused("is of allreduce; give --collective", *measured, "--collective", "allgather")
    assert_refused("cannot be read", "expected", network, "--measured", tmp_path / "none")
