"""One module a solver: a minimisation in, an answer out; :mod:`lp.solver` judges it."""

from lp.backends.answer import Answer, Outcome

__all__ = ["Answer", "Outcome"]
