"""Drawings: a topology with its cut, a tree, stages of the core, costs of failures, simulations.

To read: ``topology``, ``time_cut``, ``tree``, ``core_stages``, ``outcomes``, ``usage``,
``execution_times`` and ``gantt_chart`` (the drawings). ``damage`` and ``folding`` select what is
drawn, ``matrix`` draws dense networks. ``layout`` and its parts ``blocks``, ``lattices`` and
``springs`` place nodes, ``routes`` leads links, ``branches`` places a tree. ``places`` has their
results, and ``canvas`` draws on matplotlib.
"""

from forestcoll.draw.canvas import check_format, save_figure, svg_text
from forestcoll.draw.core_stages import draw_stage
from forestcoll.draw.execution_times import draw_execution_times
from forestcoll.draw.gantt_chart import draw_timeline
from forestcoll.draw.outcomes import draw_outcomes
from forestcoll.draw.time_cut import draw_time_bound
from forestcoll.draw.topology import draw_topology
from forestcoll.draw.tree import draw_tree
from forestcoll.draw.usage import draw_usage

__all__ = [
    "check_format", "draw_execution_times", "draw_outcomes", "draw_stage", "draw_time_bound",
    "draw_timeline", "draw_topology", "draw_tree", "draw_usage", "save_figure", "svg_text",
]  # fmt: skip
