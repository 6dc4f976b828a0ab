"""Execution of points into rows.

Read ``plan`` (points to run), ``preview`` (dry run), ``runner`` (runs a plan), ``executors`` (local
or cluster), ``supervisor`` (a point and its processes), ``watchdog`` (starts the worker), ``watch``
(enforces limits), ``worker`` (load, generate, verify, measure), ``processes`` (search, memory,
end), ``parentage`` (orphans, exit codes), ``progress`` (live display), ``provenance`` (versions,
host, commit). Imports ``results``, ``config`` and ``measures``; only the command line does so.
"""
