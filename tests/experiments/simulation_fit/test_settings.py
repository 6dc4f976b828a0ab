"""Settings that a fit may choose."""

from __future__ import annotations

from fractions import Fraction

import pytest

from experiments.simulation_fit.curves import simulator_of
from experiments.simulation_fit.measurements import Curve
from experiments.simulation_fit.settings import Settings
from forestcoll.schedule.simulate import AlphaBeta, Priority, best_chunk_count

RING = Curve("ring:nodes=4", "allgather", "ring")


def test_numbers_become_a_model() -> None:
    """A loss of 0.15 is an efficiency of 0.85; what is left out is 0."""
    settings = Settings({"alpha_us": 12.34567, "loss": 0.15}, window=8, lockstep=True)
    assert settings.model == AlphaBeta(
        alpha_us="12.3457", efficiency="0.85", window=8, lockstep=True
    )
    costs = Settings({"chunk_cost_us": 1.5, "message_cost_us": 2, "gamma_s_per_gb": 0.004})
    assert costs.model.chunk_cost_us == Fraction(3, 2)
    assert (costs.model.message_cost_us, costs.model.gamma_s_per_gb) == (2, Fraction(1, 250))
    assert Settings({}, priority=Priority.CRITICAL_PATH).model.has_priorities


def test_a_constant_is_added_and_chunks_have_a_largest_size() -> None:
    """A transfer of a ring both ways has an eighth of 1 MiB: two chunks of 64 KiB."""
    simulator = simulator_of(RING)
    settings = Settings({"alpha_us": 5, "constant_us": 7})
    best = best_chunk_count(simulator, 2**20, AlphaBeta(alpha_us=5))
    assert settings.time_s(simulator, 2**20) == pytest.approx(best.time_s + 7e-6)
    cut = Settings({"alpha_us": 5}, chunk_bytes=2**16)
    due = simulator.run(2**20, AlphaBeta(alpha_us=5), 2).time_s
    assert cut.time_s(simulator, 2**20) == due != best.time_s


def test_words_have_every_setting_in_use() -> None:
    settings = Settings(
        {"alpha_us": 20.5, "loss": 0.2, "constant_us": 0},
        chunk_bytes=2**20,
        priority=Priority.CRITICAL_PATH,
        lockstep=True,
    )
    assert settings.words == (
        "alpha 20.5 us, 80.0% of each bandwidth, window 1, pipeline chunks: at most 1MB, critical "
        "paths first, a barrier after each step"
    )
