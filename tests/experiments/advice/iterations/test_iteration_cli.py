"""The command ``forestcoll iteration``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import assert_refused, document, invoke

SMALL = ("iteration", "llama-3-8b", "dgx_a100:boxes=1", "--tokens", "512", "--context", "512")


def test_an_iteration_fits_on_one_screen() -> None:
    shown = invoke(*SMALL, "--other", "ring", "--recompute")
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[0] == "llama-3-8b, sharded parallel on 8 GPUs of dgx_a100:boxes=1"
    assert lines[1] == (
        "computing: modelled: 512 tokens a GPU, context 512, 312 TFLOP/s at 50%, forward pass "
        "recomputed"
    )
    assert [line[:12].strip() for line in lines[5:]] == ["forestcoll", "ring", "forestcoll,"]


def test_savings_are_relative_to_the_first_row() -> None:
    text = document(*SMALL, "--other", "ring", "--faster", "4")
    first, ring, faster = text["runs"]
    assert first["saved_ms"] == 0
    assert text["all_to_all_gap"] is None
    assert ring["saved_ms"] == pytest.approx(first["iteration_ms"] - ring["iteration_ms"])
    assert faster["with"] == "forestcoll, links 4 times as fast"
    assert faster["communication_ms"] < first["communication_ms"]
    assert faster["saved_ms"] >= 0
    for run in text["runs"]:
        assert run["computing_ms"] + run["visible_ms"] == pytest.approx(run["iteration_ms"])


def test_own_layers_have_measured_times(tmp_path: Path) -> None:
    layers = tmp_path / "layers.csv"
    layers.write_text("name,forward_us,backward_us,parameter_bytes\na,100,200,1000000\n")
    text = document("iteration", layers, "ring:nodes=4", "--parallel", "data", "--bucket", "1MB")
    assert text["computing_is"] == "measured, from the file"
    assert text["runs"][0]["computing_ms"] == pytest.approx(0.3)
    assert text["runs"][0]["bucket_bytes"] == 2**20


@pytest.mark.slow
def test_timelines_are_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "timeline.svg"
    model = ("iteration", "switch-base-256", "hypercube:dimension=3", "--parallel", "expert")
    shown = invoke(*model, "--tokens", "256", "--context", "128", "--picture", picture)
    assert shown.exit_code == 0, shown.output
    assert "<svg" in picture.read_text(encoding="utf-8")
    (line,) = (line for line in shown.stdout.splitlines() if line.startswith("all-to-alls"))
    assert "their rate is within" in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gpt-9", "ring:nodes=4"], "model is 'gpt-9'; it must be one of"),
        (["none.csv", "ring:nodes=4"], "none.csv"),
        (["llama-3-8b", "ring:nodes=4", "--parallel", "tensor"], "parallel is 'tensor'"),
        (["llama-3-8b", "ring:nodes=4", "--utilisation", "0"], "utilisation is 0.0"),
        (["llama-3-8b", "ring:nodes=4", "--flops", "0"], "flops is 0.0"),
        (["llama-3-8b", "ring:nodes=4", "--faster", "0"], "--faster is '0'"),
        (["llama-3-8b", "ring:nodes=4", "--bucket", "big"], "--bucket has 'big'"),
        (["llama-3-8b", "ring:nodes=4", "--picture", "timeline.doc"], "timeline.doc"),
        (["llama-3-8b", "ring:nodes=4", "--method", "magic"], "method is 'magic'"),
    ],
)
def test_wrong_input_is_refused_in_one_line(arguments: list[str], message: str) -> None:
    assert_refused(message, "iteration", *arguments)
