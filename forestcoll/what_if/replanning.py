"""Replanning: a new schedule for a changed network, and how it differs from the old one.

The old number of trees per GPU can be kept (ForestColl section 5.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import cast

from forestcoll.core.assembly import expand
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.generation import generate
from forestcoll.problem.options import LP_TIME_LIMIT_S, Options
from forestcoll.schedule import AllreduceVerdict, Verdict, verify
from forestcoll.schedule.allreduce import Allreduce, AnySchedule
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology
from forestcoll.what_if.tree_changes import TreeChanges, tree_changes

__all__ = ["Replanned", "replan"]


@dataclass(frozen=True, repr=False)
class Replanned(InBrief):
    """A new schedule in place of an old one.

    Parameters
    ----------
    verdict : Verdict or AllreduceVerdict
        The proof that it is right.
    changes : tuple of TreeChanges
        Differences from the old schedule; for an allreduce, of the reduction and the allgather.
    """

    schedule: Forest | Allreduce[Forest]
    verdict: Verdict | AllreduceVerdict
    changes: tuple[TreeChanges, ...]

    def in_a_line(self) -> str:
        """Return the new schedule, and how much of the data keeps its trees."""
        return f"{self.schedule!r}, {', '.join(one.in_a_line() for one in self.changes)}"

    def in_a_table(self) -> dict[str, object]:
        """Return the facts of the new schedule, with the differences from the old one."""
        changes = [one.in_a_line() for one in self.changes]
        return {**self.schedule.in_a_table(), "verified": self.verdict.in_a_line(), "kept": changes}


def replan(
    schedule: AnySchedule,
    topology: Network,
    *,
    same_k: bool = False,
    keep_weights: bool = False,
    threads: int | None = None,
    lp_time_limit_s: float = LP_TIME_LIMIT_S,
) -> Replanned:
    """Make a schedule of the same collective for another network, and compare.

    Parameters
    ----------
    schedule : Forest, FactoredForest or Allreduce
        The old schedule. A factored one is expanded.
    topology : Topology, or its specification, path or networkx graph
        The network as it is now; GPUs are identified by their names. New GPUs have no weight
        unless all weights are equal.
    same_k : bool
        Whether to keep the number of trees per GPU, at the best rate that it allows. If not, use
        the optimum's number, which may be much larger.
    keep_weights : bool
        For an allreduce, whether the same GPUs form the sums, in the same proportions, or the same
        root does. If not, roots are free. Other collectives keep their weights.
    threads : int, optional
        As for :func:`forestcoll.generation.generate`.
    lp_time_limit_s : float
        As for :func:`forestcoll.generation.generate`; unused for an allreduce with the same k.

    Raises
    ------
    InvalidParameterError
        If no GPU with data is left, or if k is to be kept and the phases of an allreduce have
        different numbers of trees.
    UnsupportedError
        If the schedule is no forest.
    ForestCollError
        As :func:`forestcoll.generation.generate`.

    Examples
    --------
    >>> from forestcoll import load_topology
    >>> whole = load_topology("dgx_a100:boxes=4")
    >>> damaged = whole.without("b1.gpu3 - ib")
    >>> again = replan(generate(whole).schedule, damaged, same_k=True)
    >>> again.schedule.k, float(again.schedule.algbw_gb_s)
    (1, 200.0)
    """
    old, network = _explicit(schedule), as_topology(topology)
    phases = old.phases if isinstance(old, Allreduce) else (old,)
    free = isinstance(old, Allreduce) and not keep_weights
    weights = [1] * network.num_compute if free else _weights(phases[-1], network)
    rooted = weights.count(0) == len(weights) - 1 > 0
    options = Options(
        collective=_collective(old, rooted),
        root=next(rank for rank, weight in enumerate(weights) if weight) if rooted else None,
        weights=None if rooted or len(set(weights)) == 1 else weights,
        k=_one_k(phases) if same_k else None,
        threads=threads,
        lp_time_limit_s=lp_time_limit_s,
    )
    made = cast("Forest | Allreduce[Forest]", generate(network, options).schedule)
    made_phases = made.phases if isinstance(made, Allreduce) else (made,)
    with ThreadPoolExecutor(max_workers=1) as beside:  # numpy releases the GIL
        verdict = beside.submit(verify, made)
        changes = tuple(map(tree_changes, phases, made_phases))
        return Replanned(made, verdict.result(), changes)


def _explicit(schedule: AnySchedule) -> Forest | Allreduce[Forest]:
    if isinstance(schedule, Allreduce):
        reduce, gather = map(_explicit_forest, schedule.phases)
        return Allreduce(reduce, gather)
    return _explicit_forest(schedule)


def _explicit_forest(schedule: AnySchedule) -> Forest:
    if isinstance(schedule, Forest | FactoredForest):
        return expand(schedule)
    raise UnsupportedError(
        f"a {type(schedule).__name__} is not replanned; forests and allreduces of them are"
    )


def _weights(old: Forest, topology: Topology) -> list[int]:
    old_gpus = (old.topology.nodes[v].name for v in old.topology.compute)
    known = dict(zip(old_gpus, old.weights, strict=True))
    new = 1 if set(old.weights) == {1} else 0
    weights = [known.get(topology.nodes[v].name, new) for v in topology.compute]
    if not any(weights):
        raise InvalidParameterError(
            f"no GPU of {topology.name} had data in the old schedule; generate one anew"
        )
    return weights


def _collective(old: Forest | Allreduce[Forest], rooted: bool) -> str:
    """Name the collective; a single GPU with data makes it one with a root."""
    if isinstance(old, Allreduce):
        return "allreduce"
    if rooted:
        return "reduce" if old.reduction else "broadcast"
    return "reduce-scatter" if old.reduction else "allgather"


def _one_k(phases: Sequence[Forest]) -> int:
    numbers = {phase.k for phase in phases}
    if len(numbers) > 1:
        raise InvalidParameterError(
            f"the phases of the old allreduce have {' and '.join(map(str, sorted(numbers)))} trees "
            f"per GPU, so there is no k to keep; replan without same_k"
        )
    return numbers.pop()
