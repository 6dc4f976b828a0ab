"""Scan of k, the trees per root: rate, number of trees and depth for every k up to a limit.

Problem: the optimal k may be in the hundreds, where a few trees do nearly as well.
Input:   a topology, a collective, and the largest k.
Output:  rate, distinct trees and depth for each k; the Pareto front; at the best rate, the smallest
         k and the least depth.
Cost:    a search and a packing for each k.
Source:  ForestColl section 5.5 (scan k < 10) and table 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from forestcoll.core.assembly import tree_depths
from forestcoll.errors import UnsupportedError
from forestcoll.generation import Progress, generate
from forestcoll.problem.options import Options, check_k
from forestcoll.schedule.allreduce import Allreduce, AnyForest, TreeSchedule
from forestcoll.schedule.factored import FactoredForest
from forestcoll.topology.in_brief import InARow, InBrief
from forestcoll.topology.in_rows import InRows
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BestK", "Choice", "Choices", "best_k"]


@dataclass(frozen=True, slots=True, repr=False)
class Choice(InARow):
    """A number of trees per root, with its rate, number of trees and depth.

    Parameters
    ----------
    k : int
        Trees per unit of weight.
    algbw_gb_s : Fraction
        Algorithmic bandwidth, in GB/s.
    trees : int
        Distinct trees; for an allreduce, in both of its forests.
    depth : int
        GPU hops in the deepest tree; for an allreduce, the sum over both forests.
    optimal : bool
        Whether no number of trees gives a higher rate.
    """

    k: int
    algbw_gb_s: Fraction
    trees: int
    depth: int
    optimal: bool

    def in_a_row(self) -> dict[str, object]:
        """Return the choice by the names of its attributes."""
        return {
            "k": self.k,
            "algbw_gb_s": self.algbw_gb_s,
            "trees": self.trees,
            "depth": self.depth,
            "optimal": self.optimal,
        }

    def dominates(self, other: Choice) -> bool:
        """Whether it is at least as good in every respect, k included; ties go to the first."""
        return (
            self.k <= other.k
            and self.algbw_gb_s >= other.algbw_gb_s
            and self.trees <= other.trees
            and self.depth <= other.depth
        )


class Choices(InRows[Choice]):
    """Choices of k, in the order of k."""

    __slots__ = ()
    what = "choice"


@dataclass(frozen=True, slots=True, repr=False)
class BestK(InBrief):
    """All choices of k up to a limit.

    Parameters
    ----------
    choices : Choices
        In the order of k, from 1.
    """

    choices: Choices

    def in_a_line(self) -> str:
        """Return the fastest choice."""
        return f"of k up to {len(self.choices)}: the fastest is {self.fastest.in_a_line()}"

    def in_a_table(self) -> dict[str, object]:
        """Return the choices that no other one dominates."""
        return {f"k = {one.k}": one.in_a_line() for one in self.pareto}

    def _repr_html_(self) -> str:
        """All choices, a row each."""
        return self.choices._repr_html_()

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with a row for each k."""
        return self.choices.to_frame()

    @property
    def pareto(self) -> Choices:
        """The choices that no other one dominates, in the order of k.

        The first is k = 1. Each later one is faster than all before it, or has fewer or shallower
        trees.
        """
        return Choices(
            one
            for one in self.choices
            if not any(other.dominates(one) for other in self.choices if other.k < one.k)
        )

    @property
    def fastest(self) -> Choice:
        """The choice with the highest rate; ties go to the smallest k."""
        return max(self.choices, key=lambda one: (one.algbw_gb_s, -one.k))

    @property
    def lowest(self) -> Choice:
        """The choice with the least depth at the highest rate; ties go to the smallest k."""
        return max(self.choices, key=lambda one: (one.algbw_gb_s, -one.depth, -one.k))


def best_k(
    topology: Network,
    max_k: int,
    options: Options | None = None,
    *,
    progress: Progress | None = None,
    **given: Any,
) -> BestK:
    """Try every k up to a limit.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
        At least two GPUs.
    max_k : int
        The largest number of trees per unit of weight.
    options : Options, optional
        As for :func:`forestcoll.generation.generate`, except ``k``.
    progress : callable, optional
        Called with (stage, done, total), for each k.
    **given
        Single options by name.

    Returns
    -------
    BestK

    Raises
    ------
    InvalidParameterError
        If max_k is not a whole number from 1 up.
    UnsupportedError
        If there is a single GPU.
    ForestCollError
        As :func:`forestcoll.generation.generate`.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> tried = best_k(load_topology("mi250:boxes=2"), 4)
    >>> [(one.k, one.algbw_gb_s.limit_denominator(99)) for one in tried.pareto]
    [(1, Fraction(320, 1)), (2, Fraction(1024, 3)), (3, Fraction(2400, 7))]
    >>> tried.fastest.k
    3
    """
    check_k(max_k, "the largest k")
    asked, topology = Options.of(options, given), as_topology(topology)
    if topology.num_compute == 1:
        raise UnsupportedError("the schedule of a single GPU is empty, whatever the k")
    # Factored forests suffice to measure depths, and are faster to make than explicit ones.
    asked = replace(asked, factored=not asked.multicast, routed=False)
    tried = (replace(asked, k=k) for k in range(1, max_k + 1))
    return BestK(Choices(_tried(topology, one, progress) for one in tried))


def _tried(topology: Topology, options: Options, progress: Progress | None) -> Choice:
    schedule = generate(topology, options, progress=progress).schedule
    forests = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
    tall = [_heights(forest) for forest in forests]
    assert options.k is not None
    return _choice(options.k, schedule, tall)


def _heights(forest: AnyForest) -> Any:
    return tree_depths(forest)[1] if isinstance(forest, FactoredForest) else forest.tree_depths()


def _choice(k: int, schedule: TreeSchedule, tall: list[Any]) -> Choice:
    return Choice(
        k=k,
        algbw_gb_s=schedule.algbw_gb_s,
        trees=sum(len(each) for each in tall),
        depth=sum(int(each.max()) for each in tall),
        optimal=schedule.optimal if isinstance(schedule, Allreduce) else bool(schedule.optimum),
    )
