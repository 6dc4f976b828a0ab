"""The simulator's settings from measured times, and printed leads under many settings.

To read: ``measurements`` (a CSV file, curves), ``settings`` (what a simulation of a curve assumes),
``curves`` (the simulators), ``fitting`` (the settings of least error), ``fit_report`` and
``fit_figure`` (residuals), ``slides`` (published measurements), ``leads`` (printed leads of one
method over others), ``mirrored`` (reductions beside allgathers), ``simulation_page`` (tables of
docs/simulation.md).
"""
