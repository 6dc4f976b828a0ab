"""Execution of points into rows.

Read ``plan`` (what there is to do), ``preview`` (what it would be), ``runner`` (does it),
``executors`` (where), ``supervisor`` (a point and its processes), ``watchdog`` (keeps a worker
within its limits), ``worker`` (load, generate, verify, measure), ``processes`` (what Linux knows of
them), ``progress`` (the live display), ``provenance`` (what a row was measured with).
Imports ``results``, ``config`` and ``measures``; nothing imports it but the command line.
"""
