"""Drawing of link usage over time in a simulated schedule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from forestcoll.draw.canvas import INK, Picture
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.sizes import size_text
from forestcoll.schedule.simulate import AlphaBeta, Simulation
from forestcoll.topology.describe import counted, decimal
from forestcoll.topology.model import Topology

__all__ = ["draw_usage", "heading", "unit_of_time"]

_SHOWN = 40  # rows
_ROW = 0.2  # inches
_ALIKE = 3  # digits of shares that are compared

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Row:
    """Links with equal usage."""

    name: str
    links: int
    share: _Floats


def draw_usage(simulation: Simulation, topology: Topology) -> Figure:
    """Draw a row for each set of links with equal usage; time runs to the right.

    Parameters
    ----------
    simulation : Simulation
        One with usage, from :meth:`forestcoll.schedule.simulate.Simulator.run` with ``bins``.
    topology : Topology
        The network of its schedule.

    Raises
    ------
    InvalidParameterError
        If the simulation kept no usage, or nothing moves.
    """
    usage = simulation.usage
    if usage is None or not usage.share.any():
        raise InvalidParameterError(
            "this simulation has no use of links to draw; simulate something that moves, with bins"
        )
    rows = _rows(usage.share, topology)
    shown = rows[:_SHOWN]
    figure = Picture(
        figsize=(8.0, 1.6 + _ROW * len(shown)), dpi=150, facecolor="white", layout="constrained"
    )
    axes = figure.subplots()
    scale, unit = unit_of_time(simulation.time_s)
    end = usage.bin_s * usage.share.shape[1] * scale
    image = axes.imshow(
        np.vstack([row.share for row in shown]),
        aspect="auto",
        interpolation="nearest",
        cmap="cividis",  # its brightness is monotonic, so it also works in grey print
        vmin=0,
        vmax=1,
        extent=(0, end, len(shown), 0),
    )
    axes.set_xlim(0, simulation.time_s * scale)
    axes.set_yticks(np.arange(len(shown)) + 0.5, [_label(row) for row in shown], fontsize=6)
    axes.tick_params(axis="y", length=0)
    left_out = sum(row.links for row in rows[_SHOWN:])
    below = f"; not shown: {counted(left_out, 'link')} that carry less" if left_out else ""
    axes.set_xlabel(f"time, {unit}, simulated{below}", color=INK)
    figure.colorbar(image, ax=axes, label="share of the bandwidth")
    figure.suptitle(heading(simulation, topology), color=INK, fontsize=10, parse_math=False)
    return figure


def unit_of_time(time_s: float) -> tuple[float, str]:
    """Return the unit for an axis up to a time: how many are a second, and its name."""
    return (1e3, "ms") if time_s * 1e3 >= 1 else (1e6, "us")


def heading(simulation: Simulation, topology: Topology) -> str:
    """Return the network, the size and the model of a simulation."""
    chunks = f"in {counted(simulation.pipeline_chunks, 'pipeline chunk')}"
    size = f"{size_text(simulation.size_bytes)} {'by plan' if simulation.by_plan else chunks}"
    return f"{topology.name}, {size}: simulated, {_model_text(simulation.model)}"


def _model_text(model: AlphaBeta) -> str:
    """Return the model in words, without the options that are off."""
    words = [f"alpha {decimal(model.alpha)} us", str(model.sharing)]
    words += [f"gamma {decimal(model.gamma)} s/GB"] if model.gamma else []
    words += ["in lockstep"] if model.lockstep else []
    words += ["by its clock"] if model.keep_clock else []
    return ", ".join([*words, *model.options()])


def _rows(share: _Floats, topology: Topology) -> list[_Row]:
    """Group links with equal usage; those with the highest share come first."""
    used = np.flatnonzero(share.any(axis=1))
    alike, first, many = np.unique(
        np.round(share[used], _ALIKE), axis=0, return_index=True, return_counts=True
    )
    names = [node.name for node in topology.nodes]
    links = [topology.links[link] for link in used[first]]
    rows = [
        _Row(f"{names[link.tail]} -> {names[link.head]}", int(count), row)
        for link, count, row in zip(links, many, alike, strict=True)
    ]
    order = sorted(range(len(rows)), key=lambda i: (-float(rows[i].share.sum()), int(first[i])))
    return [rows[i] for i in order]


def _label(row: _Row) -> str:
    more = f"  and {row.links - 1} like it" if row.links > 1 else ""
    return (row.name + more).replace("$", r"\$")
