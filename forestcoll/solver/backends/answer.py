"""Answer of a solver, in a form common to all backends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from forestcoll.solver.linear_program import Basis, Vector

__all__ = ["Answer", "Outcome"]


class Outcome(Enum):
    """Outcome of a solve."""

    OPTIMAL = auto()
    INFEASIBLE = auto()
    UNBOUNDED = auto()
    LIMIT = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class Answer:
    """An outcome, with numbers only if the solver reports them as valid.

    Parameters
    ----------
    outcome : Outcome
    status : str
        The solver's own status.
    x : float array, optional
        A point that is feasible according to the solver.
    row_duals : float array, optional
        Of the minimisation: the change of its value per change of a row's bound. At a limit, the
        solver's last values: any multipliers prove a bound, if a weak one.
    bound : float, optional
        Lower bound on the minimum for programs with integer variables, where no duals prove one.
    basis : Basis, optional
        Of the optimum.
    """

    outcome: Outcome
    status: str
    x: Vector | None = None
    row_duals: Vector | None = None
    bound: float | None = None
    basis: Basis | None = None
