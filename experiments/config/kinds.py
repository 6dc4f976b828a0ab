"""The kinds of figures, declared apart from the code that draws them.

To add one, write a function from rows to a :class:`experiments.figures.figure.Figure` in a module
of ``experiments/figures``, and register it here: experiment files, their schema and the command
line then accept it. Matplotlib is not imported before a figure is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from forestcoll.errors import InvalidExperimentError

__all__ = ["AXES", "KINDS", "SIDES", "Kind", "Option", "register"]

AXES: Mapping[str, str] = {"gpus": "GPUs", "size_bytes": "size of the data"}
"""Columns for an axis other than measures, with labels."""

SIDES: Mapping[str, str] = {**AXES, "method": "", "topology": ""}
"""Columns for the sides of a heat map, besides parameters of topologies and methods."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a kind of figure, with a column as value."""

    default: str
    # "measure", "axis" (one of AXES), "side" (one of SIDES, or a parameter), or
    # "swept" (one of AXES, or a parameter of methods or topologies)
    takes: Literal["measure", "axis", "side", "swept"] = "measure"
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


_LINES = "experiments.figures.lines:lines"
_TIME = Option("generation_s")

register(Kind(
    name="generation-time",
    summary="generation time against GPUs",
    draws=_LINES,
    options={"y": Option("generation_s", fixed=True)},
))  # fmt: skip
register(Kind(
    name="theoretical-algbw",
    summary="theoretical algbw, pipelined, against GPUs, with the optimum",
    draws=_LINES,
    options={"y": Option("algbw_gb_s", fixed=True)},
))  # fmt: skip
register(Kind(
    name="algbw-synchronous",
    summary="theoretical algbw in synchronous steps against GPUs, with the optimum",
    draws=_LINES,
    options={"y": Option("algbw_synchronous_gb_s", fixed=True)},
))  # fmt: skip
register(Kind(
    name="lines",
    summary="any column against GPUs",
    draws=_LINES,
    options={"y": _TIME},
))  # fmt: skip
register(Kind(
    name="lines-by-size",
    summary="any column against the size of the data",
    draws="experiments.figures.lines:lines_by_size",
    options={"x": Option("size_bytes", "axis", fixed=True), "y": Option("time_pipelined_s")},
))  # fmt: skip
register(Kind(
    name="lines-by-parameter",
    summary="any column against a parameter, the GPUs or the size",
    draws="experiments.figures.lines:lines_by_parameter",
    options={"x": Option("size_bytes", "swept"), "y": Option("algbw_makespan_gb_s")},
))  # fmt: skip
register(Kind(
    name="best-networks",
    summary="any column against GPUs, each method on its best network",
    draws="experiments.figures.lines:best_networks",
    options={
        "panel": Option("size_bytes", "axis", fixed=True), "y": Option("time_simulated_s"),
    },
))  # fmt: skip
register(Kind(
    name="bars",
    summary="any column as a bar for each method",
    draws="experiments.figures.bars:bars",
    options={"y": Option("algbw_gb_s")},
))  # fmt: skip
register(Kind(
    name="two-bars",
    summary="two columns of one unit, side by side for each method",
    draws="experiments.figures.bars:two_bars",
    options={"y": Option("algbw_gb_s"), "second": Option("algbw_synchronous_gb_s")},
))  # fmt: skip
register(Kind(
    name="time-against-algbw",
    summary="generation time against theoretical algbw, pipelined",
    draws="experiments.figures.scatters:scatter",
    options={"x": Option("algbw_gb_s", fixed=True), "y": Option("generation_s", fixed=True)},
))  # fmt: skip
register(Kind(
    name="pareto",
    summary="one column against another on each topology, and the Pareto front",
    draws="experiments.figures.scatters:pareto",
    options={"x": Option("algbw_gb_s"), "y": _TIME},
    least_methods=2,
))  # fmt: skip
register(Kind(
    name="heat-map",
    summary="a column over two parameters; shares in percent",
    draws="experiments.figures.maps:heat_map",
    options={"x": Option("gpus", "side"), "y": Option("method", "side"), "value": Option("ratio")},
))  # fmt: skip
register(Kind(
    name="cut-bounds",
    summary="bounds from GPUs and boxes, and the optimum, against GPUs",
    draws="experiments.figures.bound_lines:cut_bounds",
    options={"y": Option("algbw_gb_s", fixed=True)},
))  # fmt: skip
register(Kind(
    name="breakdowns",
    summary="share of each stage in the generation time, beside published ones",
    draws="experiments.figures.breakdowns:breakdowns",
))  # fmt: skip
register(Kind(
    name="slowdowns",
    summary="optimum of the undamaged network over algbw in changed ones, against GPUs",
    draws="experiments.figures.bound_lines:fault_costs",
    options={"y": Option("algbw_gb_s")},
))  # fmt: skip
