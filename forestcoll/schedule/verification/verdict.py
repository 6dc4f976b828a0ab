"""Verdicts of verification: the proved facts about a forest or an allreduce."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction

from forestcoll.topology.describe import decimal, rate
from forestcoll.topology.in_brief import InBrief

__all__ = ["AllreduceVerdict", "Verdict"]


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(InBrief):
    """The proved facts about a forest.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter", "broadcast" or "reduce".
    gpus, roots : int
        Number of GPUs, and of GPUs that root trees: those with a positive weight.
    k : int
        Trees per unit of weight, counted with multiplicity.
    batches, trees : int
        Distinct trees, and trees counted with multiplicity. For a factored forest, the distinct
        trees of its shapes.
    tree_edges : int
        Edges of the distinct trees.
    logical_links, paths : int
        GPU-to-GPU links that the trees use, and the physical paths behind them.
    deliveries : int
        (shard, GPU) pairs with proved delivery of the whole shard to the GPU: the shard of a root
        travels in spanning trees, so it reaches the N - 1 other GPUs. In a reduction, pairs whose
        contribution of the GPU to the whole shard is counted once at the root.
    depth : int
        Hops from GPU to GPU in the deepest tree; for a factored forest, an upper bound on the depth
        of its trees. Multicast switches count as GPUs do, in links and edges too.
    congestion : Fraction
        Measured: the largest load / bandwidth of a link, in trees per GB/s.
    busiest_link : tuple of str, optional
        Tail and head of the (first) link where it is attained, or the name of a shared capacity;
        None in an empty schedule.
    time_s_per_gb, algbw_gb_s : Fraction
        Seconds for one gigabyte of data in all at that congestion, and its inverse (None in an
        empty schedule, which takes no time).
    optimal : bool
        Whether a cut or prices prove that no schedule of ``model`` is faster; False when nothing
        was claimed.
    model : str, optional
        The schedules that the proof covers, in words; None when nothing was claimed.
    plan_time_us : Fraction, optional
        Microseconds until all data have arrived by the time plan, at its size; None without one.
    """

    collective: str
    gpus: int
    roots: int
    k: int
    batches: int
    trees: int
    tree_edges: int
    logical_links: int
    paths: int
    deliveries: int
    depth: int
    congestion: Fraction
    busiest_link: tuple[str, ...] | None
    time_s_per_gb: Fraction
    algbw_gb_s: Fraction | None
    optimal: bool
    model: str | None = None
    plan_time_us: Fraction | None = None

    def in_a_line(self) -> str:
        """Return what was proved, most important first."""
        speed = "empty" if self.algbw_gb_s is None else rate(self.algbw_gb_s)
        proved = ", optimal" if self.optimal else ""
        return f"{self.collective}: {speed}, {self.trees} trees, depth {self.depth}{proved}"

    def in_a_table(self) -> dict[str, object]:
        """Return all that was proved."""
        return _in_words(self)


@dataclass(frozen=True, slots=True, repr=False)
class AllreduceVerdict(InBrief):
    """The proved facts about an allreduce: both phases, their match, and the claimed bound.

    Parameters
    ----------
    reduce, gather : Verdict
        Each phase by itself. Its ``optimal`` means that no phase of its kind is faster; two optimal
        phases need not make an optimal allreduce.
    time_s_per_gb, algbw_gb_s : Fraction
        Seconds for one gigabyte, pipelined, with phases that share the links, and the inverse
        (None in an empty schedule).
    busiest_link : tuple of str, optional
        Tail and head of the (first) link that takes this long, or the name of a shared capacity.
    sequential_s_per_gb : Fraction
        Seconds for one gigabyte in sequential phases.
    bound_gb_s : Fraction, optional
        No allreduce of ``model`` is faster; None when nothing was claimed.
    model : str, optional
        The allreduces that the bound covers, in words.
    optimal : bool
        Whether the bound is attained.
    plan_time_us : Fraction, optional
        Microseconds of both phases, one after the other, by their time plans.
    """

    reduce: Verdict
    gather: Verdict
    time_s_per_gb: Fraction
    algbw_gb_s: Fraction | None
    busiest_link: tuple[str, ...] | None
    sequential_s_per_gb: Fraction
    bound_gb_s: Fraction | None
    model: str | None
    optimal: bool
    plan_time_us: Fraction | None = None

    @property
    def collective(self) -> str:
        """Always "allreduce"."""
        return "allreduce"

    def in_a_line(self) -> str:
        """Return its speed, and whether it is proved optimal."""
        speed = "empty" if self.algbw_gb_s is None else rate(self.algbw_gb_s)
        return f"{speed}, optimal" if self.optimal else speed

    def in_a_table(self) -> dict[str, object]:
        """Return all that was proved, each phase in a line."""
        phases = {"reduce": self.reduce.in_a_line(), "gather": self.gather.in_a_line()}
        return {**_in_words(self), **phases}


_UNITS = {"_s_per_gb": "s/GB", "_gb_s": "GB/s", "_us": "us"}


def _in_words(verdict: Verdict | AllreduceVerdict) -> dict[str, object]:
    """Return the fields of a verdict as text, by their names in words."""
    return dict(_entry(field.name, getattr(verdict, field.name)) for field in fields(verdict))


def _entry(name: str, value: object) -> tuple[str, object]:
    ending = next((ending for ending in _UNITS if name.endswith(ending)), "")
    label = name.removesuffix(ending).replace("_", " ")
    if isinstance(value, Fraction):
        exact, near = str(value), decimal(value)
        text = exact if exact == near else f"{exact} = {near}"
        return label, f"{text} {_UNITS.get(ending, '')}".rstrip()
    return label, " -> ".join(value) if isinstance(value, tuple) else value
