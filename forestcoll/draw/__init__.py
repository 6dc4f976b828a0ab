"""Pictures: a topology with its bottleneck cut, one tree of a forest, what failures cost.

To read: ``topology``, ``tree`` and ``outcomes``; ``layout`` and ``springs`` (where nodes go) and
``canvas`` (how they look).
"""

from forestcoll.draw.canvas import check_format, save_figure
from forestcoll.draw.outcomes import draw_outcomes
from forestcoll.draw.topology import draw_topology
from forestcoll.draw.tree import draw_tree

__all__ = ["check_format", "draw_outcomes", "draw_topology", "draw_tree", "save_figure"]
