"""One call that draws any object of the toolkit.

Problem: readers of a notebook should not look up which function draws what.
Input:   a network, an optimum, a cut, a schedule, or what else the toolkit returns.
Output:  its figure, which notebooks show.
Cost:    that of the drawing; a factored forest is expanded first.
Source:  none.

An object that has a method ``figure`` draws itself, so packages above this one can be drawn too.
"""

from __future__ import annotations

import os
from functools import singledispatch
from inspect import signature
from typing import Any, Protocol, runtime_checkable

import networkx as nx
from matplotlib.figure import Figure

from forestcoll.api import schedule_in
from forestcoll.bounded_depth.depth_limit import DepthPoints
from forestcoll.compilation import compile_program
from forestcoll.core.assembly import expand
from forestcoll.core.fixed_k import FixedK
from forestcoll.draw.charts.data_frames import draw_frame
from forestcoll.draw.charts.outcomes import draw_outcomes
from forestcoll.draw.charts.trade_offs import draw_choices, draw_depths
from forestcoll.draw.gantt_chart import draw_timeline
from forestcoll.draw.time_cut import draw_time_bound
from forestcoll.draw.topology import Colouring, draw_coloured, draw_topology
from forestcoll.draw.tree import draw_tree
from forestcoll.draw.usage import draw_usage
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.forest_over_time.timed_forests import TimedSchedule
from forestcoll.generation import Generated
from forestcoll.k_scan import BestK
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.cuts import Cut
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.over_time.time_bound import TimeBound
from forestcoll.problem.sizes import read_size
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import AlphaBeta, Simulation, Simulator
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import as_topology
from forestcoll.what_if.replanning import Replanned
from forestcoll.what_if.single_changes import Outcome, Outcomes
from forestcoll.what_if.tightest_cuts import TightCut, TightCuts

__all__ = ["Drawable", "draw"]

_SIZE = "64MB"
"""Size at which schedules in steps and flows are simulated, if none is given."""

_BINS = 200


@runtime_checkable
class Drawable(Protocol):
    """An object that draws itself."""

    def figure(self, *args: Any, **options: Any) -> Figure:
        """Return its figure."""


def draw(shown: object, /, *args: Any, **options: Any) -> Figure:
    """Draw any object: a network, an optimum, a cut, a schedule, a list of outcomes, and so on.

    Parameters
    ----------
    shown : any
        A network (also its specification, file or networkx graph) is drawn as it is; an optimum,
        fixed k, bound or cut on its network; a schedule of trees as one of its trees; one in steps
        or flows as the use of links in a simulation; outcomes, depths, choices of k and data frames
        as charts.
    *args, **options
        Of the function that draws it: the cut of a network; ``number`` of a tree, or of a cut in a
        list; ``size`` of a schedule in steps or flows; the schedule of a simulation with its
        timeline or use of links.

    Returns
    -------
    matplotlib Figure
        Notebooks show it; :func:`forestcoll.draw.save_figure` writes it.

    Raises
    ------
    UnsupportedError
        If there is no drawing of such an object.
    InvalidParameterError
        If its drawing has no such arguments.
    ForestCollError
        As the function that draws it.

    Examples
    --------
    >>> import forestcoll
    >>> forestcoll.draw(forestcoll.optimum("ring:nodes=4")).get_size_inches()[0].item()
    6.0
    """
    try:
        signature(_drawn.dispatch(type(shown))).bind(shown, *args, **options)
    except TypeError as error:
        if isinstance(shown, Simulation) and not args:
            raise InvalidParameterError(
                "a simulation is drawn with what was simulated: draw(simulation, schedule), or "
                "draw(simulation, network) for its use of links"
            ) from error
        raise InvalidParameterError(
            f"the drawing of {type(shown).__name__}: {error}; to write a file, call "
            f"forestcoll.draw.save_figure(figure, path)"
        ) from error
    return _drawn(shown, *args, **options)


