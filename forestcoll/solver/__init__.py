"""One interface to all LP solvers; every answer is checked against its dual bound.

To read: ``linear_program`` (programs as matrices, settings, solutions), ``matrix_blocks`` (their
matrices, dense or sparse), ``solve`` (run one, judge the answer), ``scaling``, ``backends/`` (one
module a solver).
"""
