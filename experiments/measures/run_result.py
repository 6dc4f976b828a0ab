"""Result of a point for its measures: a verified schedule and its bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from baselines.interface.method import Schedule
from experiments.measures.borders import Sets, border_bound, box_traffic
from experiments.measures.bounds import UpperBound, upper_bound
from experiments.measures.declared import MEASURES, SIMULATED, SIZED
from experiments.measures.simulated import Assumptions, Simulated
from experiments.training.iteration import Iteration
from forestcoll.errors import VerificationError
from forestcoll.schedule import (
    Allreduce,
    Cost,
    FactoredForest,
    FlowSchedule,
    Steps,
    StepSchedule,
    cost,
    makespan_s_per_gb,
    synchronous,
)
from forestcoll.topology import Topology

__all__ = ["RunResult", "measured", "simulated"]


@dataclass(frozen=True)
class RunResult:
    """The input of measures; values that several measures need are computed once."""

    schedule: Schedule  # A schedule that has passed forestcoll.schedule.verify
    topology: Topology
    collective: str
    root: int | None = None  # rank of the root of a broadcast, reduce or allreduce
    weights: tuple[int, ...] | None = None  # relative shard size of each rank; equal if not given
    assumptions: Assumptions | None = None  # assumptions of simulations; no simulation if not given
    trained: Callable[[], Iteration] | None = None  # runs an iteration of training, if requested

    @cached_property
    def pipelined(self) -> Cost:
        """Pipelined cost: all pipeline chunks in flight."""
        return cost(self.schedule)

    @cached_property
    def synchronous(self) -> Steps | None:
        """Cost in synchronous steps: store-and-forward, with a barrier after each step.

        None for flows, which have no steps, and for factored forests, whose trees are not listed.
        """
        unknown = isinstance(self.schedule, FlowSchedule) or self.factored
        return None if unknown else synchronous(self.schedule)

    def border(self, sets: Callable[[Topology], Sets]) -> Fraction | None:
        """Return the bound of the tightest of some sets on an allgather or reduce-scatter."""
        if self.collective not in ("allgather", "reduce-scatter"):
            return None
        reduction = self.collective == "reduce-scatter"
        return border_bound(self.topology, sets(self.topology), self.weights, reduction=reduction)

    @property
    def box_traffic(self) -> Fraction | None:
        """Traffic of an equal-shard allgather into boxes, as a multiple of the least possible."""
        if self.collective != "allgather" or self.weights is not None:
            return None
        return box_traffic(self.topology, self.pipelined.loads, self.pipelined.whole)

    @property
    def bandwidth_runtime(self) -> Fraction | None:
        """Time in synchronous steps times the largest send rate of any GPU."""
        if self.synchronous is None:
            return None
        return self.synchronous.time_s_per_gb * _most_sent_gb_s(self.topology)

    @cached_property
    def makespan_s_per_gb(self) -> Fraction | None:
        """Makespan of a clocked schedule over the data size; None without a clock."""
        return makespan_s_per_gb(self.schedule)

    def finish_s(self, size_bytes: int) -> Fraction | None:
        """Return the makespan for a data size; None if unknown.

        A clock is made for one size. Without latencies its times scale with the size; with
        latencies it gives no makespan for other sizes.
        """
        clock = self.stepwise.clock if self.stepwise else None
        if clock is None or self.makespan_s_per_gb is None:
            return None
        if clock.size_bytes != size_bytes and any(e.latency_us for e in self.topology.links):
            return None
        return self.makespan_s_per_gb * size_bytes / 10**9

    @cached_property
    def best(self) -> UpperBound | None:
        """Upper bound on the rate of any schedule.

        Raises
        ------
        VerificationError
            If this schedule exceeds it.
        """
        reached = self.pipelined.algbw_gb_s
        best = upper_bound(self.topology, self.collective, reached, self.root, self.weights)
        if best is not None and reached > best.algbw_gb_s:
            raise VerificationError(
                f"the schedule makes {reached} GB/s, but {best.by} proves that none makes more "
                f"than {best.algbw_gb_s}: one of the two is wrong; please report this"
            )
        return best

    @cached_property
    def iteration(self) -> Iteration | None:
        """An iteration of training with the method's schedules, if requested."""
        return None if self.trained is None else self.trained()

    @cached_property
    def simulated(self) -> Simulated | None:
        """Its simulations, if requested."""
        if self.assumptions is None:
            return None
        rate = None if self.best is None else self.best.algbw_gb_s
        return Simulated(
            self.schedule, self.assumptions, self.topology, self.root, self.weights, rate
        )

    @property
    def stepwise(self) -> StepSchedule | None:
        """The schedule, if it is a step schedule."""
        return self.schedule if isinstance(self.schedule, StepSchedule) else None

    @property
    def forests(self) -> tuple[Any, ...]:
        """Its forests: two for an allreduce, none for a step or flow schedule."""
        if isinstance(self.schedule, StepSchedule | FlowSchedule):
            return ()
        return self.schedule.phases if isinstance(self.schedule, Allreduce) else (self.schedule,)

    @property
    def factored(self) -> bool:
        """Whether its trees are stored by node set, not one by one."""
        return any(isinstance(forest, FactoredForest) for forest in self.forests)

    @property
    def remark(self) -> str:
        """The remark of an allreduce on how it was made."""
        return self.schedule.remark if isinstance(self.schedule, Allreduce) else ""

    def of_forests(self, number: Callable[[Any], int]) -> int | None:
        """Sum a number over its forests; None if there are none."""
        return sum(map(number, self.forests)) if self.forests else None

    def of_trees(self, number: Callable[[Any], int]) -> int | None:
        """Sum a number that needs the trees one by one; None also for factored forests."""
        return None if self.factored else self.of_forests(number)


