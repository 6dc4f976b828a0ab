"""One module a solver: a minimisation in, an answer out; :mod:`lp.solver.solve` judges it.

``answer`` (what all of them say), ``highs``, ``or_tools``, ``gurobi`` (where it is installed);
``standard_output`` (what a solver prints unasked).
"""

from lp.solver.backends.answer import Answer, Outcome

__all__ = ["Answer", "Outcome"]
