"""Pictures: a topology with its bottleneck cut, and one tree of a forest.

To read: ``topology`` and ``tree``; ``damage`` and ``folding`` (what is shown), ``layout`` and its
parts ``blocks``, ``packages``, ``lattices`` and ``springs`` (where nodes go), ``routes`` (where
links go), ``branches`` (of a tree), ``places`` (what these find) and ``canvas`` (how it looks).
"""

from forestcoll.draw.canvas import check_format, save_figure
from forestcoll.draw.topology import draw_topology
from forestcoll.draw.tree import draw_tree

__all__ = ["check_format", "draw_topology", "draw_tree", "save_figure"]
