"""Execution of points into rows.

Read ``plan`` (points to run), ``preview`` (dry run), ``runner`` (runs a plan), ``executors`` (local
or cluster), ``supervisor`` (a point and its processes), ``watchdog`` (enforces limits), ``worker``
(load, generate, verify, measure), ``processes`` (Linux process information), ``progress`` (live
display), ``provenance`` (versions, host, commit). Imports ``results``, ``config`` and ``measures``;
only the command line imports it.
"""
