"""The throughput optimum as a number, with what proves it: a bottleneck cut, or prices.

Weights say how the data is shared out: rank r holds w(r) / W of it, W their sum (in a reduction,
wants the sum of such a part). All 1 make an allgather or a reduce-scatter, a single 1 a broadcast
or a reduce.

What :func:`forestcoll.core.optimality.optimum` finds and a schedule may claim; apart from the
search, so that whoever checks a claim needs nothing of what made it.
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
    """The best any schedule can do on a network, with its witness.

    Parameters
    ----------
    topology : Topology
    inverse_rate : Fraction
        1/x*, in seconds per GB: M GB in all take at least (M/W) (1/x*).
    cut : tuple of int
        Positions of the nodes of the bottleneck cut S*, sorted; the data of its GPUs must leave
        over its exit links. In a reduction the sums for its GPUs must enter it. With ``prices``,
        the cut that has the highest.
    k : int
        The least number of trees per unit of weight for which U b is a whole number on every link,
        so that all of them can be filled. Fewer may attain the optimum too (docs/fixed-k.md).
        With ``usable_gb_s``, of these instead of the bandwidths.
    congestion : Fraction
        U = k / x*, trees per GB/s.
    weights : tuple of int
        Of each rank, from 0 up, without a common divisor; all 1 if not given.
    reduction : bool
        Whether data is summed up on its way to the roots, not sent out from them.
    prices : RateBound, optional
        What proves the optimum where one cut does not: some switch sends more than it receives, or
        links share a capacity.
    usable_gb_s : tuple of Fraction
        Then: how much of each link trees that attain it use at most, in the order of the links.
        Each switch sends no more of it than it receives. Empty if all bandwidth is usable.
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
        """What is optimal: "allgather", "reduce-scatter", "broadcast" or "reduce"."""
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
        """What proves the optimum, a single cut too, as prices."""
        alone = (self.topology, self.cut, self.weights, self.reduction)
        return self.prices or RateBound.of_cut(*alone)

    @property
    def is_proved(self) -> bool:
        """Whether ``certificate`` equals ``inverse_rate``, so that nothing is faster."""
        return self.certificate() == self.inverse_rate

    def what_binds(self) -> list[str]:
        """Return in words what proves the optimum: the bottleneck cut, or all that has a price."""
        if self.prices is not None:
            return self.prices.in_words()
        return [self.bottleneck.in_words(), *map(str, self.bottleneck.exit_classes())]

    def in_a_line(self) -> str:
        """Return what is how fast on which network."""
        name = f"{self.collective} on {self.topology.name}"
        return f"{name}: {rate(self.algbw_gb_s)}, k = {self.k}"

    def in_a_table(self) -> dict[str, object]:
        """Return the same, with what proves it."""
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
