"""Comparisons of methods: one YAML file is one figure or table, one process is one point.

A file is read by :mod:`experiments.config`, its points are chosen by :mod:`experiments.plan` and
run by :mod:`experiments.runner`: each in a process of its own (:mod:`experiments.worker`) within
limits (:mod:`experiments.keeper`), here or on a cluster (:mod:`experiments.executors`). Their rows
are kept by :mod:`experiments.rows` and drawn by :mod:`experiments.figures`.

Nothing is imported here: the keeper of a point starts from this package, in milliseconds.
"""