@singledispatch
def _drawn(shown: object, *args: Any, **options: Any) -> Figure:
    if isinstance(shown, Drawable):
        return shown.figure(*args, **options)
    if type(shown).__name__ == "DataFrame":  # pandas is no dependency of this package
        return draw_frame(shown, *args, **options)  # type: ignore[arg-type]
    raise UnsupportedError(
        f"there is no drawing of {type(shown).__name__}; draw a network, an optimum, a cut, a "
        f"schedule, a data frame, or a result that lists outcomes, cuts, depths or choices of k"
    )


@_drawn.register
def _(shown: Topology | str | os.PathLike | nx.Graph, cut: Cut | None = None) -> Figure:  # type: ignore[type-arg]
    if cut is not None and not isinstance(cut, Cut):
        raise InvalidParameterError(
            f"the cut of a network is {cut!r}; it must be a Cut, such as the bottleneck of an "
            f"optimum"
        )
    return draw_topology(shown, cut)


@_drawn.register
def _(shown: Optimum) -> Figure:
    return draw_topology(shown.topology, shown.bottleneck)


@_drawn.register
def _(shown: FixedK) -> Figure:
    return draw_topology(shown.optimum.topology, shown.witness)


@_drawn.register
def _(shown: Cut) -> Figure:
    return draw_topology(shown.topology, shown)


@_drawn.register
def _(shown: TightCut) -> Figure:
    return draw_topology(shown.cut.topology, shown.cut)


@_drawn.register
def _(shown: TightCuts, number: int = 0) -> Figure:
    return draw(shown[number])


@_drawn.register
def _(shown: AllreduceBound) -> Figure:
    return draw_coloured(shown.topology, Colouring(caption=shown.in_a_line()))


@_drawn.register
def _(shown: TimeBound) -> Figure:
    return draw_time_bound(shown)


@_drawn.register
def _(shown: Generated | Replanned | TimedSchedule, *args: Any, **options: Any) -> Figure:
    return draw(shown.schedule, *args, **options)


@_drawn.register
def _(shown: Forest | MulticastForest, number: int = 0) -> Figure:
    return draw_tree(shown, number)


@_drawn.register
def _(shown: FactoredForest, number: int = 0) -> Figure:
    return draw(expand(shown), number)


@_drawn.register
def _(shown: Allreduce, number: int = 0) -> Figure:  # type: ignore[type-arg]
    return draw(shown.gather, number)


@_drawn.register
def _(shown: StepSchedule | FlowSchedule, size: int | str = _SIZE) -> Figure:
    return draw(compile_program(shown), size)


@_drawn.register
def _(shown: Program, size: int | str = _SIZE) -> Figure:
    run = Simulator(shown).run(read_size(size), AlphaBeta(), bins=_BINS)
    return draw_usage(run, shown.topology)


@_drawn.register
def _(shown: Simulation, of: Any) -> Figure:
    """With a timeline a Gantt chart, else the use of links; ``of`` is what was simulated."""
    if isinstance(of, Topology | str) and shown.timeline is None:
        return draw_usage(shown, as_topology(of))
    program = of if isinstance(of, Program) else compile_program(schedule_in(of))
    if shown.timeline is None:
        return draw_usage(shown, program.topology)
    return draw_timeline(shown, program)


@_drawn.register
def _(shown: Outcome) -> Figure:
    """The network afterwards, with its bottleneck if the collective can run."""
    best = shown.optimum
    return draw_topology(shown.changed) if best is None else draw(best)


@_drawn.register
def _(shown: Outcomes) -> Figure:
    failing = [one for one in shown if not one.factor]
    return draw_outcomes(failing, [one for one in shown if one.factor])


@_drawn.register
def _(shown: DepthPoints) -> Figure:
    return draw_depths(shown)


@_drawn.register
def _(shown: BestK) -> Figure:
    return draw_choices(shown)
