"""Execution of points into rows.

Read ``plan`` (points to run, dry runs), ``runner`` (runs a plan, with logs of failures),
``executors`` (on this machine), ``cluster`` (on Dask), ``supervisor`` (a point and its processes),
``watchdog`` (starts the worker), ``watch`` (enforces limits), ``worker`` (load, generate, verify,
measure), ``processes`` (search, memory, end), ``parentage`` (orphans, exit codes), ``progress``
(live display), ``provenance`` (versions, host, commit). Imports ``results``, ``config`` and
``measures``; only the command line imports it.
"""
