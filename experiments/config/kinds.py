"""The kinds of figures, declared apart from the code that draws them.

To add one, write a function from rows to a :class:`experiments.figures.figure.Figure` in a module
of ``experiments/figures``, and register it here: experiment files, their schema and the command
line then accept it. A user's own kind is ``module:function`` and needs no change of the package.
Matplotlib is not imported before a figure is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from forestcoll.errors import InvalidExperimentError

__all__ = ["AXES", "KINDS", "SIDES", "Kind", "Option", "is_function", "kind_of", "register"]

AXES: Mapping[str, str] = {"gpus": "GPUs", "size_bytes": "size of the data"}
"""Columns for an axis other than measures, with labels."""

SIDES: Mapping[str, str] = {**AXES, "method": "", "topology": ""}
"""Columns for the sides of a heat map, besides parameters of topologies and methods."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a kind of figure, with a column as value."""

    default: str
    # "measure", "axis" (one of AXES), "side" (one of SIDES, or a parameter), or
    # "swept" (one of AXES, or a parameter of methods or topologies), "choice" ("method", or a
    # parameter of methods), or "value" (one of its values)
    takes: Literal["measure", "axis", "side", "swept", "choice", "value"] = "measure"
    fixed: bool = False  # whether the option cannot be set


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of figure."""

    name: str  # its name in experiment files and on the command line
    summary: str  # one line on its content
    # "module:function", called as ``function(rows, **options)``; returns a description to draw
    draws: str
    options: Mapping[str, Option] = field(default_factory=dict)
    # least number of methods (each choice of parameters counts) for which it shows anything
    least_methods: int = 1

    @property
    def free(self) -> Mapping[str, Option]:
        """The options that a request can set."""
        return {name: option for name, option in self.options.items() if not option.fixed}


_kinds: dict[str, Kind] = {}

KINDS: Mapping[str, Kind] = MappingProxyType(_kinds)
"""Every kind of figure by its name."""


def register(kind: Kind) -> Kind:
    """Enter a kind into the registry.

    Raises
    ------
    InvalidExperimentError
        If there is one of that name.
    """
    if kind.name in _kinds:
        raise InvalidExperimentError(f"there is a kind of figure {kind.name!r}; name it otherwise")
    _kinds[kind.name] = kind
    return kind


def is_function(name: str) -> bool:
    """Whether a request of a figure names a function, ``module:function``."""
    module, _, function = name.partition(":")
    return function.isidentifier() and all(part.isidentifier() for part in module.split("."))


def kind_of(name: str) -> Kind:
    """Return the kind of that name, or that of a user's own function."""
    if is_function(name):
        return Kind(name=name, summary="a function of the user", draws=name)
    return KINDS[name]


_LINES = "experiments.figures.lines:lines"
_TIME = Option("generation_s")

