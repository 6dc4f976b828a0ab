"""Experiment files: reading, checking, and the points that they define.

Read ``points`` (one run), ``methods`` (names of methods), ``own_functions`` (functions of a user),
``kinds`` (kinds of figures), ``figure_options`` (figure requests), ``variations`` (changed
networks), ``entries`` (contents of a file), ``schema`` (the same for editors), ``document`` (files
as plain data, titles), ``faults`` (error messages), ``sweeps`` (points of a file), ``experiment``
(reading and checks). Modules import ``measures``; the package imports nothing, so that a watchdog,
which needs only ``points``, starts fast.
"""
