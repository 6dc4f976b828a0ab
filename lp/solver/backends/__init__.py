"""One module a solver: a minimisation in, an answer out; :mod:`lp.solver.solve` judges it.

``answer`` (what all of them say), ``highs``, ``or_tools``, ``gurobi`` (where it is installed).
"""

from lp.solver.backends.answer import Answer, Outcome

__all__ = ["Answer", "Outcome"]
