"""State of a search, as rows of experiments record it: incumbent, bound and gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Report", "Search"]


@dataclass(frozen=True, slots=True)
class Search:
    """The state of one stage of a search: what it has found, and what it has proved.

    Parameters
    ----------
    stage : str
        What was looked for.
    status : str
        "optimal" if no better answer is left, "feasible" if there is an answer that may not be the
        best, "open" if there is none yet.
    incumbent, bound : float, optional
        The value of the best answer, and that beyond which none lies; None if not known.
    unit : str
        Of both.
    solver : str
        By which they were found.
    """

    stage: str
    status: str
    incumbent: float | None = None
    bound: float | None = None
    unit: str = ""
    solver: str = ""

    @property
    def gap(self) -> float | None:
        """How far the bound is from the best answer, as a share of it; None if not known.

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
        """Return what it knows under the names that results have for it."""
        known = {"status": self.status, "incumbent": self.incumbent, "bound": self.bound}
        return {**known, "gap": self.gap, "unit": self.unit, "solver": self.solver}

    def __str__(self) -> str:
        """Say what it knows in a line.

        Examples
        --------
        >>> print(Search("epochs", "feasible", 5, 4, "epochs", "cp-sat"))
        feasible, incumbent 5 epochs, bound 4 epochs, gap 0.2, by cp-sat
        """
        values = (("incumbent", self.incumbent), ("bound", self.bound))
        said = [
            f"{name} {value:g} {self.unit}".rstrip() for name, value in values if value is not None
        ]
        gap = [] if self.gap is None else [f"gap {self.gap:.3g}"]
        return ", ".join(
            [self.status, *said, *gap, *([f"by {self.solver}"] if self.solver else [])]
        )


Report = Callable[[Search], None]
"""Told the state of a search whenever it is worth keeping; that of a stage replaces its last."""
