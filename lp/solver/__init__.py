"""One interface to every solver, whose answers are believed only when they are proved.

To read: ``program`` (a program as matrices, settings, solutions), ``solve`` (run one, judge the
answer), ``scaling``, ``backends/`` (one module a solver), ``modelling`` (programs stated in cvxpy).
"""
