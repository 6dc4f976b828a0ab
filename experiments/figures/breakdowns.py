"""Generation times by stage, as shares of a bar, with the total in seconds.

Published breakdowns stand below ours. Their three stages are those of the paper; ours have the
names in the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from experiments.figures.figure import INK, Axis, Bar, Failure, Figure, Panel, Style
from experiments.figures.panels import cluster_title, grouped
from experiments.measures.measure import duration
from experiments.published import generation_breakdowns
from experiments.results.rows import Row, Status

__all__ = ["breakdowns"]

_STAGES = {
    "optimality": ("#0072b2", ""),
    "tight sets": ("#e69f00", "///"),
    "switch removal": ("#009e73", "..."),
    "tree packing": ("#cc79a7", "xxx"),
    "routing": ("#56b4e9", "\\\\\\"),
    "multicast": ("#d55e00", "ooo"),
    "allreduce program": ("#f0e442", "++"),
}
"""Colour and hatch of a stage, the same in every figure; the hatches distinguish stages in grey."""

_OTHER = ("#999999", "**")
"""Styles of stages outside the core."""

_HEIGHT = 0.15
"""Inches of a bar with its space."""


def breakdowns(rows: Sequence[Row]) -> Figure:
    """Describe the shares of the stages in the generation time, a panel for each cluster."""
    panels = tuple(_panel(name, here) for name, here in grouped(rows, "cluster").items())
    height = 0.6 + _HEIGHT * max(len(panel.y.names) for panel in panels)
    return Figure(panels, size=(5.2, height))


def _panel(cluster: str, rows: Sequence[Row]) -> Panel:
    rows = [row for row in rows if row.repetition == 0]
    ours = sorted(rows, key=lambda row: (row.method, row.gpus or 0))
    theirs = dict(_published(cluster))
    bars = [_parts(place, row.stages_s) for place, row in enumerate(ours) if _done(row)]
    bars += [_parts(len(ours) + place, stages) for place, stages in enumerate(theirs.values())]
    lost = [
        Failure(None, place, row.status, row.series, Style(INK))
        for place, row in enumerate(ours)
        if not _done(row)
    ]
    along = Axis("share of generation time", "percent")
    names = (*(f"{row.series}, {row.gpus} GPUs" for row in ours), *theirs)
    return Panel(
        cluster_title(cluster), along, Axis(names=names, downwards=True),
        bars=tuple(part for parts in bars for part in parts), failures=tuple(lost),
    )  # fmt: skip


def _done(row: Row) -> bool:
    return row.status is Status.OK


def _published(cluster: str) -> Iterator[tuple[str, Mapping[str, float]]]:
    for found in generation_breakdowns():
        if found.cluster == cluster:
            yield (
                f"{found.implementation}, {found.gpus} GPUs",
                {
                    "optimality": found.optimality_s,
                    "switch removal": found.switch_removal_s,
                    "tree packing": found.tree_packing_s,
                },
            )


def _parts(place: int, stages: Mapping[str, float]) -> Iterator[Bar]:
    """Yield the parts of a bar; the total time stands beside the last one."""
    total, start = sum(stages.values()), 0.0
    for number, (stage, seconds) in enumerate(stages.items(), start=1):
        colour, hatch = _STAGES.get(stage, _OTHER)
        beside = duration(total) if number == len(stages) else ""
        length = seconds / total
        style = Style(colour)
        yield Bar(place, 0.75, start, length, style, stage, hatch=hatch, beside=beside)
        start += length
