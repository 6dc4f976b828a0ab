"""Comparisons of methods: one YAML file is one figure or table, one process is one point.

Read ``measures`` (columns of a row), ``config`` (experiment files and their points), ``results``
(rows: stored, shown, compared), ``run`` (executes points, each in a process of its own within
limits), ``figures`` and ``report`` (figures of rows). Each imports only those before it; ``run``
and ``figures`` do not import each other. ``cli`` and ``results_cli`` are the commands.
``fit_alpha``, ``speedups`` and ``reproduction`` compare rows with ``published`` values, and
``simulation_fit`` the simulator with measured times.
``advice`` answers questions about one network without a YAML file, ``machines`` about all machines.
Imports nothing, so that a watchdog starts fast.
"""
