"""Reduce-scatters beside the allgathers that they mirror, with equal shares and with priorities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.simulation_fit.curves import simulators
from experiments.simulation_fit.measurements import Curve
from forestcoll.schedule.simulate import AlphaBeta, Priority, best_chunk_count

__all__ = ["NETWORKS", "SIZES", "Mirrored", "mirrored"]

NETWORKS = (
    "dgx_a100:boxes=2",
    "dgx_a100:boxes=4",
    "dgx_h100:boxes=2",
    "mi250:boxes=2",
    "mi250:boxes=2,gpus_per_box=8",
    "torus:dims=4x4",
    "torus:dims=3x3x3",
    "hypercube:dimension=4",
)
SIZES = tuple(2**power for power in range(10, 31, 2))
"""1 KB to 1 GB."""

_PRIORITIES = tuple(Priority)


@dataclass(frozen=True, slots=True)
class Mirrored:
    """Simulated times of ForestColl's schedules at one size, in seconds, by priority."""

    topology: str
    size_bytes: int
    allgather_s: dict[Priority, float]
    reduce_scatter_s: dict[Priority, float]
    allreduce_s: dict[Priority, float]

    def over(self, priority: Priority) -> float:
        """Return the reduce-scatter's time over that of the allgather with equal shares."""
        return self.reduce_scatter_s[priority] / self.allgather_s[Priority.EQUAL]


def mirrored(
    networks: Sequence[str] = NETWORKS,
    sizes: Sequence[int] = SIZES,
    progress: Callable[[int, int], None] | None = None,
) -> list[Mirrored]:
    """Simulate allgathers, reduce-scatters and allreduces with 10 us a hop."""
    found = []
    for number, network in enumerate(networks, 1):
        curves = [
            Curve(network, name, "forestcoll")
            for name in ("allgather", "reduce-scatter", "allreduce")
        ]
        made = simulators(curves)
        for size in sizes:
            times = [
                {
                    priority: best_chunk_count(made[one], size, AlphaBeta(priority=priority)).time_s
                    for priority in _PRIORITIES
                }
                for one in curves
            ]
            found.append(Mirrored(network, size, *times))
        if progress is not None:
            progress(number, len(networks))
    return found
