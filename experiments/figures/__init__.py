"""Figures: described once, from rows alone, and drawn by matplotlib or plotly.js.

Read ``figure`` (what a figure is), ``plot`` (from rows to files), ``lines``, ``scatters``,
``maps``, ``bars``, ``breakdowns``, ``bound_lines`` (from rows to a figure; which kinds there are,
``config.kinds`` says), ``panels`` (what these share), ``styles`` (of methods), ``failures`` (points
without a result) and ``hover`` (texts under the mouse). They are drawn by
``matplotlib_renderer`` with ``matplotlib_annotations``, and by ``plotly_renderer``. Imports
``published``, ``results``, ``config`` and ``measures``.
"""
