"""Pictures: a topology with its bottleneck cut, a tree, what failures cost, how links are used.

To read: ``topology``, ``tree``, ``outcomes`` and ``usage``; ``damage`` and ``folding`` (what is
shown), ``layout`` and its parts ``blocks``, ``packages``, ``lattices`` and ``springs`` (where nodes
go), ``routes`` (where links go), ``branches`` (of a tree), ``places`` (what these find) and
``canvas`` (how it looks).
"""

from forestcoll.draw.canvas import check_format, save_figure, svg_text
from forestcoll.draw.outcomes import draw_outcomes
from forestcoll.draw.topology import draw_topology
from forestcoll.draw.tree import draw_tree
from forestcoll.draw.usage import draw_usage

__all__ = [
    "check_format",
    "draw_outcomes",
    "draw_topology",
    "draw_tree",
    "draw_usage",
    "save_figure",
    "svg_text",
]
