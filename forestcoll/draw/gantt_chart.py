"""Drawing of a simulation as a Gantt chart: who sends which pipeline chunk when.

A row stands for all transfers with equal times, and has the name of one of them. Bars are pipeline
chunks. The chain of pipeline chunks that ends last is framed: it is why the makespan is no shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from forestcoll.draw.canvas import INK, PLAIN, Picture
from forestcoll.draw.usage import heading, unit_of_time
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import Simulation, Timeline
from forestcoll.topology.describe import counted

__all__ = ["draw_timeline"]

_SHOWN = 40  # rows
_WIDTH, _ROW, _AROUND = 7.0, 0.2, 1.7  # inches; around: heading, axis and legend
_CHART = 4.0  # inches that the time axis has at least
_DIGIT = 0.08  # inches of a digit in a bar
_BAR, _LINE = 0.84, 0.14  # heights of data and of waiting, in rows
_FRAME, _EDGE = 1.4, 0.5  # points
_WAITING = "#a0a0a0"
_ADDING = "//////"
_COLOURS = "cividis_r"  # its brightness is monotonic, so it also works in grey print
_DARKEST = 0.66  # of the colours: frames are darker
_MOST_COLOURS = 256
_ALIKE = 2.0**-20  # of the makespan: times that differ by less are equal

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Row:
    """Transfers with equal times.

    Parameters
    ----------
    row : int
        A row of the timeline that has these times.
    transfer : int
        The transfer that names them: one of the data that arrives last, if there is one.
    transfers : int
        Their number.
    framed : frozenset of int
        Pipeline chunks on the chain that ends last.
    """

    row: int
    transfer: int
    transfers: int
    framed: frozenset[int]


def draw_timeline(simulation: Simulation, program: Program) -> Figure:
    """Draw when each pipeline chunk waits and is sent; time runs to the right.

    Up to 40 rows are drawn: first those of the chain that ends last, then those of the same data.

    Parameters
    ----------
    simulation : Simulation
        One with a timeline, from :meth:`forestcoll.schedule.simulate.Simulator.run`.
    program : Program
        What was simulated.

    Raises
    ------
    InvalidParameterError
        If the simulation kept no timeline.
    """
    timeline = simulation.timeline
    if timeline is None:
        raise InvalidParameterError(
            "this simulation has no timeline to draw; simulate something that moves, with timeline"
        )
    rows = _rows(timeline, program, simulation.time_s)
    shown = sorted(rows[:_SHOWN], key=lambda one: (timeline.flow_s[one.row, 0], one.transfer))
    per_s, unit = unit_of_time(simulation.time_s)
    size = (_WIDTH, _AROUND + _ROW * len(shown))
    figure = Picture(figsize=size, dpi=150, facecolor="white", layout="constrained")
    axes = figure.subplots()
    axes.set_xlim(0, simulation.time_s * per_s)
    axes.set_ylim(len(shown), 0)
    colours = _Colours(timeline.pipeline_chunks)
    for place, one in enumerate(shown):
        _draw_row(axes, place, one, timeline, per_s, colours)
    _name_rows(axes, shown, program)
    left_out = sum(one.transfers for one in rows[_SHOWN:])
    below = f"; not shown: {counted(left_out, 'transfer')}" if left_out else ""
    axes.set_xlabel(f"time, {unit}, simulated{below}", color=INK, fontsize=8)
    axes.tick_params(axis="x", labelsize=7)
    figure.suptitle(heading(simulation, program.topology), color=INK, fontsize=9, parse_math=False)
    _explain(figure, axes, timeline, colours)
    return figure


class _Colours:
    """Colours of the pipeline chunks, from light to dark."""

    def __init__(self, chunks: int) -> None:
        shades = colormaps[_COLOURS](np.linspace(0, _DARKEST, min(chunks, _MOST_COLOURS)))
        self._map = ListedColormap(shades)
        self._norm = Normalize(0.5, chunks + 0.5)

    def of(self, chunk: int) -> tuple[float, float, float]:
        """Return the colour of a pipeline chunk, numbered from 0."""
        return to_rgb(self._map(self._norm(chunk + 1)))

    def of_text(self, chunk: int) -> str:
        """Return a colour that can be read on that of a pipeline chunk."""
        red, green, blue = self.of(chunk)
        return INK if 0.3 * red + 0.59 * green + 0.11 * blue > 0.55 else PLAIN

    def map(self) -> ScalarMappable:
        """Return the scale for a colour bar."""
        return ScalarMappable(self._norm, self._map)


def _rows(timeline: Timeline, program: Program, time_s: float) -> list[_Row]:
    """Group transfers with equal times, the most telling ones first.

    These are the chain that ends last, then what moves the same data, each in the order of time.
    """
    times = np.hstack([timeline.start_s, timeline.flow_s, timeline.arrival_s, timeline.end_s])
    _, first, group = np.unique(
        np.round(times / (time_s * _ALIKE)), axis=0, return_index=True, return_inverse=True
    )
    group = group.reshape(-1)
    chain = timeline.last_chain(program)
    framed: dict[int, set[int]] = {}
    for row, chunk in chain:
        framed.setdefault(int(group[row]), set()).add(chunk)
    last = program.chunk[timeline.first[chain[-1][0]]]
    of_transfer, is_other = group[timeline.row], program.chunk != last
    order = np.lexsort((is_other, of_transfer))  # stable: by number in the end
    named = order[np.unique(of_transfer[order], return_index=True)[1]]
    many = np.bincount(of_transfer)
    rows = [
        _Row(int(first[i]), int(named[i]), int(many[i]), frozenset(framed.get(i, ())))
        for i in range(len(first))
    ]
    return sorted(
        rows,
        key=lambda one: (
            not one.framed,
            bool(is_other[one.transfer]),
            timeline.flow_s[one.row, 0],
            one.transfer,
        ),
    )


def _draw_row(
    axes: Axes, place: int, one: _Row, timeline: Timeline, per_s: float, colours: _Colours
) -> None:
    planned = timeline.share
    # By a plan a transfer may have fewer parts than there are columns.
    many = timeline.pipeline_chunks if planned is None else np.count_nonzero(planned[one.row])
    start, flow, arrival, end = (
        moment[one.row, :many] * per_s
        for moment in (timeline.start_s, timeline.flow_s, timeline.arrival_s, timeline.end_s)
    )
    chunks = range(many)
    shades = [colours.of(chunk) for chunk in chunks]
    lines = [INK if chunk in one.framed else _WAITING for chunk in chunks]
    white: dict[str, Any] = {"edgecolors": PLAIN, "linewidths": _EDGE}
    _bars(axes, place, start, flow, height=_LINE, facecolors=lines)
    _bars(axes, place, flow, arrival, facecolors=shades, zorder=2, **white)
    if (end > arrival).any():
        _bars(axes, place, arrival, end, facecolors=shades, hatch=_ADDING, zorder=2, **white)
    if framed := sorted(one.framed):
        frames: dict[str, Any] = {"facecolors": "none", "edgecolors": INK, "linewidths": _FRAME}
        _bars(axes, place, flow[framed], end[framed], zorder=3, clip_on=False, **frames)
    left, right = axes.get_xlim()
    seen = arrival
    if planned is None:  # the next bar may cover the rest
        seen = np.minimum(arrival, np.append(flow[1:], np.inf))
    for chunk in chunks:
        inches = (seen[chunk] - flow[chunk]) / (right - left) * _CHART
        if inches > _DIGIT * (len(str(chunk + 1)) + 1):
            axes.text(
                *((flow[chunk] + seen[chunk]) / 2, place + 0.5, str(chunk + 1)),
                ha="center",
                va="center_baseline",
                fontsize=6,
                color=colours.of_text(chunk),
                zorder=4,
            )


def _bars(
    axes: Axes, place: int, begin: _Floats, end: _Floats, *, height: float = _BAR, **style: Any
) -> None:
    low = place + 0.5 - height / 2
    axes.broken_barh(list(zip(begin, end - begin, strict=True)), (low, height), **style)


def _name_rows(axes: Axes, shown: Sequence[_Row], program: Program) -> None:
    """Write what moves at the left, and how many transfers do so at the right."""
    labels = [_label(one.transfer, program) for one in shown]
    axes.set_yticks(np.arange(len(shown)) + 0.5, labels, fontsize=6, parse_math=False)
    axes.tick_params(axis="y", length=0)
    for place, one in enumerate(shown):
        if one.transfers > 1:
            axes.text(
                *(1.01, place + 0.5, f"x {one.transfers}"),
                transform=axes.get_yaxis_transform(),
                va="center",
                fontsize=6,
                color=INK,
            )


def _label(transfer: int, program: Program) -> str:
    """Return the ends of a transfer, and whose data it moves."""
    topology = program.topology
    tail, head, root = (
        topology.nodes[topology.ends[end]].name if end >= 0 else ""
        for end in (
            program.tail[transfer],
            program.head[transfer],
            program.chunks.root[program.chunk[transfer]],
        )
    )
    return f"{tail} -> {head}, data of {root}" if root else f"{tail} -> {head}"


def _explain(figure: Figure, axes: Axes, timeline: Timeline, colours: _Colours) -> None:
    """Add the scale of the colours, and the legend: what lines, bars and frames are."""
    if timeline.pipeline_chunks > 1:
        ticks = MaxNLocator(8, integer=True, min_n_ticks=1)
        scale = figure.colorbar(colours.map(), ax=axes, fraction=0.03, ticks=ticks)
        chunk = "pipeline chunk" if timeline.share is None else "part of a tree, by the plan"
        scale.set_label(chunk, color=INK, fontsize=8)
        scale.ax.tick_params(labelsize=7)
    shade = colours.of(0)
    entries = [
        Patch(facecolor=_WAITING, label="waits: latency, cost or a busy link"),
        Patch(facecolor=shade, label="is sent"),
    ]
    if (timeline.end_s > timeline.arrival_s).any():
        entries.append(Patch(facecolor=shade, edgecolor=PLAIN, hatch=_ADDING, label="is added"))
    entries.append(Patch(facecolor="none", edgecolor=INK, label="the chain that ends last"))
    style = {"frameon": False, "fontsize": 7, "labelcolor": INK}
    figure.legend(handles=entries, loc="outside lower center", ncols=len(entries), **style)
