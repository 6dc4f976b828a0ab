"""The throughput optimum of a network with its proof: a bottleneck cut, or prices.

Weights share the data out: rank r holds w(r) / W of it, with W their sum. In a reduction it wants
the sum of such a part. All weights 1 make an allgather or a reduce-scatter, a single 1 a broadcast
or a reduce.

:func:`forestcoll.core.optimality.optimum` finds optima, and schedules may claim them. This module
is apart from the search, so that a check of a claim shares no code with what made it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.problem.collective import collective_of
from forestcoll.problem.cuts import Cut
from forestcoll.problem.rate_bound import RateBound
from forestcoll.topology.describe import rate
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.model import Topology

__all__ = ["Optimum"]


@dataclass(frozen=True, repr=False)
class Optimum(InBrief):
    """The highest rate of any schedule on a network, with its proof.

    Parameters
    ----------
    inverse_rate : Fraction
        1/x*, in seconds per GB: M GB in all take at least (M/W) (1/x*).
    cut : tuple of int
        Positions of the nodes of the bottleneck cut S*, sorted. The data of its GPUs must leave
        over its exit links; in a reduction the sums for its GPUs must enter it. With ``prices``,
        the cut of the highest price.
    k : int
        The least number of trees per unit of weight for which U b is a whole number on every link,
        so that trees can fill every link. Fewer may attain the optimum too (docs/fixed-k.md).
        With ``usable_gb_s``, b is the usable part of a link, not its bandwidth.
    congestion : Fraction
        U = k / x*, trees per GB/s.
    weights : tuple of int
        The weight of each rank, from 0 up, without a common divisor; all 1 if not given.
    reduction : bool
        Whether data is summed up on its way to the roots, not sent out from them.
    prices : RateBound, optional
        The proof where one cut is none, because some switch sends more than it receives, or links
        share a capacity.
    usable_gb_s : tuple of Fraction
        With ``prices``: the part of each link that optimal trees may use, in the order of the
        links. Each switch sends no more of it than it receives. Empty if all bandwidth is usable.
    """

    topology: Topology
    inverse_rate: Fraction
    cut: tuple[int, ...]
    k: int
    congestion: Fraction
    weights: tuple[int, ...] = ()
    reduction: bool = False
    prices: RateBound | None = None
    usable_gb_s: tuple[Fraction, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1,) * self.topology.num_compute)

    @property
    def collective(self) -> str:
        """The collective: "allgather", "reduce-scatter", "broadcast" or "reduce"."""
        return collective_of(self.weights, self.reduction)

    @property
    def algbw_gb_s(self) -> Fraction:
        """Optimal algorithmic bandwidth W x*, in GB/s."""
        return sum(self.weights) / self.inverse_rate

    @property
    def time_s_per_gb(self) -> Fraction:
        """Least seconds per gigabyte of data in all, (1/W) (1/x*)."""
        return self.inverse_rate / sum(self.weights)

    @property
    def bottleneck(self) -> Cut:
        """The bottleneck cut, with its GPUs, its exit links and the bound in words.

        With ``prices`` its own bound is weaker than the optimum.
        """
        return Cut(self.topology, self.cut, self.weights, self.reduction)

    @property
    def bound(self) -> RateBound:
        """The proof as prices; a bottleneck cut becomes a single price."""
        alone = (self.topology, self.cut, self.weights, self.reduction)
        return self.prices or RateBound.of_cut(*alone)

    @property
    def is_proved(self) -> bool:
        """Whether ``certificate`` equals ``inverse_rate``, so that nothing is faster."""
        return self.certificate() == self.inverse_rate

    def what_binds(self) -> list[str]:
        """Return the proof in words: the bottleneck cut, or all that has a price."""
        if self.prices is not None:
            return self.prices.in_words()
        return [self.bottleneck.in_words(), *map(str, self.bottleneck.exit_classes())]

    def in_a_line(self) -> str:
        """Return collective, rate and network in a line."""
        name = f"{self.collective} on {self.topology.name}"
        return f"{name}: {rate(self.algbw_gb_s)}, k = {self.k}"

    def in_a_table(self) -> dict[str, object]:
        """Return the same, with the proof."""
        proof: dict[str, object] = {"what binds": self.what_binds()}
        if self.prices is None:
            cut = self.bottleneck
            proof = {"bottleneck cut": [cut.in_words(), *cut.exit_classes()]}
        return {
            "topology": self.topology.name,
            "collective": self.collective,
            "algbw": rate(self.algbw_gb_s),
            "1/x*": f"{self.inverse_rate} s/GB",
            "k": self.k,
            **proof,
        }

    def certificate(self) -> Fraction:
        """Recompute the bound on 1/x* from the topology alone; equals ``inverse_rate``.

        It is w(S*) / B+(S*) of the bottleneck cut, or what the prices add up to.
        """
        return self.bottleneck.inverse_rate if self.prices is None else self.prices.inverse_rate
