"""Declarations of all measures: how each is computed, written, drawn, compared and described.

To add one, add a field to :class:`Measures` and run ``python -m experiments.measures.docs`` for the
docs. New rows then have the column, and old rows still load without it. Figures, tables, summaries
and comparisons find it here. The order of the fields is that of the columns in rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.measures.borders import boxes, gpus, linked_pairs
from experiments.measures.measure import (
    Measure,
    duration,
    exactly,
    measure,
    measures_of,
    share,
)  # fmt: skip

if TYPE_CHECKING:
    from fractions import Fraction

    from experiments.measures.run_result import RunResult

__all__ = [
    "BOUNDED", "COMPARED", "DRAWN", "EXACT", "MEASURES", "SHARES", "SIMULATED", "SIZED", "TIMED",
    "Measures", "reading_order",
]  # fmt: skip


def _steps(row: Any) -> str:
    """Return the steps; a forest has as many as the depth of its deepest tree."""
    found = row.depth if row.steps is None else row.steps
    return "" if found is None else str(found)


def _finish_gb_s(made: RunResult) -> Fraction | None:
    return None if made.makespan_s_per_gb is None else 1 / made.makespan_s_per_gb


def _simulated(how: Callable[[Any, int], object]) -> Callable[[RunResult, int], object]:
    """Return a measure of simulations, with the value None where a point has no simulation."""

    def taken(made: RunResult, size: int) -> object:
        found = made.simulated
        return how(found, size) if found and not found.remark else None

    return taken


@dataclass(frozen=True, kw_only=True)
class Measures:
    """Measured columns of a row; None where a value was never reached."""

    generation_s: float | None = measure(
        "wall time of the method alone, without imports, reading and checks",
        label="generation time", unit="s", logarithmic=True, limit="limit_s",
        heading="time", cell=lambda row: duration(row.generation_s), always=True,
    )  # fmt: skip
    stages_s: Mapping[str, float] = measure(
        "the same by stage, where the method reports stages", empty=dict, summary=False
    )
    algbw_gb_s: float | None = measure(
        "theoretical algbw, [pipelined](baselines.md#what-they-cost)",
        how=lambda made: made.pipelined.algbw_gb_s,
        label="theoretical algbw, pipelined", unit="GB/s", better="more", bounded=True,
        heading="pipelined", always=True,
    )  # fmt: skip
    algbw: str | None = exactly("algbw_gb_s", compared=True)
    algbw_synchronous_gb_s: float | None = measure(
        "theoretical algbw in synchronous steps",
        how=lambda made: made.synchronous and made.synchronous.algbw_gb_s,
        label="algbw in synchronous steps", unit="GB/s", better="more", bounded=True,
        heading="in sync",
    )  # fmt: skip
    algbw_synchronous: str | None = exactly("algbw_synchronous_gb_s", compared=True)
    algbw_makespan_gb_s: float | None = measure(
        "theoretical algbw by makespan; empty without a clock",
        how=_finish_gb_s,
        label="theoretical algbw by makespan", unit="GB/s", better="more", bounded=True,
        heading="makespan",
    )  # fmt: skip
    algbw_makespan: str | None = exactly("algbw_makespan_gb_s", compared=True)
    optimum_gb_s: float | None = measure(
        "upper bound on the pipelined rate, for all methods",
        how=lambda made: made.best and made.best.algbw_gb_s,
    )
    optimum: str | None = exactly("optimum_gb_s")
    optimum_by: str | None = measure(
        "what proves the optimum, [see below](#proofs-of-the-optimum)",
        how=lambda made: made.best and made.best.by,
    )
    made_by: str | None = measure(
        "reduction + gathering or the allreduce program, and why; our allreduces only",
        how=lambda made: made.remark or None,
    )
    ratio: float | None = measure(
        "pipelined share of the optimum; at most 1",
        how=lambda made: made.best and made.pipelined.algbw_gb_s / made.best.algbw_gb_s,
        label="share of the optimum, pipelined", better="more",
        heading="optimal", cell=lambda row: share(row.ratio), always=True, before="made_by",
    )  # fmt: skip
    border_of_gpu_gb_s: float | None = measure(
        "bound from the links of the narrowest GPU",
        how=lambda made: made.border(gpus),
        label="bound by the border of a GPU", unit="GB/s", better="more", summary=False,
    )  # fmt: skip
    border_of_pair_gb_s: float | None = measure(
        "bound from two directly linked GPUs, as of an MI250 module",
        how=lambda made: made.border(linked_pairs),
        label="bound by the border of two linked GPUs", unit="GB/s", better="more", summary=False,
    )  # fmt: skip
    border_of_box_gb_s: float | None = measure(
        "bound from the links of a box",
        how=lambda made: made.border(boxes),
        label="bound by the border of a box", unit="GB/s", better="more", summary=False,
    )  # fmt: skip
    box_traffic: float | None = measure(
        "traffic of an allgather into boxes, over the least possible",
        how=lambda made: made.box_traffic,
        label="traffic into boxes", unit="of the least", better="less",
    )  # fmt: skip
    num_trees: int | None = measure(
        "trees, counted with multiplicity",
        how=lambda made: made.of_forests(lambda forest: forest.num_trees),
        label="trees", logarithmic=True, heading="trees", always=True,
    )  # fmt: skip
    num_batches: int | None = measure(
        "distinct trees",
        how=lambda made: made.of_trees(lambda forest: forest.num_batches),
        label="distinct trees", logarithmic=True,
    )  # fmt: skip
    depth: int | None = measure(
        "largest tree depth in GPU hops, summed over phases; empty if `factored`",
        how=lambda made: made.of_trees(lambda forest: int(forest.tree_depths().max(initial=0))),
        label="depth of the trees", unit="GPU hops",
    )  # fmt: skip
    k: int | None = measure(
        "trees per root",
        how=lambda made: made.forests[-1].k if made.forests else None,
        label="trees per root", logarithmic=True, heading="k", always=True, before="num_trees",
    )  # fmt: skip
    chunks: int | None = measure(
        "chunks of a step schedule",
        how=lambda made: made.stepwise and len(made.stepwise.chunks),
        label="chunks", logarithmic=True,
    )  # fmt: skip
    steps: int | None = measure(
        "steps of a step schedule",
        how=lambda made: made.stepwise and made.stepwise.num_steps,
        label="steps", logarithmic=True, heading="steps", cell=_steps, always=True,
    )  # fmt: skip
    bandwidth_runtime: float | None = measure(
        "T_B of the BFB paper, [see below](#bandwidth-runtime)",
        how=lambda made: made.bandwidth_runtime,
        label="bandwidth runtime T_B", unit="M/B", heading="T_B",
    )  # fmt: skip
    search_status: str | None = measure("`optimal`, `feasible` or `open`, [see below](#searches)")
    incumbent: float | None = measure("best answer of the search")
    bound: float | None = measure("bound that the search proved")
    gap: float | None = measure(
        "distance of the bound from the incumbent, as a share of it",
        label="gap of the search", heading="gap", cell=lambda row: share(row.gap),
    )  # fmt: skip
    searches: Mapping[str, Any] = measure(
        "the same for every searched stage, with unit and solver",
        empty=dict, summary=False,
    )  # fmt: skip
    verified: bool | None = measure(
        "whether the schedule passed the check; if not, algbw is empty", how=lambda made: True
    )
    peak_memory_mb: float | None = measure(
        "resident memory of process and children until generation ends (1e6 bytes)",
        label="peak memory", unit="MB", logarithmic=True,
    )  # fmt: skip
    iteration_s: float | None = measure(
        "modelled time of an iteration of training, [see below](#models-of-training)",
        how=lambda made: made.iteration and made.iteration.timeline.seconds,
        label="iteration time, modelled", unit="s", heading="iteration",
        cell=lambda row: duration(row.iteration_s),
    )  # fmt: skip
    computing_s: float | None = measure(
        "its computing, without a pause",
        how=lambda made: made.iteration and made.iteration.timeline.computing,
        label="computing of an iteration", unit="s",
    )  # fmt: skip
    visible_share: float | None = measure(
        "share of the iteration in which nothing is computed",
        how=lambda made: made.iteration and made.iteration.visible_share,
        label="visible communication", unit="share", heading="visible",
        cell=lambda row: share(row.visible_share),
    )  # fmt: skip
    visible_all_to_all_s: float | None = measure(
        "visible time of all-to-alls",
        how=lambda made: made.iteration and made.iteration.visible("all-to-all"),
        label="visible all-to-alls", unit="s",
    )  # fmt: skip
    visible_allreduce_s: float | None = measure(
        "visible time of allreduces",
        how=lambda made: made.iteration and made.iteration.visible("allreduce"),
        label="visible allreduces", unit="s",
    )  # fmt: skip
    bucket_bytes: int | None = measure(
        "bucket of the allreduces",
        how=lambda made: made.iteration and made.iteration.bucket_bytes,
    )  # fmt: skip
    time_pipelined_s: float | None = measure(
        "theoretical time at a size, pipelined, without latencies",
        how=lambda made, size: made.pipelined.time_s(size), sized=True,
        label="theoretical time, pipelined", unit="s", logarithmic=True,
    )  # fmt: skip
    time_synchronous_s: float | None = measure(
        "theoretical time at a size in synchronous steps",
        how=lambda made, size: made.synchronous and made.synchronous.time_s_per_gb * size / 10**9,
        sized=True,
        label="theoretical time, synchronous steps", unit="s", logarithmic=True,
    )  # fmt: skip
    makespan_s: float | None = measure(
        "makespan at a size; empty if the clock gives none",
        how=lambda made, size: made.finish_s(size), sized=True,
        label="theoretical makespan", unit="s", logarithmic=True,
    )  # fmt: skip
    time_simulated_s: float | None = measure(
        "simulated time at a size, [latencies](../experiments.md#simulations) included",
        how=_simulated(lambda found, size: found.at(size).time_s), sized=True, simulated=True,
        label="simulated time", unit="s", logarithmic=True,
    )  # fmt: skip
    algbw_simulated_gb_s: float | None = measure(
        "simulated algbw: the size over that time",
        how=_simulated(lambda found, size: found.at(size).algbw_gb_s), sized=True, simulated=True,
        label="simulated algbw", unit="GB/s", better="more",
    )  # fmt: skip
    pipeline_chunks_simulated: int | None = measure(
        "number of pipeline chunks in that simulation",
        how=_simulated(lambda found, size: found.at(size).pipeline_chunks), sized=True,
        simulated=True, label="pipeline chunks, simulated", logarithmic=True,
    )  # fmt: skip
    simulated_over_bound: float | None = measure(
        "simulated time over its lower bound; at least 1, except for rounding",
        how=_simulated(lambda found, size: found.over_bound(size)), sized=True, simulated=True,
        label="simulated time over its lower bound", logarithmic=True,
    )  # fmt: skip


MEASURES: Mapping[str, Measure] = measures_of(Measures)
"""All measures by name, in the order of the columns."""

DRAWN: Mapping[str, Measure] = {name: one for name, one in MEASURES.items() if one.label}
"""Measures that a figure can show."""

BOUNDED: tuple[str, ...] = tuple(name for name, one in MEASURES.items() if one.bounded)
"""Measures that cannot exceed the optimum."""

EXACT: tuple[str, ...] = tuple(name for name, one in MEASURES.items() if one.exact_of)
"""Columns with exact numbers as text."""

COMPARED: tuple[str, ...] = tuple(name for name, one in MEASURES.items() if one.compared)
"""Columns whose difference between two sets of results counts as a change."""

SHARES: tuple[str, ...] = ("ratio", "gap")
"""Shares, shown in percent."""

TIMED: tuple[str, ...] = ("generation_s", "peak_memory_mb")
"""Measures that depend on the machine."""

SIZED: tuple[str, ...] = tuple(name for name, one in MEASURES.items() if one.sized)
"""Measures with a value for each size of the data."""


SIMULATED: tuple[str, ...] = tuple(name for name, one in MEASURES.items() if one.simulated)
"""Measures that come from simulations."""


def reading_order(measures: Iterable[Measure]) -> list[Measure]:
    """Return measures in the order of tables and summaries."""
    order: list[Measure] = []
    for one in measures:
        places = [place for place, other in enumerate(order) if other.name == one.before]
        order.insert(places[0] if places else len(order), one)
    return order