def _most_sent_gb_s(topology: Topology) -> Fraction:
    """Return the largest send rate of any GPU, within the shared capacities of its links out."""
    over: dict[int, Fraction] = {}
    for places, limit in topology.shared_places:
        out: dict[int, Fraction] = {}
        for link in (topology.links[place] for place in places):
            out[link.tail] = out.get(link.tail, Fraction(0)) + link.bandwidth_gb_s
        for gpu, whole in out.items():
            over[gpu] = max(over.get(gpu, Fraction(0)), whole - limit)
    return max(topology.egress_gb_s[gpu] - over.get(gpu, 0) for gpu in topology.compute)


def measured(made: RunResult, sizes: Iterable[int] = ()) -> dict[str, Any]:
    """Compute every measure of a schedule except simulations; return the columns with a value.

    Measures that depend on the data size are in the column ``sizes``, by size.
    """
    values = {name: one.of(made) for name, one in MEASURES.items() if not one.sized}
    values |= {name: values[one.exact_of] for name, one in MEASURES.items() if one.exact_of}
    columns: dict[str, Any] = {
        name: str(value) if MEASURES[name].exact_of else _plain(value)
        for name, value in values.items()
        if value is not None
    }
    names = [name for name in SIZED if name not in SIMULATED]
    by_size = {str(size): _sized(made, size, names) for size in sizes}
    return {**columns, "sizes": by_size} if by_size else columns


def simulated(made: RunResult, by_size: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Simulate one size after the other; yield the results so far.

    Parameters
    ----------
    by_size : dict
        The column ``sizes`` of :func:`measured`.

    Yields
    ------
    dict
        The column ``sizes`` with one more simulated size; or ``unsimulated`` with the reason.
    """
    if made.simulated is None:
        return
    if made.simulated.remark:
        yield {"unsimulated": made.simulated.remark}
        return
    for size in by_size:
        by_size = {**by_size, size: {**by_size[size], **_sized(made, int(size), SIMULATED)}}
        yield {"sizes": by_size}


def _sized(made: RunResult, size: int, names: Iterable[str]) -> dict[str, Any]:
    values = {name: MEASURES[name].of(made, size) for name in names}
    return {name: _plain(value) for name, value in values.items() if value is not None}


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Fraction) else value
