"""What tree-flow schedules have in common, in whatever form their trees are held."""

from __future__ import annotations

from fractions import Fraction

from forestcoll.problem.collective import algbw_of, collective_of
from forestcoll.schedule.equality import ByValue
from forestcoll.topology.model import Topology

__all__ = ["TreeFlow"]


class TreeFlow(ByValue):
    """W k trees of equal bandwidth, W the sum of the weights; a base of the dataclasses.

    Weights that are not given are all 1.
    """

    topology: Topology
    k: int
    congestion: Fraction
    weights: tuple[int, ...]
    reduction: bool

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1,) * self.topology.num_compute)

    @property
    def collective(self) -> str:
        """What it is: "allgather", "reduce-scatter", "broadcast" or "reduce"."""
        return collective_of(self.weights, self.reduction)

    @property
    def time_s_per_gb(self) -> Fraction:
        """Seconds for one gigabyte of data (in all, over all GPUs): U / (W k)."""
        return self.congestion / (sum(self.weights) * self.k)

    @property
    def algbw_gb_s(self) -> Fraction:
        """Algorithmic bandwidth: data size over time, W k / U, in GB/s.

        Raises
        ------
        UnsupportedError
            If there is a single GPU, whose empty schedule takes no time.
        """
        return algbw_of(self.time_s_per_gb)
