"""Figures: described once, from rows alone, and drawn by matplotlib or plotly.js.

Read ``figure`` (description of a figure), ``plot`` (from rows to files), ``lines``, ``scatters``,
``maps``, ``bars``, ``breakdowns``, ``bound_lines``, ``training_shares`` (from rows to a figure;
``config.kinds`` lists the kinds), ``panels`` (common parts), ``styles`` (of methods), ``failures``
(points without a result) and ``hover`` (texts under the mouse). The renderers are
``matplotlib_renderer`` with ``matplotlib_annotations``, and ``plotly_renderer``. Imports
``published``, ``results``, ``config`` and ``measures``.
"""
