"""Solver backends: each takes a minimisation; :mod:`lp.solver.solve` checks its answer.

``answer`` (the common answer type), ``highs``, ``or_tools``, ``gurobi`` (if installed).
"""

from lp.solver.backends.answer import Answer, Outcome

__all__ = ["Answer", "Outcome"]
