"""Common interface of the baselines.

Read ``method`` (a method and how it runs), ``supported`` (its collectives), ``parameters`` (checks
of its parameters) and ``search`` (the state of a search that it reports).
"""
