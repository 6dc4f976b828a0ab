"""Execution of points into rows.

Read ``plan`` (points to run, dry runs), ``runner`` (runs a plan, with logs of failures),
``executors`` (on this machine), ``cluster`` (on Dask), ``supervisor`` (a point and its processes),
``watchdog`` (enforces limits), ``worker`` (load, generate, verify, measure), ``processes`` (Linux
process information), ``progress`` (live display), ``provenance`` (versions, host, commit). Imports
``results``, ``config`` and ``measures``; only the command line imports it.
"""
