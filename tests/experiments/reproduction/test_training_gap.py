"""Which assumption the printed shares of figure 13 would need."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from experiments.reproduction import training_gap
from experiments.reproduction.coverage import Coverage
from experiments.reproduction.training_gap import EXPERIMENTS, gaps


@pytest.mark.slow
def test_only_large_models_have_a_gap_and_it_is_stated(coverage: Coverage) -> None:
    """With 2 bytes no GPU is fast enough; rings would have to be 2.3 to 5.3 times slower."""
    found = {one.model: one for one in gaps(coverage.rows)}
    assert found.keys() == {"gemma-2-27b", "llama-2-70b", "llama-3-119b"}
    assert all(one.utilisation[2] > 1 for one in found.values())
    llama = found["llama-2-70b"]
    assert llama.utilisation[4] == pytest.approx(0.70, abs=0.005)
    assert llama.slowdown == pytest.approx({0.4: 3.5, 0.6: 2.33}, abs=0.005)
    assert found["gemma-2-27b"].utilisation[4] > 1
    for one in found.values():
        assert one.saved > one.printed_saving + 0.1  # so rings are not all that differs


@pytest.mark.slow
def test_the_needed_value_gives_the_printed_share(coverage: Coverage) -> None:
    rings = training_gap._simulated(coverage.rows, "ring")
    for one in gaps(coverage.rows):
        tokens = 2048 if one.model.startswith("gemma") else 1024
        for each, used in one.utilisation.items():
            made = training_gap._iteration(one.model, tokens, used, each, rings)
            assert made.visible_share == pytest.approx(one.visible, abs=1e-6)
        for used, slower in one.slowdown.items():
            made = training_gap._iteration(one.model, tokens, used, 2, rings, slower)
            assert made.visible_share == pytest.approx(one.visible, abs=1e-6)


def test_the_model_agrees_with_the_simulated_rows(coverage: Coverage) -> None:
    """One sequence a GPU; above 1 GB the rate of 1 GB stands for the simulation."""
    rings = training_gap._simulated(coverage.rows, "ring")
    checked = 0
    for row in (row for name in EXPERIMENTS for row in coverage.rows[name]):
        given = row.parameters
        model, tokens = str(given["model"]), int(str(given["tokens"]))
        if row.method == "ring" and tokens < 8192 and model.endswith(("0b", "7b", "9b")):
            made = training_gap._iteration(
                model,
                tokens,
                float(str(given["utilisation"])),
                int(str(given["bytes_each"])),
                rings,
            )
            assert made.visible_share == pytest.approx(row.visible_share, abs=0.015), given
            checked += 1
    assert checked == 16


def test_without_rows_there_is_nothing_to_say() -> None:
    assert gaps({}) == []


def test_the_picture_shows_all_models(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    for name in EXPERIMENTS:
        (tmp_path / "results" / name).mkdir(parents=True)
        shutil.copy(root / "results" / name / "rows.jsonl", tmp_path / "results" / name)
    written = training_gap._draw(tmp_path)
    assert written == tmp_path / "results" / "forestcoll" / "figure13.png"
    assert written.read_bytes().startswith(b"\x89PNG")
