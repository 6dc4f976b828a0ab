"""Baselines from the literature, reimplemented on the types of ForestColl.

>>> import baselines
>>> baselines.compare("ring:nodes=4", ["ring", "forestcoll"])
<2 methods: 2.66667 GB/s>

The names are listed in ``__init__.pyi`` and loaded when they are first asked for. ``registry`` has
the methods, ``method_comparison`` compares them: ``compared_method`` is a row, and
``comparison_chart`` a figure of it.
"""

from __future__ import annotations

from forestcoll.lazy_loading import attach

__getattr__, __dir__ = attach(__name__)
