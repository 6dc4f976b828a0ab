"""One module a solver: a minimisation in, an answer out; :mod:`lp.solver.solve` judges it."""

from lp.solver.backends.answer import Answer, Outcome

__all__ = ["Answer", "Outcome"]
