"""One interface to every solver, whose answers are believed only when they are proved.

To read: ``linear_program`` (programs as matrices, settings, solutions), ``solve`` (run one, judge
the answer), ``scaling``, ``backends/`` (one module a solver), ``modelling`` (in cvxpy).
"""
