"""Comparisons of methods: one YAML file is one figure or table, one process is one point.

Read ``measures`` (what is measured of a point), ``config`` (a file is read, its points listed),
``results`` (rows: kept, shown, compared), ``run`` (points become rows, each in a process of its own
within limits), ``plots`` and ``report`` (figures of rows). Each imports only those before it, and
``run`` and ``plots`` not each other; ``cli`` and ``results_cli`` are the commands. ``fit_alpha``,
``speedups`` and ``reproduction`` hold rows against ``published`` values. ``expected`` (what a
number should be, within a ``time_limit``) and ``tuning`` (the best at each size) need no YAML file.
Nothing is imported here: the watchdog of a point starts from this package, in milliseconds.
"""
