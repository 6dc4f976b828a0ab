"""Make, verify and write trees for ``forestcoll generate``, and collect the facts about them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forestcoll.cli.facts import bound_facts
from forestcoll.cli.output import progress_bars
from forestcoll.generation import generate
from forestcoll.problem.options import Options
from forestcoll.runtimes.scoring.file_bounds import bound_of_schedule
from forestcoll.schedule import (
    Allreduce,
    AllreduceVerdict,
    FactoredForest,
    Verdict,
    verify,
    write_schedule,
)
from forestcoll.schedule.allreduce import TreeSchedule
from forestcoll.topology.model import Topology
from forestcoll.tree_latency import latency

if TYPE_CHECKING:
    from forestcoll.forest_over_time.timed_forests import TimedSchedule

__all__ = ["written_trees"]


def written_trees(
    topology: Topology, options: Options, output: Path, *, check: bool, exact_depth: bool
) -> dict[str, Any]:
    """Generate trees, verify them if asked to, write them, and return the facts about them."""
    with progress_bars() as progress:
        made = generate(topology, options, progress=progress)
    schedule = made.schedule
    verdict = verify(schedule) if check else None
    write_schedule(schedule, output)
    return {
        **_tree_facts(schedule, verdict, exact_depth=exact_depth),
        "algbw_gb_s": schedule.algbw_gb_s if schedule.time_s_per_gb else None,
        **_proved(schedule, verdict),
        **({} if made.timed is None else _time_facts(made.timed)),
        **made.saved,
        "stages_s": dict(made.seconds),
    }


def _time_facts(timed: TimedSchedule) -> dict[str, Any]:
    """Return both bounds on the time at the size, and their ratio."""
    return {
        "size_bytes": timed.size_bytes,
        "alpha_us": timed.alpha_us,
        "time_us": timed.time_us,
        "by": timed.plan,
        "bound_us": timed.bound.time_us,
        "of_bound": timed.of_bound,
    }


def _proved(schedule: TreeSchedule, verdict: Verdict | AllreduceVerdict | None) -> dict[str, Any]:
    """Return the proved facts; for an allreduce also the model of the bound and the remark."""
    facts: dict[str, Any] = {"verified": verdict is not None}
    if isinstance(schedule, Allreduce):
        facts |= {"sequential_s_per_gb": schedule.sequential_s_per_gb, "made_by": schedule.remark}
    if isinstance(verdict, AllreduceVerdict):
        facts |= {"at_most_gb_s": verdict.bound_gb_s, "model": verdict.model}
    elif verdict is not None:
        facts["model"] = verdict.model
    if verdict is not None and verdict.model is None:
        return facts | bound_facts(bound_of_schedule(schedule), verdict.algbw_gb_s)
    return facts | {"optimal": None if verdict is None else verdict.optimal}


def _tree_facts(
    schedule: TreeSchedule, verdict: Verdict | AllreduceVerdict | None, *, exact_depth: bool
) -> dict[str, Any]:
    """Return the facts about the trees, separately for each phase of an allreduce.

    The trees of a factored forest are as many as the square of its GPUs in length, so that their
    depth is measured on request only; the check bounds it.
    """
    if isinstance(schedule, Allreduce):
        both = verdict if isinstance(verdict, AllreduceVerdict) else None
        phases = {
            "reduce": (schedule.reduce, None if both is None else both.reduce),
            "gather": (schedule.gather, None if both is None else both.gather),
        }
        return {
            name: {"by": part.collective, **_tree_facts(part, proved, exact_depth=exact_depth)}
            for name, (part, proved) in phases.items()
        }
    facts = {"k": schedule.k, "trees": schedule.num_trees}
    written_out = not isinstance(schedule, FactoredForest)
    if written_out or exact_depth:
        return {**facts, **asdict(latency(schedule, physical=written_out))}
    depth = verdict.depth if isinstance(verdict, Verdict) else None
    return {**facts, "greatest_possible_depth": depth}