register(Kind(
    name="generation-time", summary="generation time against GPUs", draws=_LINES,
    options={"y": Option("generation_s", fixed=True)},
))  # fmt: skip
register(Kind(
    name="theoretical-algbw", draws="experiments.figures.lines:algbw_lines",
    summary="theoretical algbw, pipelined and by makespan, against GPUs, with the optimum",
    options={
        "y": Option("algbw_gb_s", fixed=True), "second": Option("algbw_makespan_gb_s", fixed=True),
    },
))  # fmt: skip
register(Kind(
    name="algbw-synchronous", draws=_LINES,
    summary="theoretical algbw in synchronous steps against GPUs, with the optimum",
    options={"y": Option("algbw_synchronous_gb_s", fixed=True)},
))  # fmt: skip
register(Kind(
    name="lines", summary="any column against GPUs", draws=_LINES,
    options={"y": _TIME},
))  # fmt: skip
register(Kind(
    name="lines-by-size", draws="experiments.figures.lines:lines_by_size",
    summary="any column against the size of the data",
    options={"x": Option("size_bytes", "axis", fixed=True), "y": Option("time_pipelined_s")},
))  # fmt: skip
register(Kind(
    name="lines-by-parameter", draws="experiments.figures.lines:lines_by_parameter",
    summary="any column against a parameter, the GPUs or the size",
    options={"x": Option("size_bytes", "swept"), "y": Option("algbw_makespan_gb_s")},
))  # fmt: skip
register(Kind(
    name="differences", draws="experiments.figures.percentages:differences",
    summary="percentage by which choices are better than one of them, against a parameter",
    options={
        "x": Option("size_bytes", "swept"), "y": Option("algbw_makespan_gb_s"),
        "of": Option("method", "choice"), "base": Option("taccl", "value"),
    },
    least_methods=2,
))  # fmt: skip
register(Kind(
    name="lines-by-chunks", draws="experiments.figures.percentages:lines_by_chunks",
    summary="transfer time (by algbw) or generation time against chunks, with printed values",
    options={"y": Option("algbw_makespan_gb_s")},
))  # fmt: skip
register(Kind(
    name="steps-against-time", draws="experiments.figures.graphs:steps_against_time",
    summary="T_L against T_B of each graph by its name, with the bounds",
    options={"x": Option("bandwidth_runtime", fixed=True), "y": Option("steps", fixed=True)},
))  # fmt: skip
register(Kind(
    name="bars-by-topology", draws="experiments.figures.graphs:bars_by_topology",
    summary="any column as a bar for each topology", options={"y": Option("algbw_gb_s")},
))  # fmt: skip
register(Kind(
    name="by-graph", draws="experiments.figures.graphs:by_graph",
    summary="any column against GPUs, a line for each graph that grows; T_B over its optimum",
    options={"y": Option("bandwidth_runtime")},
))  # fmt: skip
register(Kind(
    name="best-networks", draws="experiments.figures.lines:best_networks",
    summary="any column against GPUs, each method on its best network",
    options={
        "panel": Option("size_bytes", "axis", fixed=True), "y": Option("time_simulated_s"),
    },
))  # fmt: skip
register(Kind(
    name="bars", draws="experiments.figures.bars:bars",
    summary="any column as a bar for each method", options={"y": Option("algbw_gb_s")},
))  # fmt: skip
register(Kind(
    name="two-bars", draws="experiments.figures.bars:two_bars",
    summary="two columns of one unit, side by side for each method",
    options={"y": Option("algbw_gb_s"), "second": Option("algbw_synchronous_gb_s")},
))  # fmt: skip
register(Kind(
    name="time-against-algbw", draws="experiments.figures.scatters:scatter",
    summary="generation time against theoretical algbw as a share of the optimum, by GPUs",
    options={"x": Option("ratio", fixed=True), "y": Option("generation_s", fixed=True)},
))  # fmt: skip
register(Kind(
    name="pareto", draws="experiments.figures.scatters:pareto",
    summary="one column against another on each topology, and the Pareto front",
    options={"x": Option("algbw_gb_s"), "y": _TIME},
    least_methods=2,
))  # fmt: skip
register(Kind(
    name="heat-map", draws="experiments.figures.maps:heat_map",
    summary="a column over two parameters; shares in percent",
    options={"x": Option("gpus", "side"), "y": Option("method", "side"), "value": Option("ratio")},
))  # fmt: skip
register(Kind(
    name="cut-bounds", draws="experiments.figures.bound_lines:cut_bounds",
    summary="bounds from GPUs and boxes, and the optimum, against GPUs",
    options={"y": Option("algbw_gb_s", fixed=True)},
))  # fmt: skip
register(Kind(
    name="breakdowns", draws="experiments.figures.breakdowns:breakdowns",
    summary="share of each stage in the generation time, beside published ones",
))  # fmt: skip
register(Kind(
    name="training-shares", draws="experiments.figures.training_shares:training_shares",
    summary="stacked bars of computation and visible communication, model by model",
))  # fmt: skip
register(Kind(
    name="slowdowns", draws="experiments.figures.bound_lines:fault_costs",
    summary="optimum of the undamaged network over algbw in changed ones, against GPUs",
    options={"y": Option("algbw_gb_s")},
))  # fmt: skip
