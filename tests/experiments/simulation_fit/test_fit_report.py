"""The report of a fit."""

from __future__ import annotations

from dataclasses import replace

from experiments.simulation_fit.fit_report import fit_facts, fit_lines
from experiments.simulation_fit.fitting import Residual, SimulationFit
from experiments.simulation_fit.measurements import Measurement
from experiments.simulation_fit.settings import Settings
from tests.experiments.simulation_fit.made import CURVES

FOUND = SimulationFit(
    Settings({"alpha_us": 9.5, "loss": 0.1}),
    (
        Residual(Measurement(CURVES[0], 2**20, 1e-3), 1e-3, held_back=False),
        Residual(Measurement(CURVES[2], 2**20, 1e-3), 2e-3, held_back=True),
    ),
    tried=4,
    all=4,
)


def test_lines_have_a_residual_for_each_measurement() -> None:
    """1.049 GB/s measured and simulated; the held back one is simulated at half of that."""
    lines = fit_lines(FOUND)
    assert lines[0] == "1 measurements fitted, 1 held back"
    assert lines[1] == (
        "settings: alpha 9.5 us, 90.0% of each bandwidth, window 1, pipeline chunks: best"
    )
    assert lines[2] == "error (root mean square): 0.0% fitted, 69.3% held back"
    assert lines[-2].split() == ["allgather/ring", "1MB", "1.049", "1.049", "+0.0%"]
    assert lines[-1].split()[3:] == ["0.5243", "-50.0%", "held", "back"]


def test_a_time_limit_and_no_held_back_curves_are_reported() -> None:
    lines = fit_lines(replace(FOUND, residuals=FOUND.residuals[:1], tried=1))
    assert lines[2] == "error (root mean square): 0.0% fitted"
    assert lines[3] == "the time limit left 3 windows and sizes untried"


def test_facts_have_every_number() -> None:
    facts = fit_facts(FOUND)
    assert (facts["measurements"], facts["fitted"]) == (2, 1)
    assert (facts["alpha_us"], facts["chunk_cost_us"], facts["loss"]) == (9.5, 0, 0.1)
    assert (facts["window"], facts["chunk_bytes"], facts["tried"]) == (1, None, 4)
    assert facts["residuals"][1]["held_back"]
    assert facts["residuals"][1]["residual"] == -0.5
