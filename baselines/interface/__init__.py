"""Common interface of the baselines.

Read ``method`` (a method and how it runs), ``supported`` (its collectives), ``parameters`` (checks
of its parameters), ``own_function`` (a reader's method), ``schedule_asked_for`` (checks of what it
returns), ``search`` (the state of a search that it reports) and ``forwarding_gpus`` (GPUs outside a
demand that a schedule uses).
"""
