"""State of a search, as rows of experiments record it: incumbent, bound and gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Report", "Search"]


@dataclass(frozen=True, slots=True)
class Search:
    """The state of one stage of a search: its best answer and its bound.

    Parameters
    ----------
    stage : str
        The quantity that the stage searches for.
    status : str
        "optimal" if the answer is proved best, "feasible" if a better answer may exist, "open" if
        there is no answer yet.
    incumbent, bound : float, optional
        The value of the best answer, and the proved bound on all answers; None if not known.
    unit : str
        Unit of both.
    solver : str
        The solver that found them.
    """

    stage: str
    status: str
    incumbent: float | None = None
    bound: float | None = None
    unit: str = ""
    solver: str = ""

    @property
    def gap(self) -> float | None:
        """Relative distance of the bound from the best answer; None if not known.

        Examples
        --------
        >>> Search("epochs", "feasible", incumbent=5, bound=4).gap
        0.2
        """
        if self.incumbent is None or self.bound is None:
            return None
        if self.incumbent == self.bound:
            return 0.0
        return abs(self.incumbent - self.bound) / abs(self.incumbent) if self.incumbent else None

    def as_facts(self) -> dict[str, Any]:
        """Return the state under the column names of results."""
        known = {"status": self.status, "incumbent": self.incumbent, "bound": self.bound}
        return {**known, "gap": self.gap, "unit": self.unit, "solver": self.solver}

    def __str__(self) -> str:
        """Format the state as one line.

        Examples
        --------
        >>> print(Search("epochs", "feasible", 5, 4, "epochs", "cp-sat"))
        feasible, incumbent 5 epochs, bound 4 epochs, gap 0.2, by cp-sat
        """
        values = (("incumbent", self.incumbent), ("bound", self.bound))
        numbers = [
            f"{name} {value:g} {self.unit}".rstrip() for name, value in values if value is not None
        ]
        gap = [] if self.gap is None else [f"gap {self.gap:.3g}"]
        return ", ".join(
            [self.status, *numbers, *gap, *([f"by {self.solver}"] if self.solver else [])]
        )


Report = Callable[[Search], None]
"""Called with the state of a search when it improves; a stage's state replaces its last one."""
