"""Solver backends: each takes a minimisation; :mod:`forestcoll.solver.solve` checks its answer.

``answer`` (the common answer type), ``highs``, ``or_tools``, ``gurobi`` (if installed).
"""

from forestcoll.solver.backends.answer import Answer, Outcome

__all__ = ["Answer", "Outcome"]
