"""Base class of tree-flow schedules: explicit, factored and multicast forests."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

from forestcoll.problem.collective import algbw_of, collective_of
from forestcoll.schedule.equality import ByValue
from forestcoll.topology.describe import rate
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.model import Topology

__all__ = ["TreeFlow"]


class TreeFlow(ByValue, InBrief):
    """W k trees of equal bandwidth, W the sum of the weights; base class of forests.

    If weights are not given, all are 1.
    """

    topology: Topology
    k: int
    congestion: Fraction
    weights: tuple[int, ...]
    reduction: bool
    method: str

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1,) * self.topology.num_compute)

    @property
    def collective(self) -> str:
        """The collective: "allgather", "reduce-scatter", "broadcast" or "reduce"."""
        return collective_of(self.weights, self.reduction)

    @property
    def time_s_per_gb(self) -> Fraction:
        """Seconds for one gigabyte of data (in all, over all GPUs): U / (W k)."""
        return self.congestion / (sum(self.weights) * self.k)

    @property
    def algbw_gb_s(self) -> Fraction:
        """Algorithmic bandwidth: data size over time, W k / U, in GB/s.

        Raises UnsupportedError if there is a single GPU, whose empty schedule takes no time.
        """
        return algbw_of(self.time_s_per_gb)

    @property
    @abstractmethod
    def num_trees(self) -> int:
        """Trees, counted with their multiplicity."""

    def in_a_line(self) -> str:
        """Return its collective, network and speed."""
        speed = rate(self.algbw_gb_s) if self.time_s_per_gb else "empty"
        trees = f"k = {self.k}, {self.num_trees} trees"
        return f"{self.collective} on {self.topology.name}: {speed}, {trees}"

    def in_a_table(self) -> dict[str, object]:
        """Return the same facts as a table."""
        return {
            "topology": self.topology.name,
            "collective": self.collective,
            "method": self.method,
            "algbw": rate(self.algbw_gb_s) if self.time_s_per_gb else None,
            "k": self.k,
            "trees": self.num_trees,
        }
