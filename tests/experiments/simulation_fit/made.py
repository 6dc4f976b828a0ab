"""Measurements that settings of ours made, on a small ring."""

from __future__ import annotations

from experiments.simulation_fit.curves import simulators
from experiments.simulation_fit.measurements import Curve, Measurement
from experiments.simulation_fit.settings import Settings

SIZES = (2**10, 2**16, 2**20, 2**23)
CURVES = (
    Curve("ring:nodes=6,bandwidth=5", "allgather", "ring"),
    Curve("ring:nodes=6,bandwidth=5", "allgather", "forestcoll"),
    Curve("ring:nodes=6,bandwidth=5", "reduce-scatter", "ring"),
)
TRUE = Settings({"alpha_us": 8.0, "constant_us": 30.0, "loss": 0.2}, chunk_bytes=2**16)


def measured_with(settings: Settings = TRUE) -> list[Measurement]:
    """Return the simulated times of the curves as if they were measured."""
    made = simulators(CURVES)
    return [
        Measurement(curve, size, settings.time_s(made[curve], size))
        for curve in CURVES
        for size in SIZES
    ]
