"""Allreduce type: a reduction and a gathering of its sums, the phases pipelined.

Problem: give every GPU the sum of the data of all.
Input:   a reduction and a gathering forest.
Output:  one schedule of two phases.
Cost:    none; its time takes a pass over the hops of the paths.
Source:  ForestColl section 5.7: an allreduce is a reduce-scatter and then an allgather.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Generic, TypeVar

from forestcoll.errors import UnsupportedError
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.collective import algbw_of
from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.pipelined import AnyForest, pipelined
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.describe import rate
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.model import Topology

__all__ = ["Allreduce", "AnyForest", "AnySchedule", "TreeSchedule", "not_taken"]


F = TypeVar("F", Forest, FactoredForest, MulticastForest)


@dataclass(frozen=True, eq=False, repr=False)
class Allreduce(ByValue, InBrief, Generic[F]):
    """A reduction and then a gathering of the same parts: every GPU gets the sums of all.

    The phases are a reduce-scatter and an allgather, or a reduce and a broadcast.

    Parameters
    ----------
    reduce : Forest, FactoredForest or MulticastForest
        Brings to every GPU the sum of its part.
    gather : Forest, FactoredForest or MulticastForest
        Sends these sums to all; on the same topology, with the same weights.
    bound : AllreduceBound, optional
        A bound on every allreduce of its model, with the prices that prove it; None when nothing
        is claimed. The schedule is optimal where it attains it.
    remark : str
        Why this schedule was chosen, in words; not kept in files.
    """

    reduce: F
    gather: F
    bound: AllreduceBound | None = field(default=None, repr=False, hash=False)
    remark: str = field(default="", compare=False)

    @property
    def collective(self) -> str:
        """Always "allreduce"."""
        return "allreduce"

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.gather.topology

    @property
    def phases(self) -> tuple[F, F]:
        """The reduction and the gathering, in the order of their times."""
        return (self.reduce, self.gather)

    @cached_property
    def time_s_per_gb(self) -> Fraction:
        """Seconds for one gigabyte, pipelined; the phases share the links."""
        # Not the sum of the two times: the busiest link counts, with its loads in both phases, and
        # the phases may be busy on different links.
        return pipelined(self.phases).time_s_per_gb

    @property
    def optimal(self) -> bool:
        """Whether it claims to be optimal in its model: whether it attains its bound."""
        # Two optimal phases are not enough: together they may be slower than another allreduce.
        # Both numbers are exact, so equality needs no tolerance.
        return self.bound is not None and self.bound.algbw_gb_s * self.time_s_per_gb == 1

    @property
    def sequential_s_per_gb(self) -> Fraction:
        """Seconds for one gigabyte in sequential phases.

        The gathering begins when the reduction has ended; each phase is pipelined and has the full
        bandwidth of every link. Never less than :attr:`time_s_per_gb`.
        """
        return self.reduce.time_s_per_gb + self.gather.time_s_per_gb

    @property
    def algbw_gb_s(self) -> Fraction:
        """Algorithmic bandwidth: data size over time, in GB/s.

        Raises UnsupportedError if there is a single GPU, whose empty schedule takes no time.
        """
        return algbw_of(self.time_s_per_gb)

    def in_a_line(self) -> str:
        """Return its speed, its network, and whether it is proved optimal."""
        speed = rate(self.algbw_gb_s) if self.time_s_per_gb else "empty"
        proved = ", optimal" if self.optimal else ""
        return f"on {self.topology.name}: {speed}{proved}"

    def in_a_table(self) -> dict[str, object]:
        """Return the same, with the phases and the bound."""
        return {
            "topology": self.topology.name,
            "collective": self.collective,
            "algbw": rate(self.algbw_gb_s) if self.time_s_per_gb else None,
            "at most": None if self.bound is None else rate(self.bound.algbw_gb_s),
            "optimal": self.optimal,
            "phases": [phase.in_a_line() for phase in self.phases],
            "made by": self.remark or None,
        }


TreeSchedule = (
    AnyForest | Allreduce[Forest] | Allreduce[FactoredForest] | Allreduce[MulticastForest]
)
"""Any schedule of trees."""

AnySchedule = TreeSchedule | StepSchedule | FlowSchedule
"""Any schedule that a file can hold."""


def not_taken(operation: str, found: object, takes: str = "a schedule") -> UnsupportedError:
    """Return the error of an operation that got an argument of the wrong type.

    Examples
    --------
    >>> print(not_taken("verify", None))
    unsupported: verify takes a schedule, not NoneType
    """
    return UnsupportedError(f"unsupported: {operation} takes {takes}, not {type(found).__name__}")
