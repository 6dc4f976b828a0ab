"""Drawings: a topology with its cut, a tree, stages of the core, charts, simulations.

The package can be called: ``forestcoll.draw(x)`` draws any object (``anything``). To read:
``topology``, ``time_cut``, ``tree``, ``core_stages``, ``charts/``, ``usage``, ``execution_times``
and ``gantt_chart`` (the drawings). ``damage`` and ``folding`` select what is drawn, ``matrix``
draws dense networks, ``layouts/`` places nodes, ``routes`` leads links, ``branches`` places a tree,
and ``canvas`` draws on matplotlib.
"""

import sys
from types import ModuleType
from typing import Any

from matplotlib.figure import Figure

from forestcoll.draw.canvas import check_format, save_figure, svg_text
from forestcoll.draw.charts.outcomes import draw_outcomes
from forestcoll.draw.core_stages import draw_stage
from forestcoll.draw.execution_times import draw_execution_times
from forestcoll.draw.gantt_chart import draw_timeline
from forestcoll.draw.time_cut import draw_time_bound
from forestcoll.draw.topology import draw_topology
from forestcoll.draw.tree import draw_tree
from forestcoll.draw.usage import draw_usage

__all__ = [
    "check_format", "draw_execution_times", "draw_outcomes", "draw_stage", "draw_time_bound",
    "draw_timeline", "draw_topology", "draw_tree", "draw_usage", "save_figure", "svg_text",
]  # fmt: skip


class _Callable(ModuleType):
    """The class of this package: ``import forestcoll.draw`` gives the package, as everywhere."""

    def __call__(self, shown: object, /, *args: Any, **options: Any) -> Figure:
        """Draw any object; see :func:`forestcoll.draw.anything.draw`."""
        from forestcoll.draw.anything import draw  # loads the types of all results

        return draw(shown, *args, **options)


sys.modules[__name__].__class__ = _Callable
