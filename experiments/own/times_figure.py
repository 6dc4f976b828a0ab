"""Picture of times over the least possible time: a heat map for each collective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.figures.figure import Axis, Cell, ColourScale, Figure, Panel
from forestcoll.problem.sizes import size_text

__all__ = ["TimeRow", "times_figure"]

_HIGH = 40.0
"""Percent from which on all cells have one colour; their words say more."""


@dataclass(frozen=True, slots=True)
class TimeRow:
    """Times of a collective at a size, in us; all model data as fluid."""

    topology: str
    collective: str
    size_bytes: int
    bound_us: float  # no schedule takes less
    planned_us: float  # of the forest over time, by a plan of its rates
    plan: str
    simulated_us: float  # of the same forest, without a plan
    optimal_forest_us: float  # of the optimal forest in simulation
    cpu_s: float  # to make the forest over time
    baseline_us: float | None = None  # of the best of other schedules, where some are tried
    baseline: str = ""  # its name

    @property
    def best_us(self) -> float:
        """The least of all times."""
        forests = min(self.planned_us, self.simulated_us, self.optimal_forest_us)
        return forests if self.baseline_us is None else min(forests, self.baseline_us)

    @property
    def of_bound(self) -> float:
        """The best time as a multiple of the least possible time."""
        return self.best_us / self.bound_us

    @property
    def method(self) -> str:
        """Whose time is the best."""
        if self.best_us == self.planned_us:
            return f"planned: {self.plan}"
        if self.best_us == self.simulated_us:
            return "forest over time, simulated"
        if self.best_us == self.optimal_forest_us:
            return "optimal forest, simulated"
        return self.baseline


def times_figure(rows: Sequence[TimeRow], collectives: Sequence[str]) -> Figure:
    """Describe the best times of some collectives, in percent above the bound."""
    sizes = sorted({row.size_bytes for row in rows})
    networks = list(dict.fromkeys(row.topology for row in rows))
    # Every other one: all have no room at print width.
    names = tuple("" if place % 2 else size_text(size) for place, size in enumerate(sizes))
    across = Axis("size", names=names)
    up = Axis(names=tuple(networks), downwards=True)
    panels = tuple(
        Panel(
            collective,
            across,
            up,
            cells=tuple(
                Cell(
                    sizes.index(row.size_bytes),
                    networks.index(row.topology),
                    min(_HIGH, _excess(row)),
                    f"{_excess(row):.0f}",
                )
                for row in rows
                if row.collective == collective
            ),
        )
        for collective in collectives
    )
    scale = ColourScale("% above the least possible time", 0.0, _HIGH, logarithmic=False)
    return Figure(panels, size=(3.2, 2.9), colours=scale)


def _excess(row: TimeRow) -> float:
    return max(0.0, 100 * (row.of_bound - 1))
