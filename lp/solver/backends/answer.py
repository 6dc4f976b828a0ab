"""What a solver says, in words that all of them share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from lp.solver.linear_program import Vector

__all__ = ["Answer", "Outcome"]


class Outcome(Enum):
    """How a solver stopped."""

    OPTIMAL = auto()
    INFEASIBLE = auto()
    UNBOUNDED = auto()
    LIMIT = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class Answer:
    """An outcome, and numbers only where the solver vouches for them.

    Parameters
    ----------
    outcome : Outcome
    said : str
        The solver's own status.
    x : float array, optional
        A point that the solver says is feasible.
    row_duals : float array, optional
        Of the minimisation: by how much its value changes with a row's bound. At a limit whatever
        the solver has; any multipliers prove a bound, if a poor one.
    bound : float, optional
        On the minimum, where the solver has one that is not from the duals: with whole variables.
    """

    outcome: Outcome
    said: str
    x: Vector | None = None
    row_duals: Vector | None = None
    bound: float | None = None
