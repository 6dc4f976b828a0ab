"""Experiment files: reading, checking, and the points that they define.

Read ``points`` (what one run is), ``methods`` (what can be named), ``own_functions`` (of a user),
``kinds`` (of figures), ``figure_options`` (asking for one), ``variations`` (of networks),
``entries`` (what may stand in a file), ``schema`` (the same for editors), ``document`` (a file as
plain data), ``faults`` (what is wrong with one, in words), ``sweeps`` (its points), ``experiment``
(reading and checking one), ``titles`` (of ours). Imports ``measures``; here nothing is imported, so
that a watchdog, which needs ``points`` alone, starts fast.
"""
