"""Figures: described once, from rows alone, and drawn by matplotlib or plotly.js.

Read ``figure`` (a description), ``plot`` (rows to files), ``lines``, ``scatters``, ``maps``,
``bars``, ``breakdowns``, ``bound_lines``, ``graphs``, ``percentages``, ``training_shares`` (rows to
a figure; ``config.kinds`` lists the kinds), ``panels`` (common parts), ``styles`` (of methods),
``failures`` (points without a result), ``emphasis`` (short legends) and ``hover`` (texts under the
mouse). Renderers: ``matplotlib_renderer`` with ``matplotlib_annotations``, ``plotly_renderer``.
Imports ``published``, ``results``, ``config`` and ``measures``.
"""
