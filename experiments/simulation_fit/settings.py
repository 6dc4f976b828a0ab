"""Settings of a simulation that can be fitted: a model, a constant, and the size of chunks.

Each free parameter has a range and a start. A loss is what efficiency leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from forestcoll.problem.sizes import size_text
from forestcoll.schedule.simulate import (
    UNLIMITED,
    AlphaBeta,
    Priority,
    Simulator,
    best_chunk_count,
    chunk_count_within,
)

__all__ = ["CHUNK_SIZES", "PARAMETERS", "WINDOWS", "Parameter", "Settings"]

Window = int | Literal["unlimited"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A free parameter: its range, the start of a fit, and the digits behind the point."""

    name: str
    least: float
    start: float
    most: float
    digits: int = 4


PARAMETERS = {
    one.name: one
    for one in (
        Parameter("alpha_us", 0.01, 10, 1000),
        Parameter("chunk_cost_us", 0.001, 2, 1000),
        Parameter("message_cost_us", 0.001, 2, 1000),
        Parameter("gamma_s_per_gb", 1e-6, 0.002, 1, digits=6),
        Parameter("constant_us", 0.01, 10, 10_000),
        Parameter("loss", 1e-4, 0.1, 0.9, digits=5),
    )
}
"""The numbers that a fit may choose; all are 0 by default."""

WINDOWS: tuple[Window, ...] = (1, 2, 8, UNLIMITED)
"""Windows that a fit tries."""

CHUNK_SIZES: tuple[int | None, ...] = (2**22, 2**20, 2**18, None)
"""Largest pipeline chunks that a fit tries, in bytes; None: the best number at each size."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a simulation of a curve assumes.

    Parameters
    ----------
    values : mapping
        Free parameters by name; those left out are 0.
    window : int or "unlimited"
    chunk_bytes : int, optional
        Largest pipeline chunk; the best number of them if not given.
    priority : Priority
    lockstep : bool
    """

    values: Mapping[str, float]
    window: Window = 1
    chunk_bytes: int | None = None
    priority: Priority = Priority.EQUAL
    lockstep: bool = False

    def text_of(self, name: str) -> str:
        """Return a parameter as a decimal."""
        parameter = PARAMETERS[name]
        digits = f"{self.values.get(name, 0):.{parameter.digits}f}"
        return digits.rstrip("0").rstrip(".")

    @property
    def model(self) -> AlphaBeta:
        """The model of the simulator."""
        costs = ("alpha_us", "chunk_cost_us", "message_cost_us", "gamma_s_per_gb")
        given = {name: self.text_of(name) for name in costs}
        loss = float(self.text_of("loss"))
        return AlphaBeta(
            **given,  # type: ignore[arg-type]
            efficiency=f"{1 - loss:.5f}",
            window=self.window,
            priority=self.priority,
            lockstep=self.lockstep,
        )

    def time_s(self, simulator: Simulator, size_bytes: int) -> float:
        """Return the simulated time of a size, with the constant."""
        model = self.model
        if self.chunk_bytes is None:
            found = best_chunk_count(simulator, size_bytes, model)
        else:
            count = chunk_count_within(simulator, size_bytes, self.chunk_bytes)
            found = simulator.run(size_bytes, model, count)
        return found.time_s + float(self.text_of("constant_us")) / 1e6

    @property
    def words(self) -> str:
        """The settings in one line."""
        labels = {
            "alpha_us": "alpha {} us",
            "chunk_cost_us": "{} us a pipeline chunk",
            "message_cost_us": "{} us a transfer",
            "gamma_s_per_gb": "gamma {} s/GB",
            "constant_us": "{} us a run",
        }
        parts = [
            labels[name].format(self.text_of(name)) for name in labels if self.values.get(name)
        ]
        if self.values.get("loss"):
            parts.append(f"{1 - float(self.text_of('loss')):.1%} of each bandwidth")
        size = "best" if self.chunk_bytes is None else f"at most {size_text(self.chunk_bytes)}"
        parts += [f"window {self.window}", f"pipeline chunks: {size}"]
        if self.priority is Priority.CRITICAL_PATH:
            parts.append("critical paths first")
        if self.lockstep:
            parts.append("a barrier after each step")
        return ", ".join(parts)
