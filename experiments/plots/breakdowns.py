"""Generation times by stage: the share of each, as parts of a bar, with the seconds of the whole.

Published breakdowns stand below ours. Their three stages are those of the paper; ours are named as
the rows name them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from experiments.measures.measure import duration
from experiments.plots.drawing import panels
from experiments.plots.losses import GLYPHS, INK
from experiments.plots.panels import cluster_title
from experiments.published import generation_breakdowns
from experiments.results.rows import Row, Status

__all__ = ["breakdowns"]

_LOOKS = {
    "optimality": ("#0072b2", ""),
    "tight sets": ("#e69f00", "///"),
    "switch removal": ("#009e73", "..."),
    "tree packing": ("#cc79a7", "xxx"),
    "routing": ("#56b4e9", "\\\\\\"),
    "multicast": ("#d55e00", "ooo"),
    "allreduce program": ("#f0e442", "++"),
}
"""Colour and hatch of a stage, the same in every figure; the hatches tell stages apart in grey."""

_OTHER = ("#999999", "**")
"""Of stages that are not of the core."""

_HEIGHT = 0.26
"""Inches of a bar with its space."""


@dataclass(frozen=True)
class _Bar:
    """One bar: what it is of, the seconds of its stages, and words if there are none."""

    name: str
    seconds: Mapping[str, float]
    remark: str = ""


def breakdowns(rows: Sequence[Row]) -> Figure:
    """Draw the shares of the stages in the generation time, a panel for each cluster."""
    clusters = list(dict.fromkeys(row.cluster for row in rows))
    bars = {cluster: _bars(rows, cluster) for cluster in clusters}
    height = 0.5 + _HEIGHT * max(map(len, bars.values()))
    figure, grid = panels(list(map(cluster_title, clusters)), shared=False, size=(5.2, height))
    for axes, its in zip(grid, bars.values(), strict=True):
        for place, bar in enumerate(its):
            total, left = sum(bar.seconds.values()), 0.0
            for stage, seconds in bar.seconds.items():
                colour, hatch = _LOOKS.get(stage, _OTHER)
                axes.barh(
                    place, seconds / total, left=left, height=0.75, color=colour,
                    hatch=hatch, edgecolor="white", linewidth=0, label=stage, zorder=2,
                )  # fmt: skip
                left += seconds / total
            axes.annotate(
                bar.remark or duration(total), (left, place), (4, 0), va="center", fontsize=7,
                color=INK, textcoords="offset points", annotation_clip=False, parse_math=False,
            )  # fmt: skip
        axes.set_yticks(range(len(its)), [bar.name for bar in its], parse_math=False)
        axes.set_ylim(len(its) - 0.5, -0.5)
        axes.set_xlim(0, 1.18)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
        axes.set_xlabel("share of the sum of the stages, which stands beside each bar")
        axes.grid(visible=False, axis="y")
    return figure


def _bars(rows: Sequence[Row], cluster: str) -> list[_Bar]:
    """Return the bars of a cluster: ours by method and size, then published ones."""
    here = [row for row in rows if row.cluster == cluster and row.repetition == 0]
    ours = [
        _Bar(
            f"{row.series}, {row.gpus} GPUs",
            row.stages_s if row.status is Status.OK else {},
            "" if row.status is Status.OK else GLYPHS[row.status][1],
        )
        for row in sorted(here, key=lambda row: (row.method, row.gpus or 0))
    ]
    theirs = [
        _Bar(
            f"{found.implementation}, {found.gpus} GPUs",
            {
                "optimality": found.optimality_s,
                "switch removal": found.switch_removal_s,
                "tree packing": found.tree_packing_s,
            },
        )
        for found in generation_breakdowns()
        if found.cluster == cluster
    ]
    return [*ours, *theirs]
