"""Pictures: a topology with its bottleneck cut, one tree of a forest, what failures cost.

To read: ``topology``, ``tree`` and ``outcomes``; ``damage`` and ``folding`` (what is shown),
``layout`` and its parts ``blocks``, ``packages``, ``lattices`` and ``springs`` (where nodes go),
``routes`` (where links go), ``branches`` (of a tree), ``places`` (what these find) and ``canvas``
(how it looks).
"""

from forestcoll.draw.canvas import check_format, save_figure, svg_text
from forestcoll.draw.outcomes import draw_outcomes
from forestcoll.draw.topology import draw_topology
from forestcoll.draw.tree import draw_tree

__all__ = ["check_format", "draw_outcomes", "draw_topology", "draw_tree", "save_figure", "svg_text"]
